/* Names of tensors in files of other programs. */
#pragma once

#include "bench/workloads/checkpoint/checkpoint_layout.h"
#include "kernels/base/names.h"

/* Whether a name is of what checkpoints hold besides the model: "optimizer.0.fc.bias", "rank.1.params". */
bool names_a_section(const char *name);

/* The rank of a section "rank.<rank>.<what>" and what it is; -1 for other names. */
long names_section_rank(const char *name, const char **what);

/* Leaves out what the names of all tensors begin with, such as "module.", where more of the model's n tensors are found
 * without it. `prefix` is what was left out, "" for nothing. */
void names_leave_out_prefix(struct safetensors *file, const struct safetensors_tensor *model,
                            size_t n, char prefix[CHECKPOINT_NAME_BYTES]);

/* "; nearest 'fc.bais'": the file's tensor that is called most like `name`: the same behind a prefix, else among those that
 * the layout does not know, else any; "" where none is near. Returns text. */
char *names_near(char text[NAME_NEAR_BYTES], const char *name, const struct safetensors *file,
                 const struct layout *layout);
