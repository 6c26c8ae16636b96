/* Whether a compressed sum is what its compressor promises. Those of 16 bits: the sum of the ranks'
 * rounded gradients, rounded. Those with error feedback: of what there was, gradients and residual,
 * each rank takes something out, keeps the rest, and the result is the sum of what was taken; and
 * what was taken is
 *
 *   topk      the k largest numbers, as they were
 *   sign      one magnitude a tensor, the mean of all, with the sign of each number
 *   powersgd  no more than there was: a projection; that it has the rank it should is in
 *             the bytes */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench/workloads/sweeps/comm/sweep.h"
#include "comm/compress.h"
#include "comm/local_ops.h"
#include "kernels/base/mem.h"

/* Of one step on this rank, [n] each. */
struct trial {
    real *there, *taken; /* gradients and residual before; what was taken out of them */
    real *sum;           /* of `taken` over all ranks */
    const real *kept, *result;
    double size; /* sum of the norms of all ranks' `there` */
};

static bool trial_open(struct trial *t, size_t n)
{
    t->there = mem_alloc(n * sizeof *t->there);
    t->taken = mem_alloc(n * sizeof *t->taken);
    t->sum = mem_alloc(n * sizeof *t->sum);
    return t->there != NULL && t->taken != NULL && t->sum != NULL;
}

static void trial_close(struct trial *t)
{
    mem_free(t->there);
    mem_free(t->taken);
    mem_free(t->sum);
}

static double norm(const real *x, size_t n)
{
    static const struct exec plain;
    return sqrt(local_norm2(&plain, x, n));
}

/* ---- 16 bits ---- */

static bool is_same(real a, real b)
{
    return a == b || (isnan(a) && isnan(b));
}

static enum status check_16_bits(const struct sweep *s, const struct entry *entry, size_t n,
                                 bool *good, struct error *e)
{
    real own[PERIOD], sums[PERIOD] = {0};
    uint16_t wire[PERIOD];
    const float scale = (float)entry->config.fp16_scale;
    bool fp16 = entry->config.compressor == COMPRESSOR_fp16;
    enum isa isa;
    TRY(isa_choose(&isa, e));
    const struct cast16 *cast = fp16 ? &cast16_get(isa)->fp16 : &cast16_get(isa)->bf16;
    float factor = fp16 ? scale : 1;
    for (int r = 0; r < s->ranks; r++) {
        gradients_fill(entry, r, own, PERIOD);
        cast->encode(wire, own, PERIOD, factor);
        cast->add(sums, wire, PERIOD, 1 / factor);
    }
    cast->encode(wire, sums, PERIOD, factor);
    cast->decode(sums, wire, PERIOD, 1 / factor);
    const real *result = entry->sync->arenas.grads;
    *good = true;
    for (size_t i = 0; i < n; i++)
        *good = *good && is_same(result[i], sums[i % PERIOD]);
    return OK;
}

/* ---- Error feedback ---- */

/* The tensors that numbers of one selection come from: all, or one after the other. */
static int selections(const struct entry *entry, const struct problem *p)
{
    return entry->kind == STRATEGY_allreduce_layer ? p->desc->n_tensors : 1;
}

static bool are_largest(const struct entry *entry, const struct trial *t, size_t begin, size_t n)
{
    size_t k = topk_count(n, entry->config.topk_share), taken = 0;
    double least = INFINITY, most = 0;
    for (size_t i = begin; i < begin + n; i++) {
        taken += t->taken[i] != 0;
        if (t->taken[i] != 0)
            least = fmin(least, fabs((double)t->taken[i]));
        most = fmax(most, fabs((double)t->kept[i]));
    }
    return taken <= k && least >= most && (taken == k || most == 0);
}

static bool check_topk(const struct problem *p, const struct entry *entry, const struct trial *t)
{
    bool good = true;
    if (selections(entry, p) == 1)
        return are_largest(entry, t, 0, p->desc->n_params);
    for (int i = 0; i < p->desc->n_tensors; i++)
        good = good && are_largest(entry, t, p->desc->tensors[i].offset, p->counts[i]);
    return good;
}

/* A magnitude is rounded to 8 bits; taking it out of a number rounds to what that number has
 * left. */
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

/* The bound of what P's rounding, from orthonormal columns, can add is that of a sum of as many
 * products as a matrix' shorter side. */
static bool check_powersgd(const struct problem *p, const struct entry *entry,
                           const struct trial *t)
{
    bool good = true;
    for (int i = 0; i < p->desc->n_tensors; i++) {
        size_t n = p->counts[i], first = p->desc->tensors[i].offset;
        struct low_rank shape = low_rank_of(n, p->rows[i], entry->config.powersgd_rank);
        double slack = 4 * (double)(shape.side + 1) * (double)REAL_EPSILON;
        good = good && norm(t->kept + first, n) <= (1 + slack) * norm(t->there + first, n);
        if (shape.rank == 0)
            good = good && norm(t->kept + first, n) == 0;
    }
    return good;
}

/* Taking a part out of a number and adding parts up rounds each time, by eps of what there was at
 * most; of powersgd a part is itself a sum of `rank` products. */
static bool is_sum_of_taken(const struct sweep *s, const struct entry *entry, struct trial *t,
                            size_t n)
{
    double rank = entry->config.compressor == COMPRESSOR_powersgd ? entry->config.powersgd_rank : 0;
    double roundings = 4 * (s->ranks + 2 + pow(rank, 1.5));
    bool exact = entry->config.compressor == COMPRESSOR_topk;
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
    enum status status = wait_allreduce(&s->waiter, t->sum, n, MPI_REAL_TYPE, MPI_SUM,
                                        MPI_COMM_WORLD, "sum of what was taken", e);
    return status == OK ? wait_allreduce(&s->waiter, &t->size, 1, MPI_DOUBLE, MPI_SUM,
                                         MPI_COMM_WORLD, "size of what there was", e)
                        : status;
}

static enum status check_feedback(struct sweep *s, const struct problem *p, struct entry *entry,
                                  struct trial *t, bool *good, struct error *e)
{
    size_t n = p->desc->n_params;
    TRY(add_up(s, t, n, e));
    switch (entry->config.compressor) {
    case COMPRESSOR_topk:
        *good = check_topk(p, entry, t);
        break;
    case COMPRESSOR_sign:
        *good = check_sign(p, t);
        break;
    default:
        *good = check_powersgd(p, entry, t);
    }
    *good = is_sum_of_taken(s, entry, t, n) && *good;
    return OK;
}

/* ---- A step ---- */

/* ||result - sum of gradients|| / ||sum of gradients|| */
static double error_of(const struct sweep *s, const struct entry *entry, size_t n)
{
    const real *result = entry->sync->arenas.grads;
    real own[PERIOD], sums[PERIOD] = {0};
    double off = 0, size = 0;
    for (int r = 0; r < s->ranks; r++) {
        gradients_fill(entry, r, own, PERIOD);
        for (int i = 0; i < PERIOD; i++)
            sums[i] += own[i];
    }
    for (size_t i = 0; i < n; i++) {
        double d = (double)result[i] - (double)sums[i % PERIOD];
        off += d * d;
        size += (double)sums[i % PERIOD] * (double)sums[i % PERIOD];
    }
    return size > 0 ? sqrt(off / size) : 0;
}

static enum status try_step(struct sweep *s, const struct problem *p, struct entry *entry,
                            struct trial *t, bool *good, struct error *e)
{
    size_t n = p->desc->n_params, bytes;
    struct sync *sync = entry->sync;
    bool feedback = (compressor_flags(entry->config.compressor) & COMPRESSOR_FEEDBACK) != 0;
    int64_t ns;
    if (feedback) {
        t->kept = sync->compressor->memory(sync, &bytes); /* residuals come first */
        memcpy(t->there, t->kept, n * sizeof *t->there);
    }
    TRY(entry_step(s, p, entry, &ns, e));
    entry->sum_error = error_of(s, entry, n);
    if (!feedback)
        return check_16_bits(s, entry, n, good, e);
    t->result = sync->arenas.grads;
    gradients_fill(entry, s->rank, t->sum, n);
    for (size_t i = 0; i < n; i++)
        t->there[i] += t->sum[i];
    return check_feedback(s, p, entry, t, good, e);
}

enum status compressed_check(struct sweep *s, const struct problem *p, struct entry *entry,
                             bool *good, struct error *e)
{
    struct trial t = {0};
    enum status status =
        trial_open(&t, p->desc->n_params)
            ? try_step(s, p, entry, &t, good, e)
            : error_set(e, ERR_MEMORY, "no memory to check %zu numbers", p->desc->n_params);
    trial_close(&t);
    return status;
}
