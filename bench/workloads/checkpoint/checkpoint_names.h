/* Finds the model's tensors under the names that other programs use. */
#pragma once

#include "bench/workloads/checkpoint/checkpoint_layout.h"
#include "kernels/base/names.h"

/* Returns whether a tensor is part of a checkpoint but not of the model, such as
 * "optimizer.0.fc.bias" or "rank.1.params". */
bool names_a_section(const char *name);

/* Returns the rank in a tensor name "rank.<rank>.<what>" and sets *what; -1 for other names. */
long names_section_rank(const char *name, const char **what);

/* Removes a prefix such as "module." that all names in the file share, if more of the model's n
 * tensors are then found. Sets `prefix` to the removed prefix, or "". */
void names_leave_out_prefix(struct safetensors *file, const struct safetensors_tensor *model,
                            size_t n, char prefix[CHECKPOINT_NAME_BYTES]);

/* Writes a hint for the message that tensor `name` is missing, such as "; nearest 'fc.bais'"; "" if
 * no name is similar. Suggests a name in the file that ends in `name`, else the most similar name,
 * preferably one not in `layout`. Returns `text`. */
char *names_near(char text[NAME_NEAR_BYTES], const char *name, const struct safetensors *file,
                 const struct layout *layout);
