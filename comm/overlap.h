/* What tests the messages of a strategy while its rank computes (overlaps.def): nothing, the computing
 * thread between layers or tiles, or a thread of its own. Only the computing thread calls the library,
 * except between overlap_compute_begin and overlap_compute_end: there the other thread may, so that
 * MPI_THREAD_SERIALIZED is enough. */
#pragma once

#include "comm/strategy.h"

struct overlap;

struct overlap_options {
    enum overlap_kind kind;
    struct sync *sync; /* borrowed */
    const int *cpu;    /* of the thread, copied; NULL: where its creator may run */
    bool yields;       /* the thread lets others have its core between two tests */
};

/* ERR_UNAVAILABLE when a thread is wanted and the library takes calls from one thread only. */
enum status overlap_open(struct overlap **overlap, const struct overlap_options *options,
                         struct error *e);
/* NULL is fine here and below: nothing tests. */
void overlap_close(struct overlap *o);

/* Around a training step. */
void overlap_step_begin(struct overlap *o);
void overlap_step_end(struct overlap *o);

/* Around each step of the net. Between them the caller makes no MPI call but inside of
 * overlap_pause and overlap_resume, which kernels call, through the trainer, to sum over ranks. */
void overlap_compute_begin(struct overlap *o);
void overlap_compute_end(struct overlap *o);
void overlap_pause(struct overlap *o);
void overlap_resume(struct overlap *o);

/* exec.poll, of poll_tiles; arg is the overlap. Tests at most every OVERLAP_TILE_NS. */
#define OVERLAP_TILE_NS 200000
void overlap_tile(void *arg);
/* Whether exec.poll is to be that. */
bool overlap_wants_tiles(const struct overlap *o);
