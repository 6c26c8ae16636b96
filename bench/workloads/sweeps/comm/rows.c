/* The table of the sweep. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench/workloads/sweeps/comm/sweep.h"

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

/* What a row of this sweep says whatever it is of. */
static struct comm_row common_row(const struct sweep *s)
{
    struct comm_row row;
    csv_clear_row(COLUMNS, COLUMNS_N, &row);
    row.ranks = s->ranks;
    row.nodes = s->nodes;
    row.wait = wait_name(s->waiter.kind);
    row.turns = s->options->turns;
    row.mpi = s->mpi;
    return row;
}

static const char *raw_name(const struct sweep *s)
{
    return s->waiter.kind == WAIT_BLOCK ? "MPI_Allreduce" : "MPI_Iallreduce";
}

/* `name` is where the row's name is kept. */
static struct comm_row begin_row(const struct sweep *s, const struct problem *p,
                                 const struct entry *entry, char name[ENTRY_NAME])
{
    struct comm_row row = common_row(s);
    row.part = p->part;
    row.model = p->model;
    row.bytes = (double)(p->desc->n_params * sizeof(real));
    row.tensors = entry->is_raw ? 1 : p->desc->n_tensors;
    row.operation = entry->is_raw ? raw_name(s) : strategy_names()[entry->kind];
    row.variant = strategy_variant_name(entry->config.variant);
    row.name = entry_name(entry, name);
    enum compressor_kind compressor = entry->config.compressor;
    if (!entry->is_raw && (strategy_flags(entry->kind) & STRATEGY_COMPRESSES))
        row.compressor = compressor_names()[compressor];
    if ((strategy_flags(entry->kind) & STRATEGY_ALGORITHMS) &&
        (compressor_flags(compressor) & COMPRESSOR_ALGORITHMS))
        row.algorithm = algorithm_names()[entry->config.algorithm];
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
    FILE *out = s->kept != NULL ? s->kept : rows_begin(s);
    csv_write_row(out, COLUMNS, COLUMNS_N, row);
    fflush(out);
    return OK;
}

enum status sweep_print_skipped(struct sweep *s, const struct problem *p, const struct entry *entry)
{
    char name[ENTRY_NAME];
    struct comm_row row = begin_row(s, p, entry, name);
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

static struct cost cost_of(const struct sweep *s, const struct problem *p,
                           const struct entry *entry, int rank)
{
    const size_t all = p->desc->n_params;
    struct strategy_config config = entry->config;
    config.rows = p->rows;
    return strategy_cost(entry->kind, &config, rank, s->ranks, entry->is_raw ? &all : p->counts,
                         entry->is_raw ? 1 : (size_t)p->desc->n_tensors, sizeof(real), &s->link);
}

static bool is_counted(const struct cost *c)
{
    return strcmp(c->wire_source, WIRE_COUNTED) == 0;
}

/* A step that rests now and then, or whose course depends on others, is counted and not
 * promised. */
static bool counts_agree(const struct entry *entry, const struct cost *c)
{
    if (entry->is_raw || !(strategy_flags(entry->kind) & STRATEGY_EXACT))
        return true;
    bool agree =
        entry->calls == (double)c->calls && entry->bytes_payload == (double)c->bytes_payload;
    return agree && (!is_counted(c) || (entry->messages_sent == (double)c->messages_wire &&
                                        entry->bytes_sent == (double)c->bytes_wire));
}

/* The busiest rank's counts; whether all ranks' are as promised. Collective. */
static enum status fill_counts(struct sweep *s, const struct problem *p, const struct entry *entry,
                               struct comm_row *row, bool *agree, struct error *e)
{
    struct cost c = cost_of(s, p, entry, s->rank);
    double most[6] = {entry->is_raw ? (double)c.calls : entry->calls,
                      entry->is_raw ? (double)c.bytes_payload : entry->bytes_payload,
                      is_counted(&c) ? entry->bytes_sent : (double)c.bytes_wire,
                      is_counted(&c) ? entry->messages_sent : (double)c.messages_wire,
                      !counts_agree(entry, &c),
                      c.seconds};
    enum status status = wait_allreduce(&s->waiter, most, 6, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD,
                                        "counts of the busiest rank", e);
    row->calls = most[0];
    row->bytes_payload = most[1];
    row->bytes_wire = most[2];
    row->messages_wire = most[3];
    row->wire_source = c.wire_source;
    row->model_us = s->ranks > 1 ? 1e6 * most[5] : NAN;
    *agree = most[4] == 0;
    return status;
}

static const char *verdict_of(const struct entry *entry, bool counts_agree_everywhere)
{
    bool promises = entry->is_raw || (strategy_flags(entry->kind) & STRATEGY_EXACT);
    if (!promises)
        return "not a sum";
    if (!entry->is_right)
        return "wrong sum";
    return counts_agree_everywhere ? "ok" : "wrong count";
}

/* ---- Times ---- */

static void fill_times(const struct sweep *s, const struct entry *entry, struct comm_row *row)
{
    struct interval ns =
        stats_median_interval(entry->turn_ns, (size_t)s->options->turns, CONFIDENCE);
    row->latency_us = 1e-3 * ns.mid;
    row->latency_us_lo = 1e-3 * ns.lo;
    row->latency_us_hi = 1e-3 * ns.hi;
    row->algbw_gbyte_per_s = row->bytes / ns.mid;
    row->busbw_gbyte_per_s = row->algbw_gbyte_per_s * 2 * (s->ranks - 1) / s->ranks;
}

static enum status fill_ratio(const struct sweep *s, const struct entry *entry,
                              const struct entry *other, struct comm_row *row, struct error *e)
{
    size_t n = (size_t)s->options->turns;
    double *ratios = malloc(n * sizeof *ratios);
    if (ratios == NULL)
        return error_set(e, ERR_MEMORY, "no memory for %zu ratios", n);
    for (size_t i = 0; i < n; i++)
        ratios[i] = other->turn_ns[i] / entry->turn_ns[i];
    struct interval ratio = stats_median_interval(ratios, n, CONFIDENCE);
    free(ratios);
    row->ratio = ratio.mid;
    row->ratio_lo = ratio.lo;
    row->ratio_hi = ratio.hi;
    row->compared = ratio.lo > 1 ? "faster" : ratio.hi < 1 ? "slower" : "undecided";
    return OK;
}

enum status sweep_print_row(struct sweep *s, const struct problem *p, struct entry *entry,
                            const struct entry *other, int steps, struct error *e)
{
    char name[ENTRY_NAME], other_name[ENTRY_NAME];
    struct comm_row row = begin_row(s, p, entry, name);
    bool agree = true;
    row.steps = steps;
    row.other = entry_name(other, other_name);
    if (entry->config.compressor != COMPRESSOR_none)
        row.sum_error = entry->sum_error;
    fill_times(s, entry, &row);
    enum status status = fill_counts(s, p, entry, &row, &agree, e);
    if (status == OK)
        status = fill_ratio(s, entry, other, &row, e);
    row.verdict = verdict_of(entry, agree);
    entry->median_ns = 1e3 * row.latency_us;
    entry->is_ok = strcmp(row.verdict, "ok") == 0;
    s->all_ok = s->all_ok && strncmp(row.verdict, "wrong", 5) != 0;
    return status == OK ? print(s, &row) : status;
}
