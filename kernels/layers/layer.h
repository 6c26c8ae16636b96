/* Compute of layers, one at a time: what every kind offers. */
#ifndef SCALEBENCH_KERNELS_LAYERS_LAYER_H
#define SCALEBENCH_KERNELS_LAYERS_LAYER_H

#include "kernels/base/exec.h"
#include "kernels/desc/net_desc.h"

/* Compute of one kind of layer; one const table a file, named layer_<name>. `saved` holds what
 * forward leaves for backward of the same images; `scratch` holds nothing between calls; both are
 * aligned and may be NULL when their size is 0. n >= 1 images. */
struct layer_kernel {
    const char *name;
    size_t (*saved_bytes)(const struct layer_desc *layer, int n);
    size_t (*scratch_bytes)(const struct layer_desc *layer, int n, int threads);
    /* y [N,out] <- x [N,in]; params is the layer's first tensor, NULL if it has none. */
    void (*forward)(const struct exec *ex, const struct layer_desc *layer, int n, real *y,
                    const real *x, const real *params, void *saved, void *scratch);
    /* dx [N,in], dparams (layout of params) <- dy [N,out]. dx is NULL when nobody wants it. */
    void (*backward)(const struct exec *ex, const struct layer_desc *layer, int n, real *dx,
                     real *dparams, const real *dy, const real *x, const real *y,
                     const real *params, const void *saved, void *scratch);
};

/* What a plan is made of. */
enum plan {
#define PLAN(id, name, summary) PLAN_##id,
#include "kernels/desc/plans.def"
#undef PLAN
};
const struct layer_kernel *layer_kernel_get(enum layer_kind kind, enum plan plan);

#endif
