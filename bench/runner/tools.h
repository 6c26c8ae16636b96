/* Locations of scalebench's own files: executables beside it, models and plot scripts in its
 * home. */
#pragma once

#include "bench/runner/files.h"

struct tools {
    char folder[PATH_BYTES]; /* folder of scalebench, pin and the workloads */
    /* Folder of configs/ and plots/: $SCALEBENCH_HOME, else the parent of `folder` if it has
     * plots/, else the current folder (a build folder outside the sources). */
    char home[PATH_BYTES];
    char plots[PATH_BYTES]; /* folder of the plot scripts in home */
};

/* Fills `tools` and sets SCALEBENCH_HOME, which readers of models and child processes use. */
enum status tools_find(struct tools *tools, struct error *e);

/* Returns "1a2b3c4 clean" for the git checkout of the home, or the revision stored in a bundle,
 * else "unknown revision". Git is asked only at the first call, since that takes longer than
 * most commands. */
const char *tools_revision(const struct tools *tools);

/* Finds the executable `name` beside scalebench; ERR_UNAVAILABLE if it is not found. */
enum status tools_program(const struct tools *tools, const char *name, char path[PATH_BYTES],
                          struct error *e);

/* Finds the file that holds the contents of the executable at `path`. In a bundle, scalebench's
 * own programs are stored beside their starter (bench/base/executable.h); otherwise it is `path`
 * itself. */
enum status tools_contents(const struct tools *tools, const char *path, char file[PATH_BYTES],
                           struct error *e);
