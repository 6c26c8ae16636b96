/* A temporary folder with a folder a run. */
#pragma once

#include "bench/runner/files.h"

struct scratch {
    char path[PATH_BYTES]; /* below $TMPDIR or /tmp */
};

enum status scratch_open(struct scratch *scratch, struct error *e);
/* Makes the folder `name` in it. */
enum status scratch_add(struct scratch *scratch, const char *name, char path[PATH_BYTES],
                        struct error *e);
/* Removes it with its folders and their files. */
void scratch_close(struct scratch *scratch);
