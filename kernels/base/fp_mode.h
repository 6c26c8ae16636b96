/* Flushing of denormal numbers to zero. */
#pragma once

#include <stdbool.h>

/* Sets flush-to-zero and denormals-are-zero in the calling thread. Every thread that computes must
 * call it. */
void fp_mode_set(void);

/* Returns whether flush-to-zero and denormals-are-zero are on in the calling thread, as read back
 * from the processor. */
bool fp_mode_flushes(void);
