/* Finds the model's tensors under the names that other programs use. */
#pragma once

#include "bench/workloads/checkpoint/checkpoint_layout.h"
#include "kernels/base/names.h"

/* Returns whether a tensor is part of a checkpoint but not of the model, such as
 * "optimizer.0.fc.bias" or "rank.1.params". */
bool names_a_section(const char *name);

/* Returns the rank in a tensor name "rank.<rank>.<what>" and sets *what; -1 for other names. */
long names_section_rank(const char *name, const char **what);

/* Removes a prefix such as "module." that all names in the file share, if more names match the
 * model's n tensors without the prefix than with it. Sets `prefix` to the removed prefix, or "". */
void names_leave_out_prefix(struct safetensors *file, const struct safetensors_tensor *model,
                            size_t n, char prefix[CHECKPOINT_NAME_BYTES]);

/* Writes a hint for the message that tensor `name` is missing, such as "; nearest 'fc.bais'".
 * Suggests a longer name in the file that ends in `name`; otherwise the most similar name,
 * preferably one that is not in `layout`. Writes "" if no name is similar. Returns `text`. */
char *names_near(char text[NAME_NEAR_BYTES], const char *name, const struct safetensors *file,
                 const struct layout *layout);
