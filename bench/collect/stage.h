/* Writes files of a run whole or not at all. They are written to a folder inside the run's folder,
 * then renamed into place. Readers never see half a file, and several programs may write the same
 * run. Internal to bench/collect. */
#pragma once

#include <stdio.h>

#include "kernels/base/error.h"

struct stage {
    const char *run_dir; /* folder of the run, borrowed */
    char dir[4200];      /* folder to write to */
    int held;            /* locked descriptor of `dir`, which shows other programs that it is in
                            use; -1: none */
};

/* Creates the stage; removes stages of killed programs. Call stage_close in any case. */
enum status stage_open(struct stage *stage, const char *run_dir, struct error *e);
/* Moves the file `name` from the stage into the run's folder, replacing an older one. */
enum status stage_keep(const struct stage *stage, const char *name, struct error *e);
/* Writes the content of the file `name`. */
typedef enum status stage_writer(FILE *out, void *what, struct error *e);
/* Writes the file `name` of the stage by `write`. Errors: ERR_SYSTEM with the path. */
enum status stage_write(const struct stage *stage, const char *name, stage_writer *write,
                        void *what, struct error *e);
/* Removes the stage and its remaining files. */
void stage_close(struct stage *stage);
