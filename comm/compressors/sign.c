/* sign: signs with error feedback, the EF-signSGD of Karimireddy et al., "Error feedback fixes
 * SignSGD and other gradient compression schemes", 2019. One bit per number goes back to Seide et
 * al., "1-bit stochastic gradient descent", 2014. For the n numbers x of a tensor, a rank sends the
 * signs and the scale |x|_1 / n. Every rank adds all packets in the order of ranks: the result is a
 * sum of scaled signs, not a majority vote.
 *
 * The scale is rounded to 8 significant bits (bf16). Subtracting it from x is then exact, unless
 * the result needs more bits than x has. */
#include "comm/compressors/feedback.h"
#include "comm/local_ops.h"

/* State of the compressor. A packet has one scale per tensor, then one bit per number. */
struct sign {
    struct feedback feedback;
    const struct cast16 *rounding;
};

static enum status sign_create(struct sync *s, struct error *e)
{
    enum isa isa;
    struct sign *c = s->compression;
    size_t bytes = sign_packet_bytes((size_t)s->arenas.n_tensors, s->arenas.n, sizeof(real));
    TRY(feedback_create(s, bytes, e));
    TRY(isa_choose(&isa, false, e));
    c->rounding = &cast16_get(isa)->bf16;
    return OK;
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

/* Returns the byte offset of the sign bits in a packet. */
static size_t bits_at(struct range tensors)
{
    return sign_packet_bytes((size_t)(tensors.last - tensors.first), 0, sizeof(real));
}

static void encode(struct sync *s, struct range tensors, unsigned char *packet)
{
    const struct feedback *f = s->compression;
    real *scales = (real *)packet;
    uint64_t *bits = (uint64_t *)(packet + bits_at(tensors));
    size_t first = span_of(&s->arenas, tensors).begin;
    for (int i = tensors.first; i < tensors.last; i++) {
        const struct tensor_desc *t = &s->arenas.tensors[i];
        real *residual = f->residual + t->offset;
        real scale = scales[i - tensors.first] = scale_of(s, residual, t->count);
        local_take_signs(s->exec, residual, t->count, scale, bits, t->offset - first);
    }
}

static void decode(struct sync *s, struct range tensors, const unsigned char *packet)
{
    const real *scales = (const real *)packet;
    const uint64_t *bits = (const uint64_t *)(packet + bits_at(tensors));
    size_t first = span_of(&s->arenas, tensors).begin;
    for (int i = tensors.first; i < tensors.last; i++) {
        const struct tensor_desc *t = &s->arenas.tensors[i];
        local_add_signs(s->exec, s->arenas.grads + t->offset, t->count, scales[i - tensors.first],
                        bits, t->offset - first);
    }
}

static enum status sign_sum(struct sync *s, struct range tensors, struct error *e)
{
    static const struct packing packing = {"exchange of the gradients' signs", encode, decode};
    size_t n = span_of(&s->arenas, tensors).n, count = (size_t)(tensors.last - tensors.first);
    return feedback_sum(s, tensors, n > 0 ? sign_packet_bytes(count, n, sizeof(real)) : 0, &packing,
                        e);
}

const struct compressor compressor_sign = {
    .context_bytes = sizeof(struct sign),
    .create = sign_create,
    .sum = sign_sum,
    .memory = feedback_memory,
    .begin = feedback_begin,
};
