/* 16-bit weights for train.precision bf16 or fp16. The parameter arena holds full-precision master
 * weights, so that updates too small for 16 bits add up (Micikevicius et al., "Mixed precision
 * training", 2018). */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "comm/strategy.h"
#include "kernels/cast16.h"

struct weights16 {
    /* conversion to and from 16 bits; NULL: ops read the parameter arena */
    const struct cast16 *cast;
    const struct arenas *arenas;
    struct pool *pool;
    uint16_t *stored; /* [n] parameters rounded to 16 bits */
    real *op;         /* weights of the current op, widened to `real` */
};

/* Opens *w. `longest` is the largest number of parameters in one op. arenas and pool are borrowed.
 * Call weights16_close in any case. */
enum status weights16_open(struct weights16 *w, enum precision precision, enum isa isa,
                           const struct arenas *arenas, struct pool *pool, size_t longest,
                           struct error *e);
void weights16_close(struct weights16 *w);

/* Returns the weights of an op, at the same offsets as in the parameter arena, valid until the next
 * call. `tensors`: the op's tensors; only their weights may be read. `rounds`: whether to round the
 * op's parameters to 16 bits again; if false, uses the last rounding. If w->cast is NULL, returns
 * the parameter arena itself. */
const real *weights16_of(const struct weights16 *w, struct range tensors, bool rounds);
