/* Interface of a layer's forward and backward computation. */
#pragma once

#include "kernels/base/exec.h"
#include "kernels/desc/net_desc.h"

/* Arguments of one call on n >= 1 images. Forward fills `saved` for backward of the same images.
 * `scratch` need not be preserved between calls. Both are aligned. Either can be NULL if its size
 * is 0. */
struct layer_call {
    const struct exec *ex;
    const struct layer_desc *layer;
    int n;
    real *y;       /* [N,out] output of forward, input of backward */
    const real *x; /* [N,in] input */
    real *dx;      /* [N,in] gradient of x; NULL if not needed */
    const real *dy;
    const real *params; /* the layer's parameters, beginning with its first tensor; NULL: none */
    real *dparams;      /* gradients of params, in the same layout */
    void *saved, *scratch;
};

/* Functions that compute one layer kind. The table of a kind is named layer_<name>, with the kind's
 * name in layers.def. The table of a plain-loop version, if there is one, is named
 * layer_<name>_ref. */
struct layer_kernel {
    const struct layer_kernel *reference; /* plain-loop version of these functions; NULL if they are
                                           * plain loops themselves */
    /* Return the sizes in bytes of `saved` and `scratch`. A NULL function means 0 bytes. */
    size_t (*saved_bytes)(const struct layer_desc *layer, int n);
    size_t (*scratch_bytes)(const struct layer_desc *layer, int n, int threads);
    void (*forward)(const struct layer_call *c);  /* computes y from x and params */
    void (*backward)(const struct layer_call *c); /* computes dx and dparams from dy */
};

/* Return the sizes in bytes of `saved` and `scratch` that a kernel needs. */
size_t layer_saved_bytes(const struct layer_kernel *kernel, const struct layer_desc *layer, int n);
size_t layer_scratch_bytes(const struct layer_kernel *kernel, const struct layer_desc *layer, int n,
                           int threads);

const struct layer_kernel *layer_kernel_get(enum layer_kind kind, enum plan plan);
