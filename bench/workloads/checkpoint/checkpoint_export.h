/* The copy of a model that checkpoint.dtype has written beside a checkpoint, for other programs: parameters in 16 bits,
 * running statistics and counts of batches as they are, no optimizer. What it has lost of the parameters no run could
 * go on without: checkpoint.resume refuses it, checkpoint.start takes it. */
#pragma once

#include <limits.h>

#include "bench/workloads/checkpoint/checkpoint_layout.h"

/* Whether the run writes such copies. */
bool export_wanted(const struct config *config);

/* The copy's name: "a.bf16.safetensors" of "a.safetensors", "a.bf16" of "a". */
void export_path(char path[PATH_MAX], const struct config *config, const char *checkpoint);

/* Writes the copy of the layout's model. ERR_DATA names a parameter that is too large for the type; then there is no
 * new copy. */
enum status export_write(const char *checkpoint, const struct checkpoint_state *s,
                         const struct layout *layout, struct error *e);
