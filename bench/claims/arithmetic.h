/* Arithmetic over named values that are known as intervals: "four / one * 100". An interval of the result
 * holds what it is wherever in their intervals the values lie (Moore, "Interval analysis", 1966); each occurrence
 * of a value counts as one of its own, so that it may be wider than need be, never narrower. */
#pragma once

#include <stddef.h>

#include "kernels/base/error.h"
#include "kernels/base/stats.h"

/* sum := product { (+ | -) product };  product := factor { (* | /) factor }
 * factor := number | name | - factor | ( sum )
 *
 * A value has lo = mid = hi where it is exact; mid NAN is no number, and naming it an error. ERR_ARGUMENT at
 * line 1 and the column in `text`. */
enum status arithmetic_evaluate(struct interval *result, const char *text, const char *const *names,
                                const struct interval *values, size_t n, struct error *e);
