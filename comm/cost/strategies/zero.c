/* Messages of the strategies' own: gradients to the ranks that own them, (p - 1) / p n numbers a rank, and
 * parameters to all ranks, as many each time that they are handed out. Stage 2 does so once a step, which
 * makes 2 (p - 1) / p n; stage 3 before each pass of each micro-batch, 3 (p - 1) / p of those that are
 * gathered where a step has one. */
#include "comm/cost/strategies/zero.h"

#include "comm/cost/description.h"
#include "comm/cost/exchange.h"

struct zero_block zero_block_before(const struct strategy_config *config, bool gathers,
                                    const size_t *counts, size_t n, size_t last, size_t width)
{
    struct zero_block b = {.tensors = {.first = last, .last = last}, .is_whole = true};
    double most = config->options[SYNC_zero_persist];
    size_t cap = sync_option_bytes(config, last == n ? SYNC_first_cap_mib : SYNC_cap_mib);
    struct bucket *t = &b.tensors;
    while (t->first > 0 && b.is_whole && (t->first == last || t->count * width < cap)) {
        bool is_whole = !gathers || (double)counts[t->first - 1] <= most;
        if (!is_whole && t->first < last)
            break;
        b.is_whole = is_whole;
        t->count += counts[--t->first];
    }
    return b;
}

static void add_block(struct cost *c, const struct strategy_config *config,
                      const struct participant *p, const struct zero_block *b, size_t width)
{
    size_t count = b->tensors.count, micro_batches = config->micro_batches;
    size_t gathered = b->is_whole ? 1 : 2 * (micro_batches > 0 ? micro_batches : 1);
    add_shares(c, p, count, width, false);
    for (int i = 1; i < p->ranks; i++)
        add_reduction(c, p, share_bytes(count, p->rank, p->ranks, width));
    for (size_t i = 0; i < gathered; i++)
        add_shares(c, p, count, width, true);
}

static struct cost zero_cost(const struct strategy_config *config, const struct participant *p,
                             const struct gradient *g, bool gathers)
{
    struct cost c = {.wire_source = WIRE_COUNTED};
    for (size_t last = g->n; last > 0;) {
        struct zero_block b = zero_block_before(config, gathers, g->counts, g->n, last, g->width);
        add_block(&c, config, p, &b, g->width);
        last = b.tensors.first;
    }
    return c;
}

static struct cost zero2_cost(const struct strategy_config *config, const struct participant *p,
                              const struct gradient *g)
{
    return zero_cost(config, p, g, false);
}

static struct cost zero3_cost(const struct strategy_config *config, const struct participant *p,
                              const struct gradient *g)
{
    return zero_cost(config, p, g, true);
}

/* ---- Memory ---- */

/* A block in bytes: this rank's share, and those of others. */
struct block_bytes {
    size_t own, others;
};

/* What has been seen of blocks, from the last on. */
struct zero_sums {
    size_t recent[ZERO_KEPT_MOST]; /* others' shares of the last blocks, the newest first */
    size_t written;                /* the most of those in memory at a time */
    size_t own, longest;           /* all shares, the largest */
    size_t kept;                   /* parameters that stay: shares, and whole blocks */
    size_t before,
        most; /* others' of the block that was fetched last; of two that follow each other */
};

/* Backward writes a block while those before it are still there; a rank's own shares stay. */
static void add_gradients(struct zero_sums *z, const struct block_bytes *b, size_t kept)
{
    size_t written = b->others;
    for (size_t i = kept; i-- > 0;) {
        written += z->recent[i];
        z->recent[i] = i > 0 ? z->recent[i - 1] : b->others;
    }
    z->written = written > z->written ? written : z->written;
}

/* A block is used, perhaps while the next one comes. */
static void add_params(struct zero_sums *z, const struct block_bytes *b, bool is_whole, bool ahead)
{
    z->kept += b->own + (is_whole ? b->others : 0);
    if (is_whole)
        return;
    z->most = z->before + b->others > z->most ? z->before + b->others : z->most;
    z->before = ahead ? b->others : 0;
}

void zero_memory(struct sync_memory *m, const struct strategy_config *config,
                 const struct participant *p, const struct gradient *g, int slots,
                 const struct zero_way *way)
{
    struct zero_sums z = {.own = 0};
    for (size_t last = g->n; last > 0;) {
        struct zero_block cut =
            zero_block_before(config, way->gathers, g->counts, g->n, last, g->width);
        size_t own = share_bytes(cut.tensors.count, p->rank, p->ranks, g->width);
        struct block_bytes b = {.own = own, .others = cut.tensors.count * g->width - own};
        add_gradients(&z, &b, way->kept);
        add_params(&z, &b, cut.is_whole, way->ahead);
        z.own += b.own;
        z.longest = b.own > z.longest ? b.own : z.longest;
        last = cut.tensors.first;
    }
    m->params = z.kept + z.most;
    m->grads = config->micro_batches > 1 ? m->grads : z.own + z.written;
    m->state = (size_t)slots * z.own;
    m->buffers = way->receives ? (size_t)(ZERO_FLIGHTS * (p->ranks - 1)) * z.longest : 0;
}

static void zero2_memory(struct sync_memory *m, const struct strategy_config *config,
                         const struct participant *p, const struct gradient *g, int slots)
{
    static const struct zero_way way = {.receives = true, .kept = ZERO_FLIGHTS};
    zero_memory(m, config, p, g, slots, &way);
}

static void zero3_memory(struct sync_memory *m, const struct strategy_config *config,
                         const struct participant *p, const struct gradient *g, int slots)
{
    static const struct zero_way way = {
        .gathers = true, .ahead = true, .receives = true, .kept = ZERO_FLIGHTS};
    zero_memory(m, config, p, g, slots, &way);
}

const struct strategy_desc strategy_desc_zero2 = {.cost = zero2_cost, .memory = zero2_memory};
const struct strategy_desc strategy_desc_zero3 = {.cost = zero3_cost, .memory = zero3_memory};
