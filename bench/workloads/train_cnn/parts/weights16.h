/* Weights of 16 bits, which a net of train.precision bf16 or fp16 computes with. The arena of parameters
 * holds the master weights of full precision, on which the optimizer steps, so that steps too small for 16
 * bits add up (Micikevicius et al., "Mixed precision training", 2018). Kernels take `real`, and some round
 * to bf16 again what they make of it: the weights of an op are widened for as long as it runs. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "comm/strategy.h"
#include "kernels/cast16.h"

struct weights16 {
    const struct cast16 *cast; /* NULL: ops compute with the parameters as they are */
    const struct arenas *arenas;
    struct pool *pool;
    uint16_t *stored; /* [n] */
    real *op;         /* those of one op, widened */
};

/* `longest`: numbers of the op that has most; arenas and pool are borrowed. Closed with weights16_close in
 * any case. */
enum status weights16_open(struct weights16 *w, enum precision precision, enum isa isa,
                           const struct arenas *arenas, struct pool *pool, size_t longest,
                           struct error *e);
void weights16_close(struct weights16 *w);

/* What an op computes with, as an arena of which its own tensors may be read, until the next call: the
 * parameters as they are now, rounded, or without `rounds` as they were rounded last. */
const real *weights16_of(const struct weights16 *w, struct range tensors, bool rounds);
