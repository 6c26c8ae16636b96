/* Every block's gradients go to the ranks that own its shares, (p - 1) / p n numbers per rank, and its parameters to all
 * ranks, as many each time. Stage 2 sends parameters once a step: 2 (p - 1) / p n in all. Stage 3 sends those that are
 * not kept before each pass of each micro-batch: 3 (p - 1) / p n with one micro-batch. */
#include "comm/cost/strategies/zero.h"

#include "comm/cost/description.h"
#include "comm/cost/exchange.h"
#include "kernels/base/pool.h"

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

static void give_block(const struct step *s, struct reader *to, const struct zero_block *b)
{
    size_t count = b->tensors.count, micro_batches = s->config->micro_batches;
    size_t gathers = b->is_whole ? 1 : 2 * (micro_batches > 0 ? micro_batches : 1);
    give_shares(s, to, &rule_shares_scatter, count, s->g->width);
    for (size_t i = 0; i < gathers; i++)
        give_shares(s, to, &rule_shares_gather, count, s->g->width);
}

static void zero_program(const struct step *s, struct reader *to)
{
    const struct gradient *g = s->g;
    for (size_t last = g->n; last > 0;) {
        struct zero_block b =
            zero_block_before(s->config, g->stage == 3, g->counts, g->n, last, g->width);
        give_block(s, to, &b);
        last = b.tensors.first;
    }
}

/* ---- Memory ---- */

/* Bytes of the parameters of other ranks that one op reads: all, and those of the last and the first tensor. */
struct gathered {
    bool some; /* be it less than a page */
    size_t all, last, first;
};

/* A walk over the tensors in the order of backward, from the last one. Bytes are those of whole pages. */
struct zero_walk {
    const struct zero_way *way;
    size_t page;
    size_t end; /* number at which the next block ends */
    size_t own,
        longest; /* this rank's shares of blocks: in all, the largest, without their pages' rest */
    size_t own_page;       /* the first page of the last share */
    size_t gone, not_here; /* gradients and parameters of others that are given back */
    size_t recent
        [ZERO_KEPT_MOST]; /* others' gradients of the blocks completed last, the newest first */
    size_t kept;          /* of these, those still there while an op writes its own */
    size_t written;       /* others' gradients of the op, and of its block before */
    size_t open;          /* of these, of the block that is not complete */
    size_t most_grads;
    struct gathered op, behind; /* the op under way, and the one behind it that gathers */
    size_t most_params;
};

/* Bytes of an arena. */
struct stretch {
    size_t begin, end;
};

/* Neighbouring shares may have a page in common. */
static void add_share(struct zero_walk *w, struct stretch own)
{
    size_t bytes = own.end - own.begin;
    w->longest = bytes > w->longest ? bytes : w->longest;
    if (bytes == 0)
        return;
    size_t first = own.begin / w->page, last = (own.end - 1) / w->page;
    w->own += (last - first + (last != w->own_page)) * w->page;
    w->own_page = first;
}

/* The page of byte `at`, limited to pages that are in `s` as a whole. */
static size_t page_within(struct stretch s, size_t at, size_t page)
{
    size_t first = (s.begin + page - 1) / page, last = s.end / page, own = at / page;
    return own < first || last < first ? first : own > last ? last : own;
}

/* Bytes of a tensor's pages that are freed with the stretch. Pages at its edges stay. */
static size_t gone_of(struct stretch tensor, struct stretch s, size_t page)
{
    size_t begin = tensor.begin > s.begin ? tensor.begin : s.begin;
    size_t end = tensor.end < s.end ? tensor.end : s.end;
    return begin < end ? (page_within(s, end, page) - page_within(s, begin, page)) * page : 0;
}

/* Adds a tensor of which other ranks own `theirs` bytes. */
static void add_tensor(struct zero_walk *w, size_t theirs, bool gathers)
{
    w->gone += theirs;
    w->written += theirs;
    w->open += theirs;
    if (!gathers)
        return;
    w->not_here += theirs;
    w->op.last = w->op.some ? w->op.last : theirs;
    w->op.some = true;
    w->op.first = theirs;
    w->op.all += theirs;
}

static void complete_block(struct zero_walk *w)
{
    for (size_t i = ZERO_KEPT_MOST - 1; i > 0; i--)
        w->recent[i] = w->recent[i - 1];
    w->recent[0] = w->open;
    w->open = 0;
}

static size_t larger(size_t a, size_t b)
{
    return a > b ? a : b;
}

/* An op has written the gradients of all its tensors, while blocks before it are on their way. It has read all its
 * parameters, while the first tensor of the next op comes, or in backward the last one. */
static void end_op(struct zero_walk *w)
{
    const bool ahead = w->way->ahead;
    w->most_grads = larger(w->most_grads, w->kept + w->written);
    w->kept = 0;
    for (size_t i = 0; i < w->way->kept; i++)
        w->kept += w->recent[i];
    w->written = w->open;
    if (!w->op.some)
        return;
    w->most_params = larger(w->most_params, w->op.all + (ahead ? w->behind.first : 0));
    w->most_params = larger(w->most_params, w->behind.all + (ahead ? w->op.last : 0));
    w->behind = w->op;
    w->op = (struct gathered){0};
}

/* The tensors of the block that ends before tensor `last`; returns its first. */
static size_t walk_block(struct zero_walk *w, const struct step *s, int rank, size_t last)
{
    const struct strategy_config *config = s->config;
    const struct gradient *g = s->g;
    struct zero_block b = zero_block_before(config, g->stage == 3, g->counts, g->n, last, g->width);
    size_t begin, end, first = w->end - b.tensors.count, at = w->end;
    pool_share(b.tensors.count, (size_t)rank, (size_t)s->ranks, &begin, &end);
    struct stretch own = {(first + begin) * g->width, (first + end) * g->width};
    struct stretch before = {first * g->width, own.begin}, after = {own.end, w->end * g->width};
    add_share(w, own);
    for (size_t i = last; i-- > b.tensors.first; at -= g->counts[i]) {
        struct stretch tensor = {(at - g->counts[i]) * g->width, at * g->width};
        if (i + 1 < g->n && (config->ops == NULL || config->ops[i] != config->ops[i + 1]))
            end_op(w);
        add_tensor(w, gone_of(tensor, before, w->page) + gone_of(tensor, after, w->page),
                   !b.is_whole);
    }
    complete_block(w);
    w->end = first;
    return b.tensors.first;
}

void zero_memory(struct sync_memory *m, const struct step *s, int rank, int slots,
                 const struct zero_way *way)
{
    const struct strategy_config *config = s->config;
    const struct gradient *g = s->g;
    struct zero_walk w = {
        .way = way, .page = page_of(config), .end = g->count, .own_page = SIZE_MAX};
    for (size_t last = g->n; last > 0;)
        last = walk_block(&w, s, rank, last);
    end_op(&w);
    m->params = m->params - w.not_here + w.most_params;
    m->grads = config->micro_batches > 1 ? m->grads : m->grads - w.gone + w.most_grads;
    m->state = (size_t)slots * w.own;
    m->buffers = way->receives ? (size_t)(ZERO_FLIGHTS * (s->ranks - 1)) * w.longest : 0;
}

static void memory(struct sync_memory *m, const struct step *s, int rank, int slots)
{
    const struct zero_way way = {.ahead = s->g->stage == 3, .receives = true, .kept = ZERO_FLIGHTS};
    zero_memory(m, s, rank, slots, &way);
}

const struct strategy_desc strategy_desc_zero2 = {.program = zero_program, .memory = memory};
const struct strategy_desc strategy_desc_zero3 = {.program = zero_program, .memory = memory};
