/* The table of the sweep. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench/workloads/sweeps/comm/sweep.h"
#include "kernels/base/mem.h"

#define CONFIDENCE 0.95

#define COLUMN(id, type, unit, meaning) CSV_COLUMN("comm.csv", comm_row, id, type, unit, meaning)
static const struct column COLUMNS[] = {
#include "bench/workloads/sweeps/comm/csv_comm.def"
};
#undef COLUMN
enum { COLUMNS_N = sizeof COLUMNS / sizeof COLUMNS[0] };

void rows_print_columns(FILE *out)
{
    csv_print_columns(out, COLUMNS, COLUMNS_N);
}

void rows_write_dictionary(FILE *out)
{
    csv_begin_dictionary(out);
    csv_write_dictionary(out, COLUMNS, COLUMNS_N);
}

/* What a row of this sweep says whatever it is of. */
static struct comm_row common_row(const struct sweep *s)
{
    struct comm_row row;
    csv_clear_row(COLUMNS, COLUMNS_N, &row);
    row.ranks = s->ranks;
    row.nodes = s->nodes;
    row.wait = wait_names()[s->waiter.kind];
    row.turns = s->options->rounds;
    row.mpi = s->mpi;
    return row;
}

static const char *raw_name(const struct sweep *s)
{
    return s->waiter.kind == WAIT_BLOCK ? "MPI_Allreduce" : "MPI_Iallreduce";
}

/* `name` is where the row's name is kept. */
static struct comm_row begin_row(const struct sweep *s, const struct problem *p,
                                 const struct contender *contender, char name[CONTENDER_NAME])
{
    struct comm_row row = common_row(s);
    row.part = p->part;
    row.model = p->model;
    row.bytes = (double)(p->desc->n_params * sizeof(real));
    row.tensors = contender->is_raw ? 1 : p->desc->n_tensors;
    row.operation = contender->is_raw ? raw_name(s) : strategy_names()[contender->kind];
    row.variant = strategy_variant_name(contender->config.variant);
    row.name = contender_name(contender, name);
    enum compressor_kind compressor = contender->config.compressor;
    if (!contender->is_raw && (strategy_flags(contender->kind) & STRATEGY_COMPRESSES))
        row.compressor = compressor_names()[compressor];
    if ((strategy_flags(contender->kind) & STRATEGY_ALGORITHMS) &&
        (compressor_flags(compressor) & COMPRESSOR_ALGORITHMS))
        row.algorithm = algorithm_names()[contender->config.algorithm];
    return row;
}

FILE *rows_begin(struct sweep *s)
{
    if (!s->begun)
        csv_write_header(s->out, COLUMNS, COLUMNS_N);
    s->begun = true;
    return s->out;
}

static enum status print(struct sweep *s, const struct comm_row *row)
{
    if (s->out == NULL)
        return OK;
    FILE *out = s->stored != NULL ? s->stored : rows_begin(s);
    csv_write_row(out, COLUMNS, COLUMNS_N, row);
    fflush(out);
    return OK;
}

enum status sweep_print_skipped(struct sweep *s, const struct problem *p,
                                const struct contender *contender)
{
    char name[CONTENDER_NAME];
    struct comm_row row = begin_row(s, p, contender, name);
    row.turns = 0;
    row.verdict = "cannot run";
    return print(s, &row);
}

enum status sweep_print_link(struct sweep *s, const char *operation, size_t bytes,
                             struct interval seconds, double model_s)
{
    struct comm_row row = common_row(s);
    row.part = "link";
    row.operation = operation;
    row.bytes = (double)bytes;
    row.latency_us = 1e6 * seconds.mid;
    row.latency_us_lo = 1e6 * seconds.lo;
    row.latency_us_hi = 1e6 * seconds.hi;
    row.algbw_gbyte_per_s = 1e-9 * row.bytes / seconds.mid;
    row.model_us = 1e6 * model_s;
    row.verdict = "ok";
    return print(s, &row);
}

/* ---- What a step costs on paper, and what was counted ---- */

static bool is_counted(const struct cost *c)
{
    return strcmp(c->wire_source, WIRE_COUNTED) == 0;
}

/* A step that rests now and then, or whose course depends on others, is counted and not
 * promised. */
static bool counts_agree(const struct contender *contender, const struct cost *c)
{
    if (contender->is_raw || !(strategy_flags(contender->kind) & STRATEGY_EXACT))
        return true;
    bool agree = contender->calls == (double)c->calls &&
                 contender->bytes_payload == (double)c->bytes_payload;
    return agree && (!is_counted(c) || (contender->messages_sent == (double)c->messages_wire &&
                                        contender->bytes_sent == (double)c->bytes_wire));
}

/* The busiest rank's counts; whether all ranks' are as promised. Collective. */
static enum status fill_counts(struct sweep *s, const struct problem *p,
                               const struct contender *contender, struct comm_row *row, bool *agree,
                               struct error *e)
{
    struct cost c = contender_cost(s, p, contender);
    double most[6] = {contender->is_raw ? (double)c.calls : contender->calls,
                      contender->is_raw ? (double)c.bytes_payload : contender->bytes_payload,
                      is_counted(&c) ? contender->bytes_sent : (double)c.bytes_wire,
                      is_counted(&c) ? contender->messages_sent : (double)c.messages_wire,
                      !counts_agree(contender, &c),
                      c.seconds};
    TRY(wait_allreduce(&s->waiter, most, 6, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD,
                       "counts of the busiest rank", e));
    row->calls = most[0];
    row->bytes_payload = most[1];
    row->bytes_wire = most[2];
    row->messages_wire = most[3];
    row->wire_source = c.wire_source;
    row->model_us = s->ranks > 1 ? 1e6 * most[5] : NAN;
    *agree = most[4] == 0;
    return OK;
}

static const char *verdict_of(const struct contender *contender, bool counts_agree_everywhere)
{
    bool promises = contender->is_raw || (strategy_flags(contender->kind) & STRATEGY_EXACT);
    if (!promises)
        return "not a sum";
    if (!contender->is_right)
        return "wrong sum";
    return counts_agree_everywhere ? "ok" : "wrong count";
}

/* ---- Times ---- */

static void fill_times(const struct sweep *s, const struct contender *contender,
                       struct comm_row *row)
{
    struct interval ns =
        stats_median_interval(contender->round_ns, (size_t)s->options->rounds, CONFIDENCE);
    row->latency_us = 1e-3 * ns.mid;
    row->latency_us_lo = 1e-3 * ns.lo;
    row->latency_us_hi = 1e-3 * ns.hi;
    row->algbw_gbyte_per_s = row->bytes / ns.mid;
    row->busbw_gbyte_per_s = row->algbw_gbyte_per_s * 2 * (s->ranks - 1) / s->ranks;
}

static enum status fill_ratio(const struct sweep *s, const struct contender *contender,
                              const struct contender *other, struct comm_row *row, struct error *e)
{
    size_t n = (size_t)s->options->rounds;
    double *ratios;
    TRY(MEM_NEW(ratios, n, "the ratios of rounds", e));
    for (size_t i = 0; i < n; i++)
        ratios[i] = other->round_ns[i] / contender->round_ns[i];
    struct interval ratio = stats_median_interval(ratios, n, CONFIDENCE);
    free(ratios);
    row->ratio = ratio.mid;
    row->ratio_lo = ratio.lo;
    row->ratio_hi = ratio.hi;
    row->compared = ratio.lo > 1 ? "faster" : ratio.hi < 1 ? "slower" : "undecided";
    return OK;
}

enum status sweep_print_row(struct sweep *s, const struct problem *p, struct contender *contender,
                            const struct contender *other, int steps, struct error *e)
{
    char name[CONTENDER_NAME], other_name[CONTENDER_NAME];
    struct comm_row row = begin_row(s, p, contender, name);
    bool agree = true;
    row.steps = steps;
    row.other = contender_name(other, other_name);
    if (contender->config.compressor != COMPRESSOR_none)
        row.sum_error = contender->sum_error;
    fill_times(s, contender, &row);
    TRY(fill_counts(s, p, contender, &row, &agree, e));
    TRY(fill_ratio(s, contender, other, &row, e));
    row.verdict = verdict_of(contender, agree);
    contender->median_ns = 1e3 * row.latency_us;
    contender->is_ok = strcmp(row.verdict, "ok") == 0;
    s->all_ok = s->all_ok && strncmp(row.verdict, "wrong", 5) != 0;
    return print(s, &row);
}
