/* Gradients as the bytes that a serialising library would send: each tensor behind a header, copied
 * out and copied in again. Stands in for Python's pickle, whose headers are longer and whose copies
 * are the same. */
#pragma once

#include "comm/strategy.h"

/* Bytes of this strategy's gradients. */
size_t pickle_size(const struct sync *s);

/* Serialises the gradient arena to `bytes` [pickle_size]. */
void pickle_dump(struct sync *s, unsigned char *bytes);

/* Reads `bytes` of `size` into `grads` [arenas.n]; ERR_MPI when they are not a gradient of this
 * net. */
enum status pickle_load(struct sync *s, const unsigned char *bytes, size_t size, real *grads,
                        struct error *e);
