#include "kernels/base/mem.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>

#define HUGE_PAGE ((size_t)2 << 20)

void *mem_alloc(size_t bytes)
{
    void *memory = NULL;
    size_t alignment = bytes >= HUGE_PAGE ? HUGE_PAGE : MEM_ALIGNMENT;
    if (posix_memalign(&memory, alignment, bytes > 0 ? bytes : 1) != 0)
        return NULL;
#ifdef MADV_HUGEPAGE
    /* Advice only: where the kernel has no huge pages, small ones serve. */
    if (bytes >= HUGE_PAGE)
        madvise(memory, bytes, MADV_HUGEPAGE);
#endif
    return memset(memory, 0, bytes);
}

void mem_free(void *memory)
{
    free(memory);
}

double mem_peak_mib(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (double)usage.ru_maxrss / 1024.0; /* Linux counts in KiB */
}
