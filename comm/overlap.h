/* Tests a strategy's messages while the rank computes. sync.overlap sets who tests: nobody, the
 * computing thread between layers or tiles, or a separate thread. The separate thread calls MPI
 * only between overlap_compute_begin and overlap_compute_end, so MPI_THREAD_SERIALIZED is
 * sufficient. */
#pragma once

#include "comm/strategy.h"

struct overlap;

struct overlap_options {
    enum overlap_kind kind;
    struct sync *sync; /* strategy whose messages are tested, borrowed */
    /* processor of the separate thread; the number is copied. NULL: the thread is not bound */
    const int *cpu;
    bool yields; /* whether threads yield their core: the separate thread between two tests, the
                    computing thread while it waits for a test to end */
};

/* Creates *overlap, or sets it to NULL if sync.overlap is none or the strategy has no hook `poll`.
 * ERR_UNAVAILABLE if sync.overlap is thread and the MPI library does not support
 * MPI_THREAD_SERIALIZED. */
enum status overlap_open(struct overlap **overlap, const struct overlap_options *options,
                         struct error *e);
/* Stops the separate thread and frees `o`. This function and all functions below accept NULL: they
 * then do nothing or return false. Exception: overlap_tile must not get NULL. */
void overlap_close(struct overlap *o);

/* Mark the start and end of a training step. */
void overlap_step_begin(struct overlap *o);
void overlap_step_end(struct overlap *o);

/* overlap_compute_begin and overlap_compute_end mark the start and end of each op of the network.
 * During an op, the computing thread may call MPI only between overlap_pause and overlap_resume. */
void overlap_compute_begin(struct overlap *o);
void overlap_compute_end(struct overlap *o);
void overlap_pause(struct overlap *o);
void overlap_resume(struct overlap *o);

#define OVERLAP_TILE_NS 200000
/* Tests messages, unless the last test was less than OVERLAP_TILE_NS ago. Kernels call this
 * function through exec.poll, with the struct overlap as `arg`. */
void overlap_tile(void *arg);
/* Returns whether exec.poll must be set to overlap_tile. */
bool overlap_wants_tiles(const struct overlap *o);
