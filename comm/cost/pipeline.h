/* Pipelines: a net is cut into stages, each on ranks of its own, and a step's micro-batches go through them
 * one behind the other. In which order, where to cut and what that sends, as plain functions, no MPI.
 *
 * Huang et al., "GPipe", 2019; Narayanan et al., "Memory-efficient pipeline-parallel DNN training", 2021. */
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

/* One pass of a stage over a micro-batch. */
struct pipeline_task {
    bool backward;
    int micro;
};

/* What stage `stage` of `stages` does i-th, 0 <= i < 2 * micros, in a step of so many micro-batches. One
 * stage alone takes each forward and backward by either schedule: gradient accumulation. */
struct pipeline_task pipeline_task(enum pipeline_schedule schedule, int stage, int stages,
                                   int micros, int i);

/* Micro-batches whose activations the stage keeps at once at most: of `micros` forward passes those that
 * have not come back. Micro-batch m may use set m modulo this. */
int pipeline_kept(enum pipeline_schedule schedule, int stage, int stages, int micros);

/* A run of ops cut into `stages`, in first [stages + 1]: stage s has ops [first[s], first[s + 1]), and each an
 * op with parameters. The stage that takes longest takes as little as possible; of equal cuts the one
 * whose first stages are the longest. costs [n], >= 0; has_params [n]. False where there are fewer ops with
 * parameters than stages, or no memory. */
bool pipeline_cut_ops(int *first, int stages, const double *costs, const bool *has_params, int n);

/* What a stage sends in a step of so many images: activations to the stage behind it, `out` numbers an
 * image, gradients to the one before, `in` numbers; 0: there is no such stage. Messages where no
 * micro-batch is empty. */
struct pipeline_traffic {
    uint64_t messages, bytes;
};
struct pipeline_traffic pipeline_traffic(size_t in, size_t out, int micros, uint64_t images,
                                         size_t width);
