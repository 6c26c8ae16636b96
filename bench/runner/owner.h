/* Who runs a campaign: <run>/runner, one line that names process, host and start, and changes every
 * few seconds while launches run. The lock on the journal keeps runners apart wherever a file
 * system holds locks between its hosts; this file names the one that has it, and keeps runners of
 * several hosts apart where it does not. */
#pragma once

#include <time.h>

#include "bench/runner/files.h"

struct owner {
    char path[PATH_BYTES]; /* "": not taken */
    char name[400];        /* "process 71 of job 5 on n1 since 2026-11-22T08:00:00Z" */
    unsigned signs;
    long next_s;       /* when the next sign of life is due, CLOCK_MONOTONIC */
    time_t left_since; /* when a runner began that has not ended in order; 0: there was none */
};

/* Takes the run, for one who holds the lock on its journal. The file of a runner of this host is
 * left over, or it would hold the lock. That of another host is watched for some seconds:
 * ERR_UNAVAILABLE when it changes, or when somebody else takes the run meanwhile. */
enum status owner_take(struct owner *o, const char *run_dir, struct error *e);
/* Gives a sign of life where one is due. */
void owner_sign(struct owner *o);
void owner_leave(struct owner *o);

/* ERR_UNAVAILABLE: the run of `path` is taken by whom `line` of its file names. The message says how to run behind it. */
enum status owner_refuse(const char *path, const char *line, struct error *e);

/* What the file says; "an unknown process" where there is none. */
void owner_read(const char *run_dir, char line[512]);

/* Whether the runner that the line names is there, for all that can be told without a lock: on this
 * host its process is; on another its last sign of life is some seconds old. */
bool owner_lives(const char *run_dir, const char *line);
