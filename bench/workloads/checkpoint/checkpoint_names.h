/* Tensor names in files of other programs. */
#pragma once

#include "bench/workloads/checkpoint/checkpoint_layout.h"
#include "kernels/base/names.h"

/* Returns whether a tensor belongs to a checkpoint section, not to the model:
 * "optimizer.0.fc.bias", "rank.1.params". */
bool names_a_section(const char *name);

/* Returns the rank of a section "rank.<rank>.<what>" and sets *what; -1 for other names. */
long names_section_rank(const char *name, const char **what);

/* Removes a common prefix of all names, such as "module.", if more of the model's n tensors are
 * found without it. `prefix` receives it, "" if none. */
void names_leave_out_prefix(struct safetensors *file, const struct safetensors_tensor *model,
                            size_t n, char prefix[CHECKPOINT_NAME_BYTES]);

/* Writes a hint such as "; nearest 'fc.bais'", the file's name closest to `name`: the same name
 * with a prefix, else an unknown name, else any; "" if none is close. Returns text. */
char *names_near(char text[NAME_NEAR_BYTES], const char *name, const struct safetensors *file,
                 const struct layout *layout);
