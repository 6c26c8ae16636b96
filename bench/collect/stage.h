/* Files that a run gets, whole or not at all: they are written in a folder of their own inside the
 * run's and take their names by a rename, so that a reader never sees half of one and several
 * programs may write the same run at once. Internal to bench/collect. */
#pragma once

#include <stdio.h>

#include "kernels/base/error.h"

struct stage {
    const char *run_dir; /* borrowed */
    char dir[4200];      /* where to write */
    int held;            /* its descriptor, locked, by which others see that it is in use; or -1 */
};

/* Removes what killed programs left, too. Closed with stage_close in any case. */
enum status stage_open(struct stage *stage, const char *run_dir, struct error *e);
/* Gives the file `name` of the stage its place in the run, instead of what stood there. */
enum status stage_keep(const struct stage *stage, const char *name, struct error *e);
/* Writes the file `name` of the stage. ERR_SYSTEM names one that cannot be written. */
typedef enum status stage_writer(FILE *out, void *what, struct error *e);
enum status stage_write(const struct stage *stage, const char *name, stage_writer *write,
                        void *what, struct error *e);
/* Removes the stage with whatever was not kept. */
void stage_close(struct stage *stage);
