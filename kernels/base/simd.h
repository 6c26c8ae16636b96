/* Loops over elements for the instruction set of the machine a binary meets: SIMD_CLONES before a
 * function makes the compiler emit it for several sets and choose when the program starts, so that
 * one binary serves every node of its architecture.
 *
 * All clones of a function give the same bits, and so do ranks on different machines, as long as
 * each output element is computed by the same operations in the same order: additions,
 * multiplications, divisions, square roots, comparisons and conversions of IEEE 754 round the same
 * at every vector width. Two things would break this and are off in this project: contraction of
 * a*b + c into one rounding (-ffp-contract=off) and reassociation (no -ffast-math), without which
 * the compiler does not vectorise a sum over elements. Calls of the mathematical library (exp, log)
 * stay what they are. */
#pragma once

#include <limits.h> /* defines __GLIBC__ where that is the C library */

/* Resolved through ifunc before the run-time libraries of the sanitizers are ready: not with them.
 * Clones do not exist where the C library has no ifunc, as in musl. */
#if defined(__x86_64__) && defined(__GLIBC__) && !defined(SCALEBENCH_SANITIZE)
#define SIMD_CLONES __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define SIMD_CLONES
#endif
