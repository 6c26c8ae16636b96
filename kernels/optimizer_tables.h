/* What an optimizer is made of. Internal to kernels/. */
#ifndef SCALEBENCH_KERNELS_OPTIMIZER_TABLES_H
#define SCALEBENCH_KERNELS_OPTIMIZER_TABLES_H

#include "kernels/kernels.h"

struct optimizer_rule {
    int slots; /* numbers of state a parameter */
    /* optimizer_step on [begin, end) in one thread: every element by itself, so that the bits do
     * not depend on how the range is cut. */
    void (*update)(const struct optimizer *o, real *params, const real *grads, size_t begin,
                   size_t end, uint64_t step, double lr);
};

#define OPTIMIZER(name, summary) extern const struct optimizer_rule optimizer_##name;
#include "kernels/desc/optimizers.def"
#undef OPTIMIZER

#endif
