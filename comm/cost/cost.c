#include "comm/cost/cost.h"

#include "comm/cost/approximate.h"
#include "comm/cost/buckets.h"
#include "comm/cost/collectives.h"
#include "comm/cost/compress.h"
#include "comm/cost/schedule.h"
#include "kernels/base/pool.h"

static size_t sum_counts(const size_t *counts, size_t n)
{
    size_t total = 0;
    for (size_t i = 0; i < n; i++)
        total += counts[i];
    return total;
}

size_t pickle_bytes(const size_t *counts, size_t n, size_t width)
{
    return n * sizeof(struct pickle_header) + sum_counts(counts, n) * width;
}

static void add_calls(struct cost *c, size_t calls, size_t bytes_each)
{
    c->calls += calls;
    c->bytes_payload += calls * bytes_each;
}

static struct cost cost_none(void)
{
    return (struct cost){.wire_source = "none"};
}

/* A sum a tensor; one of all is that of a single tensor. */
static struct cost cost_allreduce(const struct strategy_config *config, const struct party *p,
                                  const size_t *counts, size_t n, size_t width)
{
    struct cost c = {0};
    bool used[ALGORITHMS] = {false};
    for (size_t i = 0; i < n; i++)
        add_allreduce_call(&c, p, CALL_BLOCKING, config->algorithm, counts[i], width, used);
    c.wire_source = allreduce_source(used);
    return c;
}

static struct cost cost_reduce_bcast(const struct party *p, size_t count, size_t width)
{
    static const char *const sources[2][3] = {
        {"formula: binomial, binomial", "formula: binomial, scatter_recursive_doubling_allgather",
         "formula: binomial, scatter_ring_allgather"},
        {"formula: reduce_scatter_gather, binomial",
         "formula: reduce_scatter_gather, scatter_recursive_doubling_allgather",
         "formula: reduce_scatter_gather, scatter_ring_allgather"},
    };
    size_t bytes = count * width;
    struct cost c = {
        .wire_source =
            sources[reduce_is_long(p->ranks, count, width)][bcast_algorithm(p->ranks, bytes)]};
    add_calls(&c, 2, bytes);
    if (p->ranks > 1) {
        add_reduce(&c, p, count, width);
        add_bcast(&c, p, bytes);
    }
    return c;
}

/* Each message goes with one that says how long it is, up the tree as in the broadcast. */
static struct cost cost_pickled(const struct party *p, const size_t *counts, size_t n, size_t width)
{
    static const char *const sources[] = {"formula: binomial, binomial",
                                          "formula: binomial, scatter_recursive_doubling_allgather",
                                          "formula: binomial, scatter_ring_allgather"};
    size_t bytes = pickle_bytes(counts, n, width);
    struct cost c = {.wire_source = sources[bcast_algorithm(p->ranks, bytes)]};
    size_t calls = (size_t)tree_edges(p->rank, p->ranks) + 1;
    add_calls(&c, calls, sizeof(uint64_t));
    add_calls(&c, calls, bytes);
    add_ascent(&c, p, sizeof(uint64_t));
    add_reduce_binomial(&c, p, bytes);
    add_bcast(&c, p, sizeof(uint64_t));
    add_bcast(&c, p, bytes);
    return c;
}

/* The root exchanges a message with everyone, the others with the root. */
static struct cost cost_gather_linear(const struct party *p, const size_t *counts, size_t n,
                                      size_t width)
{
    struct cost c = {.wire_source = WIRE_COUNTED};
    int others = p->rank == 0 ? p->ranks - 1 : 1;
    for (size_t i = 0; i < n; i++) {
        size_t bytes = counts[i] * width;
        add_calls(&c, 2 * (size_t)others, bytes);
        for (int k = 0; k < others; k++) {
            add_receipt(&c, p, bytes);
            add_message(&c, p, bytes);
            if (p->rank == 0)
                add_reduction(&c, p, bytes);
        }
    }
    return c;
}

static struct cost cost_gather_mpich(const struct party *p, const size_t *counts, size_t n,
                                     size_t width)
{
    struct cost c = {.wire_source = "formula: binomial, binomial"};
    for (size_t i = 0; i < n; i++) {
        size_t bytes = counts[i] * width;
        add_calls(&c, 2, bytes);
        add_gather(&c, p, bytes);
        if (p->rank == 0)
            add_reduction(&c, p, bytes * (size_t)(p->ranks - 1));
        add_scatter(&c, p, bytes);
    }
    return c;
}

/* The library's non-blocking sums. */
static struct cost cost_bucketed(const struct strategy_config *config, const struct party *p,
                                 const size_t *counts, size_t n, size_t width)
{
    struct cost c = {0};
    bool used[ALGORITHMS] = {false};
    struct bucket b = bucket_first(counts, n, width, config);
    for (; b.first < b.last; b = bucket_next(counts, width, config, &b))
        add_allreduce_call(&c, p, CALL_NONBLOCKING, config->algorithm, b.count, width, used);
    c.wire_source = allreduce_source(used);
    return c;
}

/* Of a step whose tensors are all ready within one cycle: one question, and full messages. More
 * cycles mean more questions and more messages with the same gradients in them. */
static struct cost cost_fusion(const struct strategy_config *config, const struct party *p,
                               const size_t *counts, size_t n, size_t width)
{
    struct cost c = {0};
    bool used[ALGORITHMS] = {false};
    if (config->cycle_ns > 0)
        add_allreduce_call(&c, p, CALL_NONBLOCKING, config->algorithm, 1, sizeof(int), used);
    for (struct bucket b = {.first = n}; b.first > 0;) {
        b = fusion_next(counts, b.first, 0, width, config);
        add_allreduce_call(&c, p, CALL_NONBLOCKING, config->algorithm, b.count, width, used);
    }
    c.wire_source = allreduce_source(used);
    return c;
}

/* Two looks at the flags of others; a rank fetches its slice from p - 1 of them and adds it. */
static struct cost cost_shm(const struct party *p, size_t count, size_t width)
{
    struct cost c = {.wire_source = "none"};
    size_t begin, end;
    pool_share(count, (size_t)p->rank, (size_t)p->ranks, &begin, &end);
    double bytes = (double)((end - begin) * width) * (p->ranks - 1);
    if (p->model != NULL && p->ranks > 1)
        c.seconds = 2 * p->model->alpha_s + bytes * (p->model->beta_s + p->model->gamma_s);
    return c;
}

/* The same, and the parameters of the other slices besides. */
static struct cost cost_shm_zero1(const struct party *p, size_t count, size_t width)
{
    struct cost c = cost_shm(p, count, width);
    size_t begin, end;
    pool_share(count, (size_t)p->rank, (size_t)p->ranks, &begin, &end);
    if (p->model != NULL && p->ranks > 1)
        c.seconds += (double)((count - (end - begin)) * width) * p->model->beta_s;
    return c;
}

static void add_transfer(struct cost *c, const struct schedule *s, const struct transfer *t,
                         size_t width)
{
    add_calls(c, schedule_messages(s, t->count), 0);
    c->bytes_payload += t->count * width;
}

/* Rounds of messages, both ways at the same time: the slower way counts, and the sums. */
static struct cost cost_schedule(const struct schedule *s, const struct party *p, size_t width)
{
    struct cost c = {.wire_source = WIRE_COUNTED};
    for (int i = 0; i < schedule_rounds(s); i++) {
        struct round round;
        struct cost sent = {0}, received = {0};
        schedule_round(s, i, &round);
        for (int k = 0; k < round.n_sends; k++) {
            add_transfer(&c, s, &round.sends[k], width);
            add_cut_message(&sent, p, round.sends[k].count * width, s->segment * width);
        }
        for (int k = 0; k < round.n_receives; k++) {
            add_transfer(&c, s, &round.receives[k], width);
            add_cut_message(&received, p, round.receives[k].count * width, s->segment * width);
            if (round.receives[k].add)
                add_reduction(&c, p, round.receives[k].count * width);
        }
        c.messages_wire += sent.messages_wire;
        c.bytes_wire += sent.bytes_wire;
        c.seconds += sent.seconds > received.seconds ? sent.seconds : received.seconds;
    }
    return c;
}

/* A compressor's sum in place of each of the strategy's. */
static struct cost cost_compressed(enum strategy_kind strategy,
                                   const struct strategy_config *config, const struct party *p,
                                   const size_t *counts, size_t n, size_t width)
{
    struct cost c = {.wire_source = WIRE_COUNTED};
    size_t tensors = strategy == STRATEGY_allreduce_layer ? 1 : n;
    for (size_t i = 0; i < n; i += tensors)
        add_compressed(&c, config, p, counts + i, config->rows != NULL ? config->rows + i : NULL,
                       tensors, width);
    return c;
}

/* `steps` is 0 where every step is the same. */
static struct cost cost_of(enum strategy_kind strategy, const struct strategy_config *config,
                           const struct party *p, const size_t *counts, size_t n, size_t width)
{
    size_t count;
    if (config->compressor != COMPRESSOR_none)
        return cost_compressed(strategy, config, p, counts, n, width);
    switch (strategy) {
    case STRATEGY_allreduce:
        count = sum_counts(counts, n);
        return cost_allreduce(config, p, &count, 1, width);
    case STRATEGY_allreduce_layer:
        return cost_allreduce(config, p, counts, n, width);
    case STRATEGY_reduce_bcast:
        return config->variant == VARIANT_reduce_bcast_pickled
                   ? cost_pickled(p, counts, n, width)
                   : cost_reduce_bcast(p, sum_counts(counts, n), width);
    case STRATEGY_gather_scatter:
        return config->variant == VARIANT_gather_scatter_mpich
                   ? cost_gather_mpich(p, counts, n, width)
                   : cost_gather_linear(p, counts, n, width);
    case STRATEGY_ring:
    case STRATEGY_recursive_doubling:
    case STRATEGY_rabenseifner:
    case STRATEGY_tree:
    case STRATEGY_fixed_order:
    case STRATEGY_hierarchical:
    case STRATEGY_leader: {
        const struct schedule s =
            schedule_of(strategy, config, p->rank, p->ranks, sum_counts(counts, n), width);
        return cost_schedule(&s, p, width);
    }
    case STRATEGY_bucketed:
        return cost_bucketed(config, p, counts, n, width);
    case STRATEGY_fusion:
        return cost_fusion(config, p, counts, n, width);
    case STRATEGY_shm:
        return cost_shm(p, sum_counts(counts, n), width);
    case STRATEGY_shm_zero1:
        return cost_shm_zero1(p, sum_counts(counts, n), width);
    case STRATEGY_delayed:
        return cost_delayed(p, sum_counts(counts, n), width);
    case STRATEGY_gossip:
        return cost_gossip(p, sum_counts(counts, n), width);
    case STRATEGY_param_server:
        return cost_param_server(config, p, sum_counts(counts, n), width);
    case STRATEGY_adasum:
        return cost_adasum(p, sum_counts(counts, n), width);
    case STRATEGY_local_sgd:
        return cost_local_sgd(config, p, sum_counts(counts, n), width);
    case STRATEGY_none:
    case STRATEGIES:
        break;
    }
    return cost_none();
}

struct cost strategy_cost(enum strategy_kind strategy, const struct strategy_config *config,
                          int rank, int ranks, const size_t *counts, size_t n, size_t width,
                          const struct link_model *model)
{
    const struct party p = {rank, ranks, model};
    struct cost c = cost_of(strategy, config, &p, counts, n, width);
    c.steps = c.steps > 0 ? c.steps : 1;
    return c;
}
