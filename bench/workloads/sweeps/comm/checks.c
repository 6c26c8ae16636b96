/* Checks the result of a step. Without a compressor, the result must be the sum of the ranks'
 * gradients; with a 16-bit compressor, the rounded sum of the rounded gradients. With error
 * feedback, each rank sends a part of gradient plus residual and keeps the rest as its new
 * residual. The result must then be the sum of the sent parts. A sent part is
 *
 *   topk      the k numbers of largest magnitude, unchanged
 *   sign      the sign of each number times the mean magnitude of the tensor
 *   powersgd  a low-rank projection; norm(new residual) <= norm(gradient + residual)
 *
 * The rank of the projection is checked by the number of bytes sent (counts_agree in rows.c). */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench/workloads/sweeps/comm/sweep.h"
#include "comm/compress.h"
#include "comm/cost/strategies/bucketed.h"
#include "comm/local_ops.h"
#include "kernels/base/mem.h"

/* Vectors [n] of this rank for the step that is checked. */
struct trial {
    /* `there`: gradient plus residual before the step; `taken`: the part of `there` that was
     * compressed and sent */
    real *there, *taken;
    real *sum; /* sum of `taken` over all ranks */
    const real *kept, *result;
    double size; /* sum over all ranks of each rank's norm of `there` (gradient plus residual) */
    struct mem_room memory;
};

static enum status trial_open(struct trial *t, size_t n, struct error *e)
{
    TRY(MEM_KEEP(&t->memory, t->there, n, "a check of gradients", e));
    TRY(MEM_KEEP(&t->memory, t->taken, n, "a check of gradients", e));
    return MEM_KEEP(&t->memory, t->sum, n, "a check of gradients", e);
}

static double norm(const real *x, size_t n)
{
    static const struct exec plain;
    return sqrt(local_norm2(&plain, x, n));
}

/* ---- Sums ---- */

/* Returns whether x [n] repeats the numbers `expected` [PERIOD]. Two NaN count as equal. */
static bool is_repeated(const real *x, size_t n, const real expected[PERIOD])
{
    bool good = true;
    for (size_t i = 0; i < n; i += PERIOD)
        for (size_t k = 0; k < PERIOD && i + k < n; k++)
            good = good && (x[i + k] == expected[k] || (isnan(x[i + k]) && isnan(expected[k])));
    return good;
}

/* Sets *good to whether the parameters after sync_eval_begin are correct: minus the sum of
 * gradients after an odd step, 0 after an even step. */
static enum status check_strategy(struct sweep *s, struct contender *c, size_t n, bool *good,
                                  struct error *e)
{
    real expected[PERIOD];
    gradients_sum(s, c, expected);
    for (int i = 0; i < PERIOD; i++)
        expected[i] = c->steps % 2 == 1 ? -expected[i] : 0;
    TRY(sync_eval_begin(c->sync, e));
    *good = is_repeated(c->sync->arenas.params, n, expected);
    return sync_eval_end(c->sync, e);
}

static bool check_raw(const struct sweep *s, const struct contender *c, size_t n)
{
    real expected[PERIOD];
    gradients_sum(s, c, expected);
    return is_repeated(c->sums, n, expected);
}

static enum status check_16_bits(const struct sweep *s, const struct contender *c, size_t n,
                                 bool *good, struct error *e)
{
    real own[PERIOD], sums[PERIOD] = {0};
    uint16_t wire[PERIOD];
    bool fp16 = c->config.compressor == COMPRESSOR_fp16;
    float factor = fp16 ? (float)c->config.options[SYNC_fp16_scale] : 1;
    enum isa isa;
    TRY(isa_choose(&isa, false, e));
    const struct cast16 *cast = fp16 ? &cast16_get(isa)->fp16 : &cast16_get(isa)->bf16;
    for (int r = 0; r < s->ranks; r++) {
        gradients_fill(c, r, own, PERIOD);
        cast->encode(wire, own, PERIOD, factor);
        cast->add(sums, wire, PERIOD, 1 / factor);
    }
    cast->encode(wire, sums, PERIOD, factor);
    cast->decode(sums, wire, PERIOD, 1 / factor);
    *good = is_repeated(c->sync->arenas.grads, n, sums);
    return OK;
}

/* ---- Error feedback ---- */

static bool are_largest(const struct contender *c, const struct trial *t, size_t begin, size_t n)
{
    size_t k = topk_count(n, 0.01 * c->config.options[SYNC_topk]), taken = 0;
    double least = INFINITY, most = 0;
    for (size_t i = begin; i < begin + n; i++) {
        taken += t->taken[i] != 0;
        if (t->taken[i] != 0)
            least = fmin(least, fabs((double)t->taken[i]));
        most = fmax(most, fabs((double)t->kept[i]));
    }
    return taken <= k && least >= most && (taken == k || most == 0);
}

/* Checks each vector that one call sums (a bucket, a tensor or the whole gradient): the numbers
 * sent must be the k largest by magnitude. */
static bool check_topk(const struct problem *p, const struct contender *c, const struct trial *t)
{
    const size_t n = (size_t)p->desc->n_tensors;
    struct strategy_config cut = c->config;
    bool good = true;
    if (c->kind != STRATEGY_bucketed)
        cut.options[SYNC_first_cap_mib] = cut.options[SYNC_cap_mib] =
            c->kind == STRATEGY_allreduce_layer ? 0 : 0x1p30;
    struct bucket b = bucket_first(&cut, p->counts, n, sizeof(real));
    for (; b.first < b.last; b = bucket_next(&cut, p->counts, sizeof(real), &b))
        good = good && are_largest(c, t, p->desc->tensors[b.first].offset, b.count);
    return good;
}

/* Checks that each sent number has the sign of its input (gradient plus residual) and the mean
 * magnitude of the tensor's inputs. The tolerances cover the rounding of this mean to 8 bits and
 * the rounding of the new residuals. */
static bool check_sign(const struct problem *p, const struct trial *t)
{
    bool good = true;
    for (int i = 0; i < p->desc->n_tensors; i++) {
        size_t n = p->counts[i], first = p->desc->tensors[i].offset;
        double mean = 0, least = INFINITY, most = 0;
        for (size_t k = first; k < first + n; k++) {
            double x = fabs((double)t->there[k]), taken = fabs((double)t->taken[k]);
            mean += x / (double)n;
            least = fmin(least, taken + 4 * (double)REAL_EPSILON * x);
            most = fmax(most, taken - 4 * (double)REAL_EPSILON * x);
            good = good && (taken == 0 || t->there[k] == 0 ||
                            (signbit(t->taken[k]) != 0) == (signbit(t->there[k]) != 0));
        }
        double room = (0x1p-8 + 4 * (double)REAL_EPSILON) * mean;
        good = good && (n == 0 || (most <= least + 8 * (double)REAL_EPSILON * mean &&
                                   fabs(most - mean) <= room + (most - least)));
    }
    return good;
}

/* Checks for each tensor that norm(new residual) <= norm(gradient + old residual). Uncompressed
 * tensors must have no residual. The tolerance covers rounding: the columns of PowerSGD's matrix P
 * are orthonormal only up to the rounding of sums over the shorter side of the tensor's matrix. */
static bool check_powersgd(const struct problem *p, const struct contender *c,
                           const struct trial *t)
{
    bool good = true;
    for (int i = 0; i < p->desc->n_tensors; i++) {
        size_t n = p->counts[i], first = p->desc->tensors[i].offset;
        struct low_rank shape = low_rank_of(n, p->rows[i], (int)c->config.options[SYNC_rank]);
        double slack = 4 * (double)(shape.side + 1) * (double)REAL_EPSILON;
        good = good && norm(t->kept + first, n) <= (1 + slack) * norm(t->there + first, n);
        if (shape.rank == 0)
            good = good && norm(t->kept + first, n) == 0;
    }
    return good;
}

/* Returns whether the result is the sum of all ranks' sent parts: exactly with topk, otherwise up
 * to rounding. Each operation may round by eps times t->size (sum of all ranks' norms of gradient
 * plus residual). With powersgd, each sent number is a rounded sum of `rank` products. */
static bool is_sum_of_taken(const struct sweep *s, const struct contender *c, struct trial *t,
                            size_t n)
{
    double rank =
        c->config.compressor == COMPRESSOR_powersgd ? (int)c->config.options[SYNC_rank] : 0;
    double roundings = 4 * (s->ranks + 2 + pow(rank, 1.5));
    bool exact = c->config.compressor == COMPRESSOR_topk;
    for (size_t i = 0; i < n; i++)
        t->sum[i] -= t->result[i];
    double off = norm(t->sum, n);
    return exact ? off == 0 : off <= roundings * (double)REAL_EPSILON * t->size;
}

static enum status add_up(struct sweep *s, struct trial *t, size_t n, struct error *e)
{
    for (size_t i = 0; i < n; i++)
        t->sum[i] = t->taken[i] = t->there[i] - t->kept[i];
    t->size = norm(t->there, n);
    TRY(wait_allreduce(&s->waiter, t->sum, n, MPI_REAL_TYPE, MPI_SUM, MPI_COMM_WORLD,
                       "sum of the compressed parts", e));
    return wait_allreduce(&s->waiter, &t->size, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD,
                          "norms of gradients and residuals", e);
}

static enum status check_feedback(struct sweep *s, const struct problem *p, struct contender *c,
                                  struct trial *t, bool *good, struct error *e)
{
    size_t n = p->desc->n_params;
    TRY(add_up(s, t, n, e));
    switch (c->config.compressor) {
    case COMPRESSOR_topk:
        *good = check_topk(p, c, t);
        break;
    case COMPRESSOR_sign:
        *good = check_sign(p, t);
        break;
    default:
        *good = check_powersgd(p, c, t);
    }
    *good = is_sum_of_taken(s, c, t, n) && *good;
    return OK;
}

/* ---- A step ---- */

/* Returns the relative error of the result, ||result - sum of gradients|| / ||sum of
 * gradients||. */
static double error_of(const struct sweep *s, const struct contender *c, size_t n)
{
    const real *result = c->sync->arenas.grads;
    real sums[PERIOD];
    double off = 0, size = 0;
    gradients_sum(s, c, sums);
    for (size_t i = 0; i < n; i++) {
        double d = (double)result[i] - (double)sums[i % PERIOD];
        off += d * d;
        size += (double)sums[i % PERIOD] * (double)sums[i % PERIOD];
    }
    return size > 0 ? sqrt(off / size) : 0;
}

static enum status try_step(struct sweep *s, const struct problem *p, struct contender *c,
                            struct trial *t, bool *good, struct error *e)
{
    size_t n = p->desc->n_params, bytes;
    TRY(trial_open(t, n, e));
    struct sync *sync = c->sync;
    bool feedback = (compressor_flags(c->config.compressor) & COMPRESSOR_FEEDBACK) != 0;
    int64_t ns;
    if (feedback) {
        /* the compressor's memory begins with the residuals */
        t->kept = sync->compressor->memory(sync, &bytes);
        memcpy(t->there, t->kept, n * sizeof *t->there);
    }
    TRY(contender_step(s, p, c, &ns, e));
    c->sum_error = error_of(s, c, n);
    if (!feedback)
        return check_16_bits(s, c, n, good, e);
    t->result = sync->arenas.grads;
    gradients_fill(c, s->rank, t->sum, n);
    for (size_t i = 0; i < n; i++)
        t->there[i] += t->sum[i];
    return check_feedback(s, p, c, t, good, e);
}

static enum status check_compressed(struct sweep *s, const struct problem *p, struct contender *c,
                                    bool *good, struct error *e)
{
    struct trial t = {0};
    enum status status = try_step(s, p, c, &t, good, e);
    mem_room_empty(&t.memory);
    return status;
}

enum status contender_check(struct sweep *s, const struct problem *p, struct contender *c,
                            struct error *e)
{
    size_t n = p->desc->n_params;
    bool good = true;
    if (c->is_raw)
        good = check_raw(s, c, n);
    else if (c->config.compressor != COMPRESSOR_none)
        TRY(check_compressed(s, p, c, &good, e));
    else
        TRY(check_strategy(s, c, n, &good, e));
    int all = good;
    TRY(wait_allreduce(&s->waiter, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD,
                       "agreement on a verdict", e));
    c->is_right = c->is_right && all;
    return OK;
}
