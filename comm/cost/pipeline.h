/* Pipeline parallelism: order of micro-batches, cut of a network into stages, and messages between
 * stages. Plain functions without MPI.
 *
 * Huang et al., "GPipe", 2019; Narayanan et al., "Memory-efficient pipeline-parallel DNN training",
 * 2021. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum pipeline_schedule {
#define PIPELINE_SCHEDULE(name, summary) PIPELINE_##name,
#include "comm/cost/pipeline_schedules.def"
    PIPELINE_SCHEDULES
};

enum pipeline_cut {
#define PIPELINE_CUT(name, summary) PIPELINE_CUT_##name,
#include "comm/cost/pipeline_cuts.def"
    PIPELINE_CUTS
};

/* One forward or backward pass of a stage over a micro-batch. */
struct pipeline_task {
    bool backward;
    int micro;
};

/* Returns the i-th pass of a stage in a step, 0 <= i < 2 * micros. If `stages` is 1, each
 * micro-batch is computed forward and backward before the next one (gradient accumulation). */
struct pipeline_task pipeline_task(enum pipeline_schedule schedule, int stage, int stages,
                                   int micros, int i);

/* Returns the maximum number of micro-batches whose activations a stage keeps at the same time.
 * Micro-batch m can use buffer m modulo this number. */
int pipeline_kept(enum pipeline_schedule schedule, int stage, int stages, int micros);

/* Cuts n ops into stages so that the longest stage is as short as possible. Stage s has ops
 * [first[s], first[s + 1]) and at least one op with parameters. Among equally good cuts, the last
 * stage gets the fewest ops. The ops before this stage are cut by the same rules. `first` [stages +
 * 1]; `costs` [n] >= 0; `has_params` [n]. Returns false if memory is exhausted, or if fewer ops
 * than stages have parameters. */
bool pipeline_cut_ops(int *first, int stages, const double *costs, const bool *has_params, int n);

/* Messages and bytes that a pipeline stage sends in a step. The function pipeline_traffic computes
 * both for a step of `images` images in `micros` non-empty micro-batches. Per image, the stage
 * sends `out` activations to the next stage and `in` gradients to the previous stage; 0 if there is
 * no such stage. `width`: bytes per number. */
struct pipeline_traffic {
    uint64_t messages, bytes;
};
struct pipeline_traffic pipeline_traffic(size_t in, size_t out, int micros, uint64_t images,
                                         size_t width);
