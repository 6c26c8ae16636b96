/* 16-bit weights for train.precision bf16 or fp16. The parameter arena holds full-precision master
 * weights for the optimizer, so that updates too small for 16 bits add up (Micikevicius et al.,
 * "Mixed precision training", 2018). Kernels take `real`, so the weights of an op are widened while
 * it runs. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "comm/strategy.h"
#include "kernels/cast16.h"

struct weights16 {
    const struct cast16 *cast; /* NULL: ops use the parameters themselves */
    const struct arenas *arenas;
    struct pool *pool;
    uint16_t *stored; /* [n] rounded parameters */
    real *op;         /* widened weights of one op */
};

/* longest: largest number of parameters in an op. arenas and pool are borrowed. Call
 * weights16_close in any case. */
enum status weights16_open(struct weights16 *w, enum precision precision, enum isa isa,
                           const struct arenas *arenas, struct pool *pool, size_t longest,
                           struct error *e);
void weights16_close(struct weights16 *w);

/* Returns the weights of an op at their arena offsets, valid until the next call. Only `tensors`
 * may be read. `rounds`: round the current parameters; else use the last rounding. */
const real *weights16_of(const struct weights16 *w, struct range tensors, bool rounds);
