/* Converts weights from and to types that other programs use: F16, BF16, F32, F64. Denormal numbers
 * are converted even if computations flush them to 0. */
#pragma once

#include <stdbool.h>

#include "bench/base/safetensors.h"
#include "bench/spec/enumerations.h"
#include "kernels/base/real.h"

/* Returns whether numbers_read can read this type. */
bool numbers_known(const char *dtype);

/* Names of the types that numbers_read can read, for messages. */
extern const char numbers_types[];

/* Returns the index of a tensor's first finite number outside the range of `real`; the tensor's
 * number of elements if there is none. */
size_t numbers_first_beyond(const struct safetensors_tensor *from);

/* Converts all numbers of a tensor to `real`: exactly, except that a build for F32 rounds F64 to
 * float (to nearest even). */
void numbers_read(real *to, const struct safetensors_tensor *from);

/* Rounds x [n] to codes [n] of bf16 or f16, to nearest even. Returns the index of the first finite
 * number that is too large, or n. */
size_t numbers_narrow(uint16_t *codes, const real *x, size_t n, enum checkpoint_dtype dtype);

/* Returns the name of bf16 or f16 in the safetensors format. */
const char *numbers_dtype(enum checkpoint_dtype dtype);
