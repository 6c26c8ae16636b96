/* Memory for numbers: aligned to a cache line, zeroed, touched before it is timed. */
#ifndef SCALEBENCH_BASE_MEM_H
#define SCALEBENCH_BASE_MEM_H

#include <stddef.h>

#define MEM_ALIGNMENT 64

/* `bytes` of zeroed memory aligned to MEM_ALIGNMENT, on huge pages where the kernel gives them
 * (2 MiB and above); every page is present on return, placed by first touch of the calling thread.
 * NULL when there is none. bytes = 0 gives a valid pointer. Freed with mem_free. */
void *mem_alloc(size_t bytes);

void mem_free(void *memory);

/* Peak resident set of this process in MiB. */
double mem_peak_mib(void);

/* What of this process is in memory now; NAN where /proc does not tell. */
double mem_now_mib(void);

/* What of [memory, memory + bytes) is in this process's memory, by whole pages, whoever else has
 * them too (mapped files); NAN where /proc does not tell. */
double mem_resident_mib(const void *memory, size_t bytes);

#endif
