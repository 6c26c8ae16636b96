/* Each of p ranks sends n (p - 1) / p of the n gradients to the owners of shares. Sending all
 * parameters to all ranks takes as many numbers per rank. Stage 2 sends all parameters once per
 * step. Stage 3 sends sharded parameters before each pass of each micro-batch, and the others once
 * per step. With one micro-batch, a rank sends at most 3 n (p - 1) / p numbers per step. */
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

/* Returns how often the parameters of a block are sent in a step. */
static size_t gathers_of(const struct step *s, const struct zero_block *b)
{
    size_t micro_batches = s->config->micro_batches;
    return b->is_whole ? 1 : 2 * (micro_batches > 0 ? micro_batches : 1);
}

static struct zero_block block_before(const struct step *s, size_t last)
{
    const struct gradient *g = s->g;
    return zero_block_before(s->config, g->stage == 3, g->counts, g->n, last, g->width);
}

/* Passes the sends of gradients to the reader, block by block. Each begins as soon as backward has
 * finished its block. The sends of parameters follow, although stage 3 makes some of them earlier
 * in the step. */
static void zero_program(const struct step *s, struct reader *to)
{
    struct zero_block b;
    for (size_t last = s->g->n; last > 0; last = b.tensors.first) {
        b = block_before(s, last);
        reader_give(to, (struct operation){.rule = &rule_shares_scatter,
                                           .count = b.tensors.count,
                                           .width = s->g->width,
                                           .owners = s->ranks,
                                           .tensor = b.tensors.first});
    }
    for (size_t last = s->g->n; last > 0; last = b.tensors.first) {
        b = block_before(s, last);
        for (size_t i = 0; i < gathers_of(s, &b); i++)
            give_shares(s, to, &rule_shares_gather, b.tensors.count, s->g->width);
    }
}

/* ---- Memory ---- */

/* Bytes of one op's parameters that other ranks own: in all of the op's tensors, in its last tensor
 * and in its first tensor. */
struct gathered {
    bool some; /* whether the op gathers tensors. `all` does not show this: it counts whole pages
                  only, so it can be 0 for such an op */
    size_t all, last, first;
};

/* State of a walk over the tensors from the last to the first, as in backward. Bytes are counted in
 * whole pages. */
struct zero_walk {
    const struct zero_way *way;
    size_t page;
    size_t end;          /* end of the block to visit next: index of its last parameter + 1; blocks
                            are visited from the last to the first */
    size_t own, longest; /* bytes of pages with this rank's shares; bytes of its largest share */
    size_t own_page;     /* first page of the share that add_share counted last */
    /* bytes freed: gradients of other ranks (`gone`), parameters of other ranks (`not_here`) */
    size_t gone, not_here;
    size_t recent[ZERO_KEPT_MOST]; /* per recent block, newest first: bytes of the block's gradients
                                      that other ranks own */
    size_t kept;    /* bytes of other ranks' gradients in earlier blocks that are still in memory
                       while the current op writes its gradients */
    size_t written; /* bytes of other ranks' gradients that belong to the open block or the current
                       op */
    size_t open;    /* bytes of other ranks' gradients in the open block, whose tensors are being
                       visited */
    size_t most_grads;
    struct gathered op, behind; /* current op; previously visited op that gathers parameters */
    size_t most_params;
};

/* Byte range [begin, end) of an arena. */
struct stretch {
    size_t begin, end;
};

/* Adds a share that this rank owns. A page that is part of two shares is counted once. */
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

/* Returns the index of the page of byte `at`, clamped from the first whole page in `s` to the page
 * after the last one. The difference between two results is therefore a number of whole pages in
 * `s`. If `s` has no whole page, all results are equal. */
static size_t page_within(struct stretch s, size_t at, size_t page)
{
    size_t first = (s.begin + page - 1) / page, last = s.end / page, own = at / page;
    return own < first || last < first ? first : own > last ? last : own;
}

/* Returns how many bytes of a tensor are freed when byte range `s` is freed, in whole pages. Pages
 * that lie only partly in `s` stay in memory. */
static size_t gone_of(struct stretch tensor, struct stretch s, size_t page)
{
    size_t begin = tensor.begin > s.begin ? tensor.begin : s.begin;
    size_t end = tensor.end < s.end ? tensor.end : s.end;
    return begin < end ? (page_within(s, end, page) - page_within(s, begin, page)) * page : 0;
}

/* Adds a tensor to the walk. `theirs`: bytes of the tensor that other ranks own, in whole pages.
 * `gathers`: whether the tensor's op gathers the tensor's parameters. */
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

/* Updates the peak bytes of other ranks' gradients and of gathered parameters after an op.
 * Gradients in memory belong to the op, to earlier ops of its block and to earlier blocks that are
 * not freed yet. Parameters belong to the op and, if gathered ahead, to one tensor of the next op:
 * the first in forward, the last in backward. */
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

/* Visits the tensors of the block that ends before tensor `last`. Returns the first tensor of the
 * block. */
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
