/* Memory for numbers: aligned to a cache line, zeroed, touched before it is timed. */
#pragma once

#include <stddef.h>

#include "kernels/base/error.h"

#define MEM_ALIGNMENT 64

/* `bytes` of zeroed memory aligned to MEM_ALIGNMENT, on huge pages where the kernel gives them
 * (2 MiB and above); every page is present on return, placed by first touch of the calling thread.
 * NULL when there is none. bytes = 0 gives a valid pointer. Freed with mem_free. */
void *mem_alloc(size_t bytes);

void mem_free(void *memory);

/* Zeroes part of a process's own memory (from here or malloc) and gives its whole pages back to the
 * system, which brings them again, zeroed, when they are touched. */
void mem_give_back(void *memory, size_t bytes);
/* The same of memory that processes share: what others see there is gone, too. */
void mem_give_back_shared(void *memory, size_t bytes);

/* pointer <- `n` zeroed elements of the type it points to, freed with free(); pages of many are present
 * once they are written; ERR_MEMORY, "no memory
 * for WHAT", and NULL where there are none. n = 0 gives a valid pointer. */
#define MEM_NEW(pointer, n, what, e) mem_new(&(pointer), (n), sizeof *(pointer), (what), (e))
enum status mem_new(void *pointer, size_t n, size_t size, const char *what, struct error *e);

/* Room for one more element behind n that pointer has, which came from here or is NULL with n = 0; lists
 * grow by doubling. Freed with free(), kept as it is on error. */
#define MEM_GROW(pointer, n, what, e) mem_grow(&(pointer), (n), sizeof *(pointer), (what), (e))
enum status mem_grow(void *pointer, size_t n, size_t size, const char *what, struct error *e);

/* As MEM_NEW, by mem_alloc, freed with mem_free. */
#define MEM_NEW_ALIGNED(pointer, n, what, e)                                                       \
    mem_new_aligned(&(pointer), (n), sizeof *(pointer), (what), (e))
enum status mem_new_aligned(void *pointer, size_t n, size_t size, const char *what,
                            struct error *e);

/* Memory that goes together; all zero: none. */
struct mem_room {
    void **all; /* [n] */
    size_t n;
};

/* As MEM_NEW_ALIGNED, freed with the room. */
#define MEM_KEEP(room, pointer, n, what, e)                                                        \
    mem_keep((room), &(pointer), (n), sizeof *(pointer), (what), (e))
enum status mem_keep(struct mem_room *room, void *pointer, size_t n, size_t size, const char *what,
                     struct error *e);
void mem_room_empty(struct mem_room *room);

/* ERR_UNAVAILABLE where this node's shared memory, which MPI libraries on Linux make in /dev/shm,
 * has no room for so many bytes. The error says that `who` wants them, what is left and what to do
 * about it. A page that does not fit is only noticed when it is touched, and then the process dies
 * of SIGBUS. OK where the system does not say what is left. */
enum status mem_check_shared(const char *who, double bytes, struct error *e);
/* That error, for a caller that has found a page missing. */
enum status mem_shared_is_full(const char *who, double bytes, struct error *e);

/* Peak resident set of this process in MiB. */
double mem_peak_mib(void);

/* What of this process is in memory now; NAN where /proc does not tell. */
double mem_now_mib(void);

/* What of [memory, memory + bytes) is in this process's memory, by whole pages, whoever else has
 * them too (mapped files); NAN where /proc does not tell. */
double mem_resident_mib(const void *memory, size_t bytes);
