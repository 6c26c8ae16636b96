/* Tests the messages of a strategy while its rank computes, as overlaps.def lists: never, by the
 * computing thread between layers or tiles, or by a separate thread. The separate thread calls
 * MPI only between overlap_compute_begin and overlap_compute_end, when the computing thread does
 * not. MPI_THREAD_SERIALIZED is therefore sufficient. */
#pragma once

#include "comm/strategy.h"

struct overlap;

struct overlap_options {
    enum overlap_kind kind;
    struct sync *sync; /* borrowed */
    /* processor of the separate thread, copied; NULL: any processor of the creating thread */
    const int *cpu;
    bool yields; /* the separate thread yields its core between two tests */
};

/* Creates *overlap; NULL if nothing is to be tested. ERR_UNAVAILABLE if a separate thread is
 * required and the library does not support MPI_THREAD_SERIALIZED. */
enum status overlap_open(struct overlap **overlap, const struct overlap_options *options,
                         struct error *e);
/* Stops the separate thread and frees `o`. All functions below accept NULL, which means that
 * nothing is tested. */
void overlap_close(struct overlap *o);

/* Mark the start and end of a training step. */
void overlap_step_begin(struct overlap *o);
void overlap_step_end(struct overlap *o);

/* Mark the start and end of each op of the network. Between them the caller makes MPI calls only
 * within overlap_pause and overlap_resume. Kernels call these, through the trainer, to sum over
 * ranks. */
void overlap_compute_begin(struct overlap *o);
void overlap_compute_end(struct overlap *o);
void overlap_pause(struct overlap *o);
void overlap_resume(struct overlap *o);

/* Tests messages, at most every OVERLAP_TILE_NS. Serves as exec.poll for poll_tiles; `arg` is
 * the struct overlap. */
#define OVERLAP_TILE_NS 200000
void overlap_tile(void *arg);
/* Returns whether exec.poll must be overlap_tile. */
bool overlap_wants_tiles(const struct overlap *o);
