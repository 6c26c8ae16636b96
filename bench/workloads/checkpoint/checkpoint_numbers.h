/* Weights in the types that other programs keep them in: F16, BF16, F32, F64. Where denormal numbers are flushed they
 * are converted all the same. */
#pragma once

#include <stdbool.h>

#include "bench/spec/enumerations.h"
#include "bench/workloads/checkpoint/safetensors.h"
#include "kernels/base/real.h"

/* Whether numbers_read takes tensors of this type. */
bool numbers_known(const char *dtype);

/* What numbers_known takes, for messages. */
extern const char numbers_types[];

/* The tensor's first finite number that is beyond the range of `real`; its count of numbers where all fit. */
size_t numbers_first_beyond(const struct safetensors_tensor *from);

/* Fills to [as many as the tensor has]: exactly, or rounded to the nearest, ties to even, where F64 becomes float. */
void numbers_read(real *to, const struct safetensors_tensor *from);

/* Fills codes [n] with x [n] as bf16 or f16, rounded to the nearest, ties to even. Returns the first number that is
 * finite but too large for the type, or n. */
size_t numbers_narrow(uint16_t *codes, const real *x, size_t n, enum checkpoint_dtype dtype);

/* The format's name of it, of bf16 and f16. */
const char *numbers_dtype(enum checkpoint_dtype dtype);
