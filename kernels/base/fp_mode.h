/* Denormal numbers. */
#pragma once

#include <stdbool.h>

/* Sets flush-to-zero and denormals-are-zero in the calling thread; every thread that computes calls
 * it. */
void fp_mode_set(void);

/* Whether the calling thread does both, read back from the processor. */
bool fp_mode_flushes(void);
