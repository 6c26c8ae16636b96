#include "comm/cost/rounds.h"

#include "kernels/base/pool.h"

void round_send(struct round *r, int to, size_t first, size_t count)
{
    r->sends[r->n_sends++] = (struct transfer){.rank = to, .first = first, .count = count};
}

void round_receive(struct round *r, int from, size_t first, size_t count, bool add)
{
    r->receives[r->n_receives++] = (struct transfer){from, first, count, add};
}

void block_range(size_t numbers, int blocks, int begin, int end, size_t *first, size_t *count)
{
    size_t unused, last;
    *first = last = 0;
    if (begin < end) {
        pool_share(numbers, (size_t)begin, (size_t)blocks, first, &unused);
        pool_share(numbers, (size_t)end - 1, (size_t)blocks, &unused, &last);
    }
    *count = last - *first;
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

static bool stands_aside(const struct fold *f, int rank)
{
    return rank < 2 * f->folded && rank % 2 == 0;
}

int fold_position_of(const struct fold *f, int rank)
{
    return rank < 2 * f->folded ? rank / 2 : rank - f->folded;
}

int fold_rank_at(const struct fold *f, int position)
{
    return position < f->folded ? 2 * position + 1 : position + f->folded;
}

/* The first round, and the last, which goes the other way. */
static void fold_round(const struct schedule *s, const struct fold *f, bool last, struct round *r)
{
    if (s->rank >= 2 * f->folded)
        return;
    bool sends = stands_aside(f, s->rank) != last;
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
    return !first && !last && !stands_aside(f, s->rank);
}

/* ---- Pipelines ---- */

int pipeline_rounds(const struct schedule *s, int top)
{
    size_t segments = schedule_messages(s, s->count);
    return s->ranks == 1 || segments == 0 ? 0 : (int)segments + 2 * top - 1;
}

/* False when there is no such segment. */
static bool segment_range(const struct schedule *s, int segment, size_t *first, size_t *count)
{
    if (segment < 0 || (size_t)segment >= schedule_messages(s, s->count))
        return false;
    *first = (size_t)segment * s->segment;
    *count = s->count - *first < s->segment ? s->count - *first : s->segment;
    return true;
}

/* Segment k leaves a rank of height h upwards in round k + h, when the ranks below have sent
 * theirs; the root, of height t, sends it down in round k + t, and a rank of depth d in round k + t
 * + d. */
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
