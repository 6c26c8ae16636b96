/* Replaces files of a run atomically: writes them to a temporary folder (the stage) inside the
 * run's folder, then renames them. Several programs may write the same run at the same time.
 * Internal to bench/collect. */
#pragma once

#include <stdio.h>

#include "kernels/base/error.h"

struct stage {
    const char *run_dir; /* folder of the run, borrowed */
    char dir[4200];      /* path of the temporary folder */
    int held;            /* locked descriptor of `dir`, so that other programs know that `dir` is in
                            use; -1: no lock */
};

/* Creates the temporary folder and removes temporary folders of killed programs. Call stage_close
 * in any case. */
enum status stage_open(struct stage *stage, const char *run_dir, struct error *e);
/* Moves the file `name` from the temporary folder into the run's folder, where it may replace an
 * older file. */
enum status stage_keep(const struct stage *stage, const char *name, struct error *e);
/* Function that writes the content of a file; `what` is the argument given to stage_write. */
typedef enum status stage_writer(FILE *out, void *what, struct error *e);
/* Creates the file `name` in the temporary folder and calls write(file, what, e). Errors:
 * ERR_SYSTEM with the path, or the error of `write`. */
enum status stage_write(const struct stage *stage, const char *name, stage_writer *write,
                        void *what, struct error *e);
/* Removes the temporary folder and the files that are still in it. */
void stage_close(struct stage *stage);
