/* SIMD_CLONES before a function makes the compiler emit it for several instruction sets. The
 * fastest is chosen when the program starts.
 *
 * All clones give the same bits on every machine, because each output element is computed by the
 * same IEEE 754 operations in the same order. Two compiler options would break this and are off:
 * contraction of a*b + c (-ffp-contract=off) and reassociation (no -ffast-math). The compiler
 * therefore does not vectorise sums over elements, nor calls of exp and log. */
#pragma once

#include <limits.h> /* defines __GLIBC__ if the C library is glibc */

/* Function clones (target_clones) need ifunc, which musl does not have. The sanitizers' run-time
 * libraries are not ready when ifuncs are resolved, so sanitizer builds have no clones. */
#if defined(__x86_64__) && defined(__GLIBC__) && !defined(SCALEBENCH_SANITIZE)
#define SIMD_CLONES __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define SIMD_CLONES
#endif
