/* Memory for arrays. Memory from mem_alloc is aligned to a cache line, zeroed and resident. Memory
 * from MEM_NEW and MEM_GROW is not aligned, and may become resident only when it is written. */
#pragma once

#include <stddef.h>

#include "kernels/base/error.h"

#define MEM_ALIGNMENT 64

/* Allocates `bytes` of zeroed memory aligned to MEM_ALIGNMENT. The calling thread touches every
 * page. Blocks of at least 2 MiB use huge pages if the kernel has them. NULL if out of memory;
 * bytes = 0 gives a valid pointer. Free with mem_free. */
void *mem_alloc(size_t bytes);

void mem_free(void *memory);

/* Zeroes private memory, from mem_alloc or malloc, and returns its whole pages to the system.
 * Touching a page allocates it again. */
void mem_give_back(void *memory, size_t bytes);
/* Zeroes memory shared between processes and returns its whole pages to the system. All processes
 * see the zeros. */
void mem_give_back_shared(void *memory, size_t bytes);

/* Sets `pointer` to `n` zeroed elements of its type. If memory runs out, sets NULL and returns
 * ERR_MEMORY, "no memory for WHAT". n = 0 gives a valid pointer. Large blocks become resident when
 * written. Free with free(). */
#define MEM_NEW(pointer, n, what, e) mem_new(&(pointer), (n), sizeof *(pointer), (what), (e))
enum status mem_new(void *pointer, size_t n, size_t size, const char *what, struct error *e);

/* Makes room for one more element in the array `pointer` of `n` elements. `pointer` must come from
 * MEM_GROW, or be NULL with n = 0. Free with free(). After an error the block is unchanged. */
#define MEM_GROW(pointer, n, what, e) mem_grow(&(pointer), (n), sizeof *(pointer), (what), (e))
enum status mem_grow(void *pointer, size_t n, size_t size, const char *what, struct error *e);

/* Works as MEM_NEW, with memory from mem_alloc. Free with mem_free. */
#define MEM_NEW_ALIGNED(pointer, n, what, e)                                                       \
    mem_new_aligned(&(pointer), (n), sizeof *(pointer), (what), (e))
enum status mem_new_aligned(void *pointer, size_t n, size_t size, const char *what,
                            struct error *e);

/* List of memory blocks that are freed together. Zero-initialise it before use. */
struct mem_room {
    void **all; /* [n] blocks to free */
    size_t n;
};

/* Works as MEM_NEW_ALIGNED, and adds the block to `room`. mem_room_empty frees all blocks of a
 * room. */
#define MEM_KEEP(room, pointer, n, what, e)                                                        \
    mem_keep((room), &(pointer), (n), sizeof *(pointer), (what), (e))
enum status mem_keep(struct mem_room *room, void *pointer, size_t n, size_t size, const char *what,
                     struct error *e);
void mem_room_empty(struct mem_room *room);

/* Checks that /dev/shm has `bytes` of free space. Without the space, a process dies of SIGBUS when
 * it touches a page. The text of ERR_UNAVAILABLE names `who`, the free space and the command that
 * enlarges /dev/shm. OK if the free space is unknown. */
enum status mem_check_shared(const char *who, double bytes, struct error *e);
/* Sets and returns the ERR_UNAVAILABLE error of mem_check_shared, without a check. Call it after a
 * page of shared memory could not be allocated. */
enum status mem_shared_is_full(const char *who, double bytes, struct error *e);

/* Returns the peak resident set of this process in MiB. */
double mem_peak_mib(void);

/* Returns the resident memory of this process in MiB; NAN if /proc does not show it. */
double mem_now_mib(void);

/* Returns the size in MiB of all resident pages that overlap [memory, memory + bytes), including
 * pages shared with other processes. NAN if /proc does not show which pages are resident. */
double mem_resident_mib(const void *memory, size_t bytes);
