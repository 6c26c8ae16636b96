/* Signs with error feedback. One bit a number goes back to Seide et al., "1-bit stochastic gradient
 * descent", 2014; this is the EF-signSGD of Karimireddy et al., "Error feedback fixes SignSGD and
 * other gradient compression schemes", 2019: of a tensor's n numbers x a rank sends the signs and
 * the mean magnitude |x|_1 / n. Every rank adds what all sent, in the order of ranks: a mean of
 * scaled signs, not a majority vote. The difference is kept for the next step.
 *
 * The scale is rounded to 8 significant bits (bf16), so that taking it from x is exact as long as x
 * has bits to spare: what is sent and what is kept then make up what there was, to the bit. */
#include <stdlib.h>

#include "comm/compress.h"
#include "comm/local_ops.h"
#include "kernels/base/mem.h"

struct sign {
    struct exchanger exchanger;
    const struct cast16 *rounding;
    real *residual;         /* [n] */
    unsigned char *packets; /* [ranks][of a scale a tensor, then a bit a number] */
};

static enum status sign_create(struct sync *s, struct error *e)
{
    enum isa isa;
    size_t n = s->arenas.n, ranks = (size_t)s->ranks, tensors = (size_t)s->arenas.n_tensors;
    struct sign *c = s->compression = calloc(1, sizeof *c);
    if (c == NULL)
        return error_set(e, ERR_MEMORY, "no memory for a compressor");
    if (isa_choose(&isa, e) != OK || exchanger_open(&c->exchanger, s->ranks, e) != OK)
        return e->status;
    c->rounding = &cast16_get(isa)->bf16;
    c->residual = mem_alloc(n * sizeof *c->residual);
    c->packets = mem_alloc(ranks * sign_packet_bytes(tensors, n, sizeof(real)));
    if (c->residual == NULL || c->packets == NULL)
        return error_set(e, ERR_MEMORY, "no memory for the signs of %zu numbers of %d ranks", n,
                         s->ranks);
    return OK;
}

static void sign_destroy(struct sync *s)
{
    struct sign *c = s->compression;
    if (c == NULL)
        return;
    exchanger_close(&c->exchanger);
    mem_free(c->residual);
    mem_free(c->packets);
    free(c);
}

static void *sign_memory(struct sync *s, size_t *bytes)
{
    struct sign *c = s->compression;
    *bytes = s->arenas.n * sizeof *c->residual;
    return c->residual;
}

static void sign_begin(struct sync *s)
{
    struct sign *c = s->compression;
    local_fill(s->exec, c->residual, s->arenas.n, 0);
}

static real scale_of(const struct sync *s, const real *x, size_t n)
{
    const struct sign *c = s->compression;
    real scale = n > 0 ? (real)(local_norm1(s->exec, x, n) / (double)n) : 0;
    uint16_t rounded;
    c->rounding->encode(&rounded, &scale, 1, 1);
    c->rounding->decode(&scale, &rounded, 1, 1);
    return scale;
}

/* Where the bits of a packet lie, and the number of the first of a tensor's. */
static uint64_t *bits_of(unsigned char *packet, struct range tensors)
{
    size_t n = (size_t)(tensors.last - tensors.first);
    return (uint64_t *)(packet + sign_packet_bytes(n, 0, sizeof(real)));
}

static void encode(struct sync *s, struct range tensors, unsigned char *packet)
{
    const struct sign *c = s->compression;
    real *scales = (real *)packet;
    uint64_t *bits = bits_of(packet, tensors);
    size_t first = span_of(&s->arenas, tensors).begin;
    for (int i = tensors.first; i < tensors.last; i++) {
        const struct tensor_desc *t = &s->arenas.tensors[i];
        real *residual = c->residual + t->offset;
        real scale = scales[i - tensors.first] = scale_of(s, residual, t->count);
        local_take_signs(s->exec, residual, t->count, scale, bits, t->offset - first);
    }
}

static void decode(struct sync *s, struct range tensors, unsigned char *packet)
{
    const real *scales = (const real *)packet;
    const uint64_t *bits = bits_of(packet, tensors);
    size_t first = span_of(&s->arenas, tensors).begin;
    for (int i = tensors.first; i < tensors.last; i++) {
        const struct tensor_desc *t = &s->arenas.tensors[i];
        local_add_signs(s->exec, s->arenas.grads + t->offset, t->count, scales[i - tensors.first],
                        bits, t->offset - first);
    }
}

static enum status sign_sum(struct sync *s, struct range tensors, struct error *e)
{
    struct sign *c = s->compression;
    const struct span span = span_of(&s->arenas, tensors);
    size_t n = (size_t)(tensors.last - tensors.first);
    size_t bytes = span.n > 0 ? sign_packet_bytes(n, span.n, sizeof(real)) : 0;
    const struct shares packets = {.data = c->packets, .n = (size_t)s->ranks, .width = bytes};
    pack_begin(s);
    local_add(s->exec, c->residual + span.begin, s->arenas.grads + span.begin, span.n);
    encode(s, tensors, c->packets + (size_t)s->rank * bytes);
    pack_end(s);
    enum status status =
        exchange_gather(s, &c->exchanger, &packets, "exchange of the gradients' signs", e);
    if (status != OK)
        return status;
    pack_begin(s);
    local_fill(s->exec, s->arenas.grads + span.begin, span.n, 0);
    for (size_t r = 0; r < (size_t)s->ranks; r++)
        decode(s, tensors, c->packets + r * bytes);
    pack_end(s);
    return OK;
}

const struct compressor compressor_sign = {
    .create = sign_create,
    .sum = sign_sum,
    .memory = sign_memory,
    .begin = sign_begin,
    .destroy = sign_destroy,
};
