#include "comm/cost/rounds.h"

void round_send(struct round *r, int to, size_t first, size_t count)
{
    r->sends[r->n_sends++] = (struct transfer){.rank = to, .first = first, .count = count};
}

void round_receive(struct round *r, int from, size_t first, size_t count, bool add)
{
    r->receives[r->n_receives++] = (struct transfer){from, first, count, add};
}

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Returns the index of the first number of a block, if `numbers` numbers are cut into `blocks`
 * blocks. */
static size_t block_begin(size_t numbers, size_t blocks, enum cut cut, size_t block)
{
    size_t size = numbers / blocks, rest = numbers % blocks;
    if (cut == CUT_ROUNDED_UP)
        return smaller(numbers, (size + (rest > 0)) * block);
    if (cut == CUT_REST_LAST)
        return block == blocks ? numbers : size * block;
    return size * block + smaller(block, rest);
}

void block_range(const struct schedule *s, int blocks, int begin, int end, size_t *first,
                 size_t *count)
{
    *first = block_begin(s->count, (size_t)blocks, s->cut, (size_t)begin);
    *count = block_begin(s->count, (size_t)blocks, s->cut, (size_t)end) - *first;
}

void round_pass_on(const struct schedule *s, int sent, bool add, struct round *r)
{
    int p = s->ranks, received = (sent + p - 1) % p;
    size_t first, count;
    block_range(s, p, sent, sent + 1, &first, &count);
    round_send(r, (s->rank + 1) % p, first, count);
    block_range(s, p, received, received + 1, &first, &count);
    round_receive(r, (s->rank + p - 1) % p, first, count, add);
}

/* ---- Folding ---- */

struct fold fold_of(int ranks)
{
    struct fold f = {.blocks = 1};
    for (; f.blocks <= ranks / 2; f.blocks *= 2)
        f.doublings++;
    f.folded = ranks - f.blocks;
    return f;
}

bool fold_stands_aside(const struct fold *f, int rank)
{
    return rank < 2 * f->folded && (rank % 2 == 0) != f->even_stays;
}

int fold_position_of(const struct fold *f, int rank)
{
    return rank < 2 * f->folded ? rank / 2 : rank - f->folded;
}

int fold_rank_at(const struct fold *f, int position)
{
    return position < f->folded ? 2 * position + !f->even_stays : position + f->folded;
}

void fold_round(const struct schedule *s, const struct fold *f, bool last, struct round *r)
{
    if (s->rank >= 2 * f->folded)
        return;
    bool sends = fold_stands_aside(f, s->rank) != last;
    if (sends)
        round_send(r, s->rank ^ 1, 0, s->count);
    else
        round_receive(r, s->rank ^ 1, 0, s->count, !last);
}

bool fold_is_between(const struct schedule *s, const struct fold *f, int rounds, int *i,
                     struct round *r)
{
    if (f->folded == 0)
        return true;
    bool first = *i == 0, last = *i == rounds - 1;
    if (first || last)
        fold_round(s, f, last, r);
    --*i;
    return !first && !last && !fold_stands_aside(f, s->rank);
}

/* ---- Halving ---- */

/* Finds the blocks [*begin, *end) that the rank at `position` keeps after `halvings` halvings. */
static void held_blocks(const struct fold *f, int position, int halvings, int *begin, int *end)
{
    *begin = 0;
    *end = f->blocks;
    for (int i = 0; i < halvings; i++) {
        int middle = (*begin + *end) / 2;
        if ((position & (1 << i)) != 0)
            *begin = middle;
        else
            *end = middle;
    }
}

static void held_range(const struct schedule *s, const struct fold *f, int position, int halvings,
                       size_t *first, size_t *count)
{
    int begin, end;
    held_blocks(f, position, halvings, &begin, &end);
    block_range(s, f->blocks, begin, end, first, count);
}

struct halves halves_of(const struct schedule *s, const struct fold *f, int bit)
{
    int position = fold_position_of(f, s->rank), other = position ^ (1 << bit);
    struct halves h = {.partner = fold_rank_at(f, other)};
    held_range(s, f, position, bit + 1, &h.own, &h.own_count);
    held_range(s, f, other, bit + 1, &h.theirs, &h.theirs_count);
    return h;
}

void halves_scatter(const struct halves *h, struct round *r)
{
    round_send(r, h->partner, h->theirs, h->theirs_count);
    round_receive(r, h->partner, h->own, h->own_count, true);
}

void halves_gather(const struct halves *h, struct round *r)
{
    round_send(r, h->partner, h->own, h->own_count);
    round_receive(r, h->partner, h->theirs, h->theirs_count, false);
}

/* ---- Binomial trees ---- */

int binomial_levels(int ranks)
{
    int levels = 0;
    while (1 << levels < ranks)
        levels++;
    return levels;
}

bool binomial_edge(const struct schedule *s, int mask, struct edge *edge)
{
    edge->child = (s->rank & mask) != 0 ? s->rank : s->rank + mask;
    edge->parent = edge->child - mask;
    edge->end = edge->child + mask < s->ranks ? edge->child + mask : s->ranks;
    return s->rank % mask == 0 && edge->child < s->ranks;
}

void binomial_up(const struct schedule *s, const struct edge *edge, size_t first, size_t count,
                 bool add, struct round *r)
{
    if (s->rank == edge->child)
        round_send(r, edge->parent, first, count);
    else
        round_receive(r, edge->child, first, count, add);
}

void binomial_down(const struct schedule *s, const struct edge *edge, size_t first, size_t count,
                   struct round *r)
{
    if (s->rank == edge->parent)
        round_send(r, edge->child, first, count);
    else
        round_receive(r, edge->parent, first, count, false);
}

/* ---- Pipelines ---- */

int pipeline_rounds(const struct schedule *s, int top)
{
    size_t segments = schedule_messages(s, s->count);
    return s->ranks == 1 || segments == 0 ? 0 : (int)segments + 2 * top - 1;
}

/* Sets *first and *count to the range of numbers that a segment contains. Returns false if the
 * schedule has no such segment. */
static bool segment_range(const struct schedule *s, int segment, size_t *first, size_t *count)
{
    if (segment < 0 || (size_t)segment >= schedule_messages(s, s->count))
        return false;
    *first = (size_t)segment * s->segment;
    *count = s->count - *first < s->segment ? s->count - *first : s->segment;
    return true;
}

/* A rank of height h and depth d sends segment k to its parent in round k + h, and to its children
 * in round k + t + d; t is the height of the root. */
void pipeline_round(const struct schedule *s, const struct pipeline_place *place, int i,
                    struct round *r)
{
    int down = i - place->top - place->depth;
    size_t first, count;
    if (place->depth > 0 && segment_range(s, i - place->height, &first, &count))
        round_send(r, place->parent, first, count);
    for (int k = 0; k < place->n_children; k++) {
        if (segment_range(s, i - place->child_heights[k], &first, &count))
            round_receive(r, place->children[k], first, count, true);
        if (segment_range(s, down, &first, &count))
            round_send(r, place->children[k], first, count);
    }
    if (place->depth > 0 && segment_range(s, down + 1, &first, &count))
        round_receive(r, place->parent, first, count, false);
}
