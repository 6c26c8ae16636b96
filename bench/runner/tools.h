/* Where the program's own things are: executables beside it, models and plot scripts in its
 * home. */
#pragma once

#include "bench/runner/files.h"

struct tools {
    char folder[PATH_BYTES]; /* of scalebench itself, pin and the workloads */
    /* Holds configs/ and plots/: $SCALEBENCH_HOME, else the folder above `folder` where that has
     * plots/, else the current folder (a build folder outside the sources). */
    char home[PATH_BYTES];
    char plots[PATH_BYTES]; /* in its home */
};

/* Fills `tools` and tells the readers of models and their children by setting SCALEBENCH_HOME. */
enum status tools_find(struct tools *tools, struct error *e);

/* "1a2b3c4 clean" of the home's git checkout, or as a bundle says; else "unknown revision". Git is asked
 * once in a process, when this is first wanted: its answer takes longer than most commands. */
const char *tools_revision(const struct tools *tools);

/* Path of the executable `name` beside scalebench; ERR_UNAVAILABLE when it is not there. */
enum status tools_program(const struct tools *tools, const char *name, char path[PATH_BYTES],
                          struct error *e);

/* The file whose contents are those of the executable at `path`: in a bundle that of a program of ours stands
 * beside it (bench/base/executable.h); elsewhere, and of what is not ours, it is `path` itself. */
enum status tools_contents(const struct tools *tools, const char *path, char file[PATH_BYTES],
                           struct error *e);
