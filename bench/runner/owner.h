/* The file <run>/runner is one line with process, host and start time of the run's runner. The
 * runner updates the line every few seconds during launches. The file prevents a second runner on
 * file systems without locks between hosts. */
#pragma once

#include <time.h>

#include "bench/runner/files.h"

struct owner {
    char path[PATH_BYTES]; /* path of the owner file; "": this process does not own the run */
    char name[400];        /* name of this runner: "process 71 of job 5 on n1 since
                              2026-11-22T08:00:00Z" */
    unsigned signs;
    long next_s;       /* time of the next update of the owner file (s, CLOCK_MONOTONIC) */
    time_t left_since; /* start time of the run's previous runner if it was killed; else 0 */
};

/* Registers this process as the run's runner. Call it with the journal locked: an earlier runner of
 * this host is then dead and is replaced. Replaces a runner of another host only if
 * <run_dir>/runner does not change for some seconds. ERR_UNAVAILABLE if the file changes, or if
 * another runner registers meanwhile. */
enum status owner_take(struct owner *o, const char *run_dir, struct error *e);
/* Updates this runner's line in the owner file if o->next_s has passed. Does nothing if this
 * process does not own the run. */
void owner_sign(struct owner *o);
void owner_leave(struct owner *o);

/* Returns ERR_UNAVAILABLE with a message that names the other runner and explains how to continue.
 * `line`: line of the owner file. `path`: file or folder, for the message. */
enum status owner_refuse(const char *path, const char *line, struct error *e);

/* Reads the line of the file <run_dir>/runner; "an unknown process" if there is no such file. */
void owner_read(const char *run_dir, char line[512]);

/* Returns whether the runner that `line` names seems to be alive, without trying the journal's
 * lock. A runner on this host counts as alive if its process exists. A runner on another host
 * counts as alive if <run_dir>/runner changed in the last few seconds. */
bool owner_lives(const char *run_dir, const char *line);
