/* Computes and prints the rows of comm.csv. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench/workloads/sweeps/comm/sweep.h"
#include "kernels/base/mem.h"

#define CONFIDENCE 0.95

/* Returns a row with the columns that describe the sweep: ranks, nodes, wait, turns and mpi. Other
 * columns are empty. */
static struct comm_row common_row(const struct sweep *s)
{
    struct comm_row row;
    csv_clear_row(&sweep_files[SWEEP_COMM], &row);
    row.ranks = s->ranks;
    row.nodes = s->nodes;
    row.wait = wait_name(s->waiter.kind);
    row.turns = s->options->rounds;
    row.mpi = s->mpi;
    return row;
}

static const char *raw_name(const struct sweep *s)
{
    return s->waiter.kind == WAIT_BLOCK ? "MPI_Allreduce" : "MPI_Iallreduce";
}

/* Returns a row with the columns that describe the sweep and the operation. `name`: buffer for the
 * operation's name, to which the row points. */
static struct comm_row begin_row(const struct sweep *s, const struct problem *p,
                                 const struct contender *c, char name[CONTENDER_NAME])
{
    struct comm_row row = common_row(s);
    row.part = p->part;
    row.model = p->model;
    row.bytes = (double)(p->desc->n_params * sizeof(real));
    row.tensors = c->is_raw ? 1 : p->desc->n_tensors;
    row.operation = c->is_raw ? raw_name(s) : strategy_names()[c->kind];
    row.variant = strategy_variant_name(c->config.variant);
    row.name = contender_name(c, name);
    enum compressor_kind compressor = c->config.compressor;
    if (!c->is_raw && (strategy_flags(c->kind) & STRATEGY_COMPRESSES))
        row.compressor = compressor_names()[compressor];
    if ((strategy_flags(c->kind) & STRATEGY_ALGORITHMS) &&
        (compressor_flags(compressor) & COMPRESSOR_ALGORITHMS))
        row.algorithm = algorithm_names()[c->config.algorithm];
    return row;
}

static void print(struct sweep *s, const struct comm_row *row)
{
    if (s->out != NULL)
        csv_write_row(s->out, &sweep_files[SWEEP_COMM], row);
}

void sweep_print_skipped(struct sweep *s, const struct problem *p, const struct contender *c)
{
    char name[CONTENDER_NAME];
    struct comm_row row = begin_row(s, p, c, name);
    row.turns = 0;
    row.verdict = "cannot run";
    print(s, &row);
}

void sweep_print_link(struct sweep *s, const char *operation, size_t bytes, struct interval seconds,
                      double model_s)
{
    struct comm_row row = common_row(s);
    row.part = "link";
    row.operation = operation;
    row.bytes = (double)bytes;
    CSV_SET_INTERVAL(&row, latency_us, seconds, 1e6);
    row.algbw_gbyte_per_s = 1e-9 * row.bytes / seconds.mid;
    row.model_us = 1e6 * model_s;
    row.verdict = "ok";
    print(s, &row);
}

/* ---- Predicted and counted costs ---- */

static bool is_counted(const struct cost *cost)
{
    return strcmp(cost->wire_source, WIRE_COUNTED) == 0;
}

/* Returns whether the counted calls and payload bytes equal the prediction. Also compares sent
 * messages and their bytes if the strategy sends its own messages (WIRE_COUNTED). Returns true
 * without comparing for MPI_Allreduce itself and for strategies without STRATEGY_EXACT. */
static bool counts_agree(const struct contender *c, const struct cost *cost)
{
    if (c->is_raw || !(strategy_flags(c->kind) & STRATEGY_EXACT))
        return true;
    bool agree = c->calls == (double)cost->calls && c->bytes_payload == (double)cost->bytes_payload;
    return agree && (!is_counted(cost) || (c->messages_sent == (double)cost->messages_wire &&
                                           c->bytes_sent == (double)cost->bytes_wire));
}

/* Sets the row's calls, bytes, messages and modelled time to the largest values of any rank.
 * *agree: whether counts_agree is true on every rank. Collective. */
static enum status fill_counts(struct sweep *s, const struct problem *p, const struct contender *c,
                               struct comm_row *row, bool *agree, struct error *e)
{
    struct cost cost = contender_cost(s, p, c);
    double steps = (double)cost.steps, model_s;
    TRY(contender_model_s(&model_s, s, p, c, e));
    double most[6] = {c->is_raw ? (double)cost.calls : c->calls,
                      c->is_raw ? (double)cost.bytes_payload : c->bytes_payload,
                      is_counted(&cost) ? c->bytes_sent : (double)cost.bytes_wire / steps,
                      is_counted(&cost) ? c->messages_sent : (double)cost.messages_wire / steps,
                      !counts_agree(c, &cost),
                      model_s};
    TRY(wait_allreduce(&s->waiter, most, 6, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD,
                       "counts of the busiest rank", e));
    row->calls = most[0];
    row->bytes_payload = most[1];
    row->bytes_wire = most[2];
    row->messages_wire = most[3];
    row->wire_source = cost.wire_source;
    row->model_us = s->ranks > 1 ? 1e6 * most[5] : NAN;
    *agree = most[4] == 0;
    return OK;
}

static const char *verdict_of(const struct contender *c, bool counts_agree_everywhere)
{
    bool promises = c->is_raw || (strategy_flags(c->kind) & STRATEGY_EXACT);
    if (!promises)
        return "not a sum";
    if (!c->is_right)
        return "wrong sum";
    return counts_agree_everywhere ? "ok" : "wrong count";
}

/* ---- Times ---- */

static void fill_times(const struct sweep *s, const struct contender *c, struct comm_row *row)
{
    struct interval ns = stats_median_interval(c->round_ns, (size_t)s->options->rounds, CONFIDENCE);
    CSV_SET_INTERVAL(row, latency_us, ns, 1e-3);
    row->algbw_gbyte_per_s = row->bytes / ns.mid;
    if (s->ranks > 1 && s->nodes == 1)
        row->bound_us = 1e6 * (s->ranks - 1) * addition_s(s, row->bytes / s->ranks);
}

/* Sets the bus bandwidth as nccl-tests defines it. It is NAN for a single rank, and for operations
 * that do not compute the exact sum. It is also NAN unless the busiest of the p ranks sends about 2
 * (p - 1) / p times the gradient's bytes. */
static void fill_busbw(const struct sweep *s, const struct contender *c, struct comm_row *row)
{
    double share = 2.0 * (s->ranks - 1) / s->ranks;
    bool sums = c->is_raw || ((strategy_flags(c->kind) & STRATEGY_EXACT) &&
                              c->config.compressor == COMPRESSOR_none);
    bool moves = fabs(row->bytes_wire - share * row->bytes) <= row->messages_wire * sizeof(real);
    row->busbw_gbyte_per_s = s->ranks > 1 && sums && moves ? row->algbw_gbyte_per_s * share : NAN;
}

static enum status fill_ratio(const struct sweep *s, const struct contender *c,
                              const struct contender *other, struct comm_row *row, struct error *e)
{
    size_t n = (size_t)s->options->rounds;
    double *ratios;
    TRY(MEM_NEW(ratios, n, "the ratios of rounds", e));
    for (size_t i = 0; i < n; i++)
        ratios[i] = other->round_ns[i] / c->round_ns[i];
    struct interval ratio = stats_median_interval(ratios, n, CONFIDENCE);
    free(ratios);
    CSV_SET_INTERVAL(row, ratio, ratio, 1);
    row->compared = ratio.lo > 1 ? "faster" : ratio.hi < 1 ? "slower" : "undecided";
    return OK;
}

enum status sweep_print_row(struct sweep *s, const struct problem *p, struct contender *c,
                            const struct contender *other, int steps, struct error *e)
{
    char name[CONTENDER_NAME], other_name[CONTENDER_NAME];
    struct comm_row row = begin_row(s, p, c, name);
    bool agree = true;
    row.steps = steps;
    row.other = contender_name(other, other_name);
    if (c->config.compressor != COMPRESSOR_none)
        row.sum_error = c->sum_error;
    fill_times(s, c, &row);
    TRY(fill_counts(s, p, c, &row, &agree, e));
    fill_busbw(s, c, &row);
    TRY(fill_ratio(s, c, other, &row, e));
    row.verdict = verdict_of(c, agree);
    c->median_ns = 1e3 * row.latency_us;
    c->is_ok = strcmp(row.verdict, "ok") == 0;
    s->wrong += strncmp(row.verdict, "wrong", 5) == 0;
    print(s, &row);
    return OK;
}
