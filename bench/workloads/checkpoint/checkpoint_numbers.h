/* Converts weights in types of other programs: F16, BF16, F32, F64. Denormal numbers are converted
 * even where computing flushes them. */
#pragma once

#include <stdbool.h>

#include "bench/spec/enumerations.h"
#include "bench/workloads/checkpoint/safetensors.h"
#include "kernels/base/real.h"

/* Returns whether numbers_read can read this type. */
bool numbers_known(const char *dtype);

/* Types that numbers_read can read, for messages. */
extern const char numbers_types[];

/* Returns the index of the first finite number that exceeds the range of `real`; the tensor's size
 * if there is none. */
size_t numbers_first_beyond(const struct safetensors_tensor *from);

/* Converts all numbers of a tensor to `to`, exactly, or rounded to nearest even from F64 to
 * float. */
void numbers_read(real *to, const struct safetensors_tensor *from);

/* Rounds x [n] to codes [n] of bf16 or f16, to nearest even. Returns the index of the first finite
 * number that is too large for the type, or n. */
size_t numbers_narrow(uint16_t *codes, const real *x, size_t n, enum checkpoint_dtype dtype);

/* Returns the format's name of bf16 or f16. */
const char *numbers_dtype(enum checkpoint_dtype dtype);
