/* A temporary folder. */
#pragma once

#include "bench/runner/files.h"

struct scratch {
    char path[PATH_BYTES]; /* below $TMPDIR or /tmp */
};

enum status scratch_open(struct scratch *scratch, struct error *e);
/* Removes it with its folders and their files. */
void scratch_close(struct scratch *scratch);
