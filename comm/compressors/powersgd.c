/* powersgd (Vogels, Karimireddy, Jaggi: "PowerSGD: practical low-rank gradient compression for
 * distributed optimization", 2019), with error feedback and warm start. M is the gradient of a
 * tensor of two or more dimensions, as a matrix of dims[0] rows, transposed if it has more rows
 * than columns. Each sum below is one MPI_Allreduce for all tensors of a call:
 *
 *   M += residual
 *   P = sum(M Q), replaced by an orthonormal basis of P (Gram-Schmidt)
 *   residual = M - P (M'P)'
 *   Q = sum(M'P);   gradient = P Q';   Q is kept for the next step
 *
 * M' is the transpose of M. Over all ranks, the sent parts and the residuals add up to the
 * gradients, up to rounding. Tensors with fewer than two rows or columns are sent unchanged, in the
 * same call as P.
 *
 * P has sync.rank vectors, but at most as many as M has rows. With one vector per row, the sum is
 * exact up to rounding. No bytes are saved if sync.rank is rows * columns / (rows + columns) or
 * more. */
#include "comm/compress.h"
#include "comm/local_ops.h"
#include "kernels/base/rng.h"

#define OPERATION_P "allreduce of low-rank factors P"
#define OPERATION_Q "allreduce of low-rank factors Q"

/* Low-rank factors of one tensor. A tensor with fewer than two rows or columns is stored whole in
 * the buffer of P. */
struct part {
    struct low_rank shape;
    size_t p, q; /* offsets of factors P and Q in their buffers (in elements) */
};

struct powersgd {
    struct part *parts; /* [n_tensors + 1] one per tensor; p and q of the last element are the total
                           sizes */
    real *memory;       /* residual [n], then Q of all tensors [n_q] */
    real *p;
    size_t n_q;
};

static real *residual_of(const struct sync *s, int i)
{
    const struct powersgd *c = s->compression;
    return c->memory + s->arenas.tensors[i].offset;
}

static real *p_of(const struct sync *s, int i)
{
    const struct powersgd *c = s->compression;
    return c->p + c->parts[i].p;
}

static real *q_of(const struct sync *s, int i)
{
    const struct powersgd *c = s->compression;
    return c->memory + s->arenas.n + c->parts[i].q;
}

static const struct low_rank *shape_of(const struct sync *s, int i)
{
    const struct powersgd *c = s->compression;
    return &c->parts[i].shape;
}

static void place_parts(const struct sync *s, struct part *parts)
{
    size_t p = 0, q = 0;
    for (int i = 0; i < s->arenas.n_tensors; i++) {
        size_t count = s->counts[i];
        struct low_rank shape =
            low_rank_of(count, s->config.rows[i], (int)s->config.options[SYNC_rank]);
        parts[i] = (struct part){.shape = shape, .p = p, .q = q};
        p += low_rank_p(&shape, count);
        q += low_rank_q(&shape);
    }
    parts[s->arenas.n_tensors] = (struct part){.p = p, .q = q};
}

static enum status powersgd_create(struct sync *s, struct error *e)
{
    size_t n = (size_t)s->arenas.n_tensors;
    struct powersgd *c = s->compression;
    TRY(MEM_KEEP(&s->memory, c->parts, n + 1, "low-rank factors of tensors", e));
    place_parts(s, c->parts);
    c->n_q = c->parts[n].q;
    TRY(MEM_KEEP(&s->memory, c->p, c->parts[n].p, "low-rank factors P", e));
    return MEM_KEEP(&s->memory, c->memory, s->arenas.n + c->n_q, "residuals and low-rank factors Q",
                    e);
}

static void *powersgd_memory(struct sync *s, size_t *bytes)
{
    struct powersgd *c = s->compression;
    *bytes = (s->arenas.n + c->n_q) * sizeof *c->memory;
    return c->memory;
}

/* Sets the residual to 0 and Q to uniform random numbers, the same on every rank. */
static void powersgd_begin(struct sync *s)
{
    struct powersgd *c = s->compression;
    real *q = c->memory + s->arenas.n;
    local_fill(s->exec, c->memory, s->arenas.n, 0);
    for (size_t i = 0; i < c->n_q; i++)
        q[i] = (real)(2 * rng_unit(rng_word(s->exec->seed, RNG_STREAM(RNG_COMPRESS, 0),
                                            (uint32_t)(i >> 32), 0, (uint32_t)i)) -
                      1);
}

/* Adds this rank's gradient to the residual, then computes P = residual * Q. Tensors that are not
 * matrices are only copied. */
static void project(struct sync *s, int i)
{
    const struct low_rank *shape = shape_of(s, i);
    const real *grads = s->arenas.grads + s->arenas.tensors[i].offset;
    if (shape->rank == 0) {
        local_copy(s->exec, p_of(s, i), grads, s->counts[i] * sizeof *grads);
        return;
    }
    local_add(s->exec, residual_of(s, i), grads, s->counts[i]);
    local_low_rank_p(s->exec, shape, p_of(s, i), residual_of(s, i), q_of(s, i));
}

/* Orthonormalises the summed P. Then computes this rank's Q and the new residual. */
static void take(struct sync *s, int i)
{
    const struct low_rank *shape = shape_of(s, i);
    if (shape->rank == 0)
        return;
    local_orthonormalize(s->exec, p_of(s, i), shape->side, shape->rank);
    local_low_rank_q(s->exec, shape, q_of(s, i), residual_of(s, i), p_of(s, i));
    local_low_rank_subtract(s->exec, shape, residual_of(s, i), p_of(s, i), q_of(s, i));
}

static void expand(struct sync *s, int i)
{
    const struct low_rank *shape = shape_of(s, i);
    real *grads = s->arenas.grads + s->arenas.tensors[i].offset;
    if (shape->rank == 0)
        local_copy(s->exec, grads, p_of(s, i), s->counts[i] * sizeof *grads);
    else
        local_low_rank_product(s->exec, shape, grads, p_of(s, i), q_of(s, i));
}

static void for_each(struct sync *s, struct range tensors, void (*work)(struct sync *, int))
{
    sync_pack_begin(s);
    for (int i = tensors.first; i < tensors.last; i++)
        work(s, i);
    sync_pack_end(s);
}

/* Sums x [n] over ranks. Makes no MPI call if n is 0. */
static enum status sum(struct sync *s, real *x, size_t n, const char *operation, struct error *e)
{
    return n > 0 ? sync_allreduce(s, x, n, operation, e) : OK;
}

static enum status powersgd_sum(struct sync *s, struct range tensors, struct error *e)
{
    const struct powersgd *c = s->compression;
    const struct part *first = &c->parts[tensors.first], *end = &c->parts[tensors.last];
    for_each(s, tensors, project);
    TRY(sum(s, c->p + first->p, end->p - first->p, OPERATION_P, e));
    for_each(s, tensors, take);
    TRY(sum(s, q_of(s, tensors.first), end->q - first->q, OPERATION_Q, e));
    for_each(s, tensors, expand);
    return OK;
}

const struct compressor compressor_powersgd = {
    .context_bytes = sizeof(struct powersgd),
    .create = powersgd_create,
    .sum = powersgd_sum,
    .memory = powersgd_memory,
    .begin = powersgd_begin,
};
