/* Seconds as people say them. */
#ifndef SCALEBENCH_KERNELS_BASE_DURATION_H
#define SCALEBENCH_KERNELS_BASE_DURATION_H

/* "45 s", "1 min 20 s", "2 h 5 min" into text; returns text. */
char *duration_text(char text[32], double seconds);

#endif
