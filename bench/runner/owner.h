/* Owner of a run: <run>/runner, one line with process, host and start, which changes every few
 * seconds while launches run. Only one runner holds the lock on the journal, if the file system
 * supports locks between hosts. This file names that runner. If the file system has no such
 * locks, the file alone keeps runners of several hosts apart. */
#pragma once

#include <time.h>

#include "bench/runner/files.h"

struct owner {
    char path[PATH_BYTES]; /* "": not taken */
    char name[400];        /* "process 71 of job 5 on n1 since 2026-11-22T08:00:00Z" */
    unsigned signs;
    long next_s;       /* time of the next sign of life, CLOCK_MONOTONIC */
    time_t left_since; /* start of an earlier runner that was killed; 0: none */
};

/* Takes the run for a caller that holds the lock on its journal. A file of this host is left
 * over from a killed runner, since a living one would hold the lock. A file of another host is
 * watched for some seconds: ERR_UNAVAILABLE if it changes, or if another runner takes the run
 * meanwhile. */
enum status owner_take(struct owner *o, const char *run_dir, struct error *e);
/* Updates the file if a sign of life is due. */
void owner_sign(struct owner *o);
void owner_leave(struct owner *o);

/* Returns ERR_UNAVAILABLE: `line` of the file at `path` names the runner that has taken the run.
 * The message says how to run behind it. */
enum status owner_refuse(const char *path, const char *line, struct error *e);

/* Reads the line of the file, "an unknown process" if there is none. */
void owner_read(const char *run_dir, char line[512]);

/* Returns whether the runner named by `line` seems alive, without trying the lock. On this host
 * its process must exist; on another host its last sign of life must be at most some seconds
 * old. */
bool owner_lives(const char *run_dir, const char *line);
