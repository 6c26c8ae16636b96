/* Number type of a build: float for use. A second build in double (-DSCALEBENCH_F64) proves that
 * all strategies and rank counts give the same model. */
#pragma once

#ifdef SCALEBENCH_F64
typedef double real;
#define REAL_NAME    "f64"
#define REAL_EPSILON 0x1p-52
#else
typedef float real;
#define REAL_NAME    "f32"
#define REAL_EPSILON 0x1p-23
#endif
