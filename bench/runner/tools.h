/* Finds scalebench's own files: programs in the folder of scalebench, networks and plot scripts in
 * its home. */
#pragma once

#include "bench/runner/files.h"

struct tools {
    char folder[PATH_BYTES]; /* folder of the executables: scalebench, pin and the workloads */
    /* Folder that contains configs/ and plots/: $SCALEBENCH_HOME if set, else the parent of
     * `folder` if the parent contains plots/, else the current folder. */
    char home[PATH_BYTES];
    char plots[PATH_BYTES]; /* folder of the plot scripts: <home>/plots */
};

/* Finds the folders of struct tools. Sets the environment variable SCALEBENCH_HOME for child
 * processes and for code that finds networks. */
enum status tools_find(struct tools *tools, struct error *e);

/* Returns the revision of the sources: "1a2b3c4 clean", "1a2b3c4 dirty" or "unknown revision". Runs
 * git only at the first call. */
const char *tools_revision(const struct tools *tools);

/* Finds the executable `name` in the folder of scalebench. ERR_UNAVAILABLE: not found or not
 * executable. */
enum status tools_program(const struct tools *tools, const char *name, char path[PATH_BYTES],
                          struct error *e);

/* Finds the file with the code of the executable at `path`. If `path` is a starter in a bundle
 * (bench/base/executable.h), `file` is the program that the starter runs; otherwise `file` is
 * `path`. */
enum status tools_contents(const struct tools *tools, const char *path, char file[PATH_BYTES],
                           struct error *e);
