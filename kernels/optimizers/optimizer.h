/* Optimizers over slices of flat arenas. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernels/base/isa.h"
#include "kernels/base/pool.h"
#include "kernels/base/real.h"
#include "kernels/desc/net_desc.h"

/* Optimizers: one const table a file, a line in optimizers.def. They work on any slice of the
 * arenas, in a fixed order without contraction, and give the same bits with every instruction set,
 * so that replicas stay bitwise equal. Those that optimizer_takes_tensors names need norms of
 * tensors: their slices must begin and end where tensors do. */
enum optimizer_kind {
#define OPTIMIZER(name, norms, slots, summary) OPTIMIZER_##name,
#include "kernels/desc/optimizers.def"
    OPTIMIZERS
};

struct optimizer {
    enum optimizer_kind kind;
    enum isa isa;                  /* what the processor has; the portable one is always there */
    double momentum, weight_decay; /* sgd, lars; weight decay of all */
    bool nesterov;                 /* sgd: looks one step of the momentum ahead */
    bool decoupled;                /* sgd: decay shrinks weights and stays out of the momentum */
    double beta1, beta2, epsilon;  /* adam, adamw, lamb */
    double trust;                  /* lars: share of a tensor's norm that a step may change */
    /* 0: none; whoever sums gradients scales them to this norm, or limits each to this magnitude. */
    double clip_norm, clip_value;
    size_t n;    /* parameters */
    real *state; /* [optimizer_slots][n], borrowed: an arena like the others */
    const struct tensor_desc *tensors; /* borrowed; of those that take tensors */
    int n_tensors;
};

const char *const *optimizer_names(void);
int optimizer_slots(enum optimizer_kind kind);
bool optimizer_takes_tensors(enum optimizer_kind kind);

/* Updates params[begin, end) from grads[begin, end); `step` counts from 1, `lr` is this step's
 * rate. */
void optimizer_step(const struct optimizer *o, struct pool *pool, real *params, const real *grads,
                    size_t begin, size_t end, uint64_t step, double lr);

/* Where tensors are cut among ranks, of optimizers that take them: first this adds to norms2 [n_tensors][2] what
 * [begin, end) has of two sums of squares a tensor, and moves the state on; then, with those of all
 * ranks together, the step. Both in one thread. */
void optimizer_norms(const struct optimizer *o, const real *params, const real *grads, size_t begin,
                     size_t end, uint64_t step, double *norms2);
void optimizer_step_parts(const struct optimizer *o, real *params, const real *grads, size_t begin,
                          size_t end, uint64_t step, double lr, const double *norms2);
