/* SIMD_CLONES before a function makes the compiler emit it for several instruction sets. The
 * fastest is chosen when the program starts, so one binary serves every node of its architecture.
 *
 * All clones give the same bits, and so do ranks on different machines, because each output element
 * is computed by the same operations in the same order. IEEE 754 additions, multiplications,
 * divisions, square roots, comparisons and conversions round the same at every vector width. Two
 * compiler options would break this and are off: contraction of a*b + c (-ffp-contract=off) and
 * reassociation (no -ffast-math). Without reassociation the compiler does not vectorise sums over
 * elements. Calls of the mathematical library (exp, log) are not vectorised either. */
#pragma once

#include <limits.h> /* defines __GLIBC__ if the C library is glibc */

/* Clones need ifunc, which musl does not have. The sanitizers' run-time libraries are not ready
 * when ifuncs are resolved, so sanitizer builds have no clones. */
#if defined(__x86_64__) && defined(__GLIBC__) && !defined(SCALEBENCH_SANITIZE)
#define SIMD_CLONES __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define SIMD_CLONES
#endif
