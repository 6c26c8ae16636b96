/* Optimizers that update slices of flat arenas. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernels/base/isa.h"
#include "kernels/base/pool.h"
#include "kernels/base/real.h"
#include "kernels/desc/net_desc.h"

/* Kind of optimizer. If optimizer_takes_tensors returns true for a kind, each slice that
 * optimizer_step updates must begin and end at tensor boundaries. All instruction sets give the
 * same bits, so replicas stay bitwise equal. */
enum optimizer_kind {
#define OPTIMIZER(name, norms, slots, summary) OPTIMIZER_##name,
#include "kernels/desc/optimizers.def"
    OPTIMIZERS
};

struct optimizer {
    enum optimizer_kind kind;
    enum isa isa;                  /* instruction set to use; ISA_PORTABLE works everywhere */
    double momentum, weight_decay; /* momentum: for sgd and lars; weight decay: for all
                                    * optimizers */
    bool nesterov;                 /* sgd: whether momentum is Nesterov's */
    bool decoupled;                /* sgd: whether weight decay shrinks the weights directly, not
                                    * through the momentum */
    double beta1, beta2, epsilon;  /* coefficients of adam, adamw, lamb */
    /* lars: trust coefficient, the factor of
     * ||weights|| / (||gradient|| + weight_decay ||weights||) */
    double trust;
    /* Gradient clipping: largest norm of the whole gradient, and largest magnitude of each number.
     * 0: no limit. Clipping is in comm/update.c and, for parameter servers, in
     * comm/strategies/server.c. */
    double clip_norm, clip_value;
    size_t n;                          /* number of parameters */
    real *state;                       /* [optimizer_slots][n] state such as momentum, borrowed */
    const struct tensor_desc *tensors; /* tensors of the arenas, borrowed; only used if
                                          optimizer_takes_tensors (lars and lamb) */
    int n_tensors;
};

const char *const *optimizer_names(void);
int optimizer_slots(enum optimizer_kind kind);
bool optimizer_takes_tensors(enum optimizer_kind kind);

/* Updates params[begin, end) from grads[begin, end). `step` counts from 1; `lr` is the learning
 * rate of this step. */
void optimizer_step(const struct optimizer *o, struct pool *pool, real *params, const real *grads,
                    size_t begin, size_t end, uint64_t step, double lr);

/* Two functions instead of optimizer_step, for optimizers that need norms of whole tensors of which
 * a rank holds only a part. optimizer_norms updates the state on which norms depend (lamb). For the
 * part of each tensor in [begin, end), it adds to norms2 [n_tensors][2] the sum of squares of the
 * parameters, then of the gradients (lars) or update directions (lamb). Biases and batch norm are
 * left out. The caller sums norms2 over the ranks. optimizer_step_parts then updates params[begin,
 * end). Both use one thread. */
void optimizer_norms(const struct optimizer *o, const real *params, const real *grads, size_t begin,
                     size_t end, uint64_t step, double *norms2);
void optimizer_step_parts(const struct optimizer *o, real *params, const real *grads, size_t begin,
                          size_t end, uint64_t step, double lr, const double *norms2);
