#include "kernels/base/mem.h"

#include <fcntl.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <unistd.h>

#define MIB       1048576.0
#define HUGE_PAGE ((size_t)2 << 20)

void *mem_alloc(size_t bytes)
{
    void *memory = NULL;
    size_t alignment = bytes >= HUGE_PAGE ? HUGE_PAGE : MEM_ALIGNMENT;
    if (posix_memalign(&memory, alignment, bytes > 0 ? bytes : 1) != 0)
        return NULL;
#ifdef MADV_HUGEPAGE
    /* Advice only: if madvise fails, the kernel uses small pages. */
    if (bytes >= HUGE_PAGE)
        madvise(memory, bytes, MADV_HUGEPAGE);
#endif
    return memset(memory, 0, bytes);
}

void mem_free(void *memory)
{
    free(memory);
}

static void give_back(void *memory, size_t bytes, int advice)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    size_t before = (page - (uintptr_t)memory % page) % page;
    if (before > bytes)
        before = bytes;
    size_t whole = (bytes - before) / page * page;
    char *first = (char *)memory + before;
    memset(memory, 0, before);
    memset(first + whole, 0, bytes - before - whole);
    if (whole > 0 && madvise(first, whole, advice) != 0)
        memset(first, 0, whole);
}

void mem_give_back(void *memory, size_t bytes)
{
    give_back(memory, bytes, MADV_DONTNEED);
}

void mem_give_back_shared(void *memory, size_t bytes)
{
    give_back(memory, bytes, MADV_REMOVE);
}

/* Stores `memory` in the pointer at address `pointer`; ERR_MEMORY if `memory` is NULL. Uses memcpy,
 * because assigning through a void ** would break the aliasing rules. */
static enum status hand_out(void *pointer, void *memory, const char *what, struct error *e)
{
    memcpy(pointer, &memory, sizeof memory);
    return memory != NULL ? OK : error_no_memory(e, what);
}

enum status mem_new(void *pointer, size_t n, size_t size, const char *what, struct error *e)
{
    return hand_out(pointer, calloc(n > 0 ? n : 1, size), what, e);
}

enum status mem_grow(void *pointer, size_t n, size_t size, const char *what, struct error *e)
{
    void *old;
    if (n > 0 && (n & (n - 1)) != 0)
        return OK;
    memcpy(&old, pointer, sizeof old);
    void *grown = realloc(old, (n > 0 ? 2 * n : 1) * size);
    if (grown == NULL)
        return error_no_memory(e, what);
    memcpy(pointer, &grown, sizeof grown);
    return OK;
}

enum status mem_new_aligned(void *pointer, size_t n, size_t size, const char *what, struct error *e)
{
    void *memory = n <= SIZE_MAX / size ? mem_alloc(n * size) : NULL;
    return hand_out(pointer, memory, what, e);
}

enum status mem_keep(struct mem_room *room, void *pointer, size_t n, size_t size, const char *what,
                     struct error *e)
{
    TRY(MEM_GROW(room->all, room->n, what, e));
    TRY(mem_new_aligned(pointer, n, size, what, e));
    memcpy(&room->all[room->n++], pointer, sizeof *room->all);
    return OK;
}

void mem_room_empty(struct mem_room *room)
{
    while (room->n > 0)
        mem_free(room->all[--room->n]);
    free(room->all);
    *room = (struct mem_room){.n = 0};
}

enum status mem_shared_is_full(const char *who, double bytes, struct error *e)
{
    struct statvfs s = {0};
    statvfs("/dev/shm", &s);
    return error_set(
        e, ERR_UNAVAILABLE,
        "%s needs %.1f MiB of shared memory, but /dev/shm has %.1f of %.1f MiB left. Enlarge it "
        "with `mount -o remount,size=SIZE /dev/shm`, or for a container with `--shm-size`",
        who, bytes / MIB, (double)s.f_bavail * (double)s.f_frsize / MIB,
        (double)s.f_blocks * (double)s.f_frsize / MIB);
}

enum status mem_check_shared(const char *who, double bytes, struct error *e)
{
    struct statvfs s;
    if (statvfs("/dev/shm", &s) != 0 || (double)s.f_bavail * (double)s.f_frsize >= bytes)
        return OK;
    return mem_shared_is_full(who, bytes, e);
}

double mem_now_mib(void)
{
    unsigned long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    int found = file != NULL ? fscanf(file, "%*u %lu", &pages) : 0;
    if (file != NULL)
        fclose(file);
    return found == 1 ? (double)pages * (double)sysconf(_SC_PAGESIZE) / MIB : NAN;
}

/* Bit of a /proc/self/pagemap entry: the page is present. Readable without privileges. */
#define PAGE_PRESENT ((uint64_t)1 << 63)

static double count_present(int pagemap, uintptr_t first, uintptr_t last)
{
    uint64_t entries[512];
    double present = 0;
    while (first < last) {
        size_t wanted = last - first < 512 ? last - first : 512;
        ssize_t got =
            pread(pagemap, entries, wanted * sizeof *entries, (off_t)(first * sizeof *entries));
        if (got < (ssize_t)sizeof *entries)
            return NAN;
        size_t n = (size_t)got / sizeof *entries;
        for (size_t i = 0; i < n; i++)
            present += (entries[i] & PAGE_PRESENT) != 0;
        first += n;
    }
    return present;
}

double mem_resident_mib(const void *memory, size_t bytes)
{
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), begin = (uintptr_t)memory;
    if (bytes == 0)
        return 0;
    int pagemap = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
    if (pagemap < 0)
        return NAN;
    double present = count_present(pagemap, begin / page, (begin + bytes + page - 1) / page);
    close(pagemap);
    return present * (double)page / MIB;
}

double mem_peak_mib(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (double)usage.ru_maxrss / 1024.0; /* ru_maxrss is in KiB on Linux */
}
