#include "comm/cost/cost.h"

#include <math.h>
#include <stdbool.h>

#include "comm/cost/description.h"
#include "comm/cost/library.h"

static const struct strategy_desc *const TABLE[STRATEGIES] = {
#define STRATEGY(name, flags, source, summary) &strategy_desc_##name,
#include "comm/cost/strategies.def"
};

static struct gradient gradient_of(enum strategy_kind strategy,
                                   const struct strategy_config *config, const size_t *counts,
                                   size_t n, size_t width)
{
    const struct gradient g = {.counts = counts, .rows = config->rows, .n = n, .width = width};
    struct gradient all = gradient_part(&g, 0, n);
    all.stage = strategy_stage(strategy);
    return all;
}

const char *source_none(const struct step *s)
{
    return "none";
}

static void give_program(const struct strategy_desc *desc, const struct step *s, struct reader *to)
{
    if (desc->program != NULL)
        desc->program(s, to);
    else
        reader_give(to, operation_of_messages(desc->schedule, s->config, s->ranks, s->g->count,
                                              s->g->width));
}

uint64_t program_read(enum strategy_kind strategy, const struct strategy_config *config, int ranks,
                      const size_t *counts, size_t n, size_t width, struct reader *reader)
{
    const struct strategy_desc *desc = TABLE[strategy];
    const struct gradient g = gradient_of(strategy, config, counts, n, width);
    const struct step step = {config, &g, ranks};
    give_program(desc, &step, reader);
    return desc->steps != NULL ? desc->steps(&step) : 1;
}

struct cost strategy_cost(enum strategy_kind strategy, const struct strategy_config *config,
                          int rank, int ranks, const size_t *counts, size_t n, size_t width)
{
    const struct strategy_desc *desc = TABLE[strategy];
    const struct gradient g = gradient_of(strategy, config, counts, n, width);
    const struct step step = {config, &g, ranks};
    struct cost c = {0};
    struct counter counter = counter_of(&c, rank, ranks);
    c.steps = program_read(strategy, config, ranks, counts, n, width, &counter.reader);
    c.wire_source = desc->source != NULL ? desc->source(&step)
                    : c.algorithms != 0  ? allreduce_source(c.algorithms)
                                         : WIRE_COUNTED;
    return c;
}

void cost_add_sum(struct cost *c, const struct strategy_config *config, int rank, int ranks,
                  size_t count, size_t width)
{
    struct counter counter = counter_of(c, rank, ranks);
    reader_give(&counter.reader,
                library_allreduce(config->algorithm, config->calls, ranks, count, width));
    c->wire_source = allreduce_source(c->algorithms);
}

/* Program reader (program.h) that times operations which run one after another: end_k =
 * max(ready_k, end_(k-1)) + t_k (Shi, Chu and Li, "MG-WFBP", INFOCOM 2019). ready_k: time when the
 * gradients of operation k are ready. t_k: share of the total time, in proportion to bytes. */
struct exposure {
    struct reader reader;
    const double *ready; /* times when gradients are ready; NULL: `expose` only sums bytes */
    double comm, all;    /* `comm`: total time of the program's communication operations; `all`:
                            their total bytes */
    double bytes, end;
};

static void expose(struct reader *reader, const struct operation *op)
{
    struct exposure *x = (struct exposure *)reader;
    double bytes = (double)(op->count * op->width);
    x->bytes += bytes;
    if (x->ready != NULL)
        x->end = fmax(x->ready[op->tensor], x->end) + x->comm * bytes / x->all;
}

double strategy_exposed(enum strategy_kind strategy, const struct strategy_config *config,
                        const size_t *counts, const double *ready, size_t n, size_t width,
                        double backward, double comm)
{
    struct exposure all = {.reader = {expose}},
                    x = {.reader = {expose}, .ready = ready, .comm = comm};
    if (!TABLE[strategy]->overlaps)
        return NAN;
    program_read(strategy, config, 2, counts, n, width, &all.reader);
    x.all = all.bytes;
    program_read(strategy, config, 2, counts, n, width, &x.reader);
    return fmax(x.end - backward, 0);
}

double strategy_times(enum strategy_kind strategy, const struct strategy_config *config,
                      const struct cost *cost, uint64_t first, uint64_t n)
{
    const struct strategy_desc *desc = TABLE[strategy];
    return desc->times != NULL ? (double)desc->times(config, first, n)
                               : (double)n / (double)cost->steps;
}

struct sync_memory strategy_memory(enum strategy_kind strategy,
                                   const struct strategy_config *config, int rank, int ranks,
                                   const size_t *counts, size_t n, size_t width, int slots)
{
    const struct strategy_desc *desc = TABLE[strategy];
    const struct gradient g = gradient_of(strategy, config, counts, n, width);
    size_t all = g.count * width, whole = whole_pages(config, all);
    struct sync_memory m = {
        .params = whole, .grads = whole, .state = whole_pages(config, (size_t)slots * all)};
    if (desc->memory != NULL)
        desc->memory(&m, &(struct step){config, &g, ranks}, rank, slots);
    return m;
}

struct sync_memory strategy_memory_formula(enum strategy_kind strategy, enum precision precision,
                                           int ranks, size_t count, size_t width, int slots)
{
    int stage = strategy_stage(strategy);
    size_t share = (count + (size_t)ranks - 1) / (size_t)ranks;
    bool narrow = precision != PRECISION_fp32;
    size_t own_width = narrow ? width / 2 : width, kept = (size_t)slots + narrow;
    return (struct sync_memory){.params = (stage >= 3 ? share : count) * own_width,
                                .grads = (stage >= 2 ? share : count) * own_width,
                                .state = (stage >= 1 ? share : count) * width * kept};
}

enum status strategy_check(enum strategy_kind strategy, const struct strategy_config *config,
                           const struct sync_demands *demands, const char **key, struct error *e)
{
    const struct strategy_desc *desc = TABLE[strategy];
    return desc->check != NULL ? desc->check(config, demands, key, e) : OK;
}

const struct schedule_rule *strategy_schedule(enum strategy_kind strategy)
{
    return TABLE[strategy]->schedule;
}
