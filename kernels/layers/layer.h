/* Compute of layers, one at a time: what every kind offers. */
#pragma once

#include "kernels/base/exec.h"
#include "kernels/desc/net_desc.h"

/* One call on n >= 1 images. `saved` holds what forward leaves for backward of the same images;
 * `scratch` holds nothing between calls; both are aligned and may be NULL when their size is 0. */
struct layer_call {
    const struct exec *ex;
    const struct layer_desc *layer;
    int n;
    real *y;       /* [N,out]: forward writes it, backward reads it */
    const real *x; /* [N,in] */
    real *dx;      /* [N,in], NULL when nobody wants it */
    const real *dy;
    const real *params; /* the layer's first tensor, NULL if it has none */
    real *dparams;      /* laid out as params */
    void *saved, *scratch;
};

/* Compute of one kind of layer; one const table a file, named layer_<name>. */
struct layer_kernel {
    const struct layer_kernel *reference; /* its twin; NULL: it is plain loops itself */
    /* NULL: it keeps nothing for backward, or needs no scratch. */
    size_t (*saved_bytes)(const struct layer_desc *layer, int n);
    size_t (*scratch_bytes)(const struct layer_desc *layer, int n, int threads);
    void (*forward)(const struct layer_call *c);  /* y <- x, params */
    void (*backward)(const struct layer_call *c); /* dx, dparams <- dy */
};

/* What a kernel's hooks say, 0 where it has none. */
size_t layer_saved_bytes(const struct layer_kernel *kernel, const struct layer_desc *layer, int n);
size_t layer_scratch_bytes(const struct layer_kernel *kernel, const struct layer_desc *layer, int n,
                           int threads);

const struct layer_kernel *layer_kernel_get(enum layer_kind kind, enum plan plan);
