/* Number type of a build: float by default. Tests in double (-DSCALEBENCH_F64) prove that exact
 * strategies give the same model at all rank counts. */
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
