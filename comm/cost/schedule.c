#include "comm/cost/rounds.h"

#include "kernels/base/pool.h"

struct schedule schedule_of(enum strategy_kind strategy, const struct strategy_config *config,
                            int rank, int ranks, size_t count, size_t width)
{
    size_t segment = config->segment_bytes / width;
    struct schedule s = {.strategy = strategy,
                         .rank = rank,
                         .ranks = ranks,
                         .count = count,
                         .segment = segment > 0 ? segment : 1,
                         .map = node_map_of(config, ranks)};
    if (schedule_knows_nodes(strategy))
        s.view = node_view_of(&s.map, rank);
    return s;
}

bool schedule_knows_nodes(enum strategy_kind strategy)
{
    return strategy == STRATEGY_hierarchical || strategy == STRATEGY_leader;
}

size_t schedule_messages(const struct schedule *s, size_t count)
{
    return (count + s->segment - 1) / s->segment;
}

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

/* ---- Ring ---- */

static int ring_rounds(const struct schedule *s)
{
    return 2 * (s->ranks - 1);
}

/* What is passed on in a round is what came in the one before; after p - 1 rounds a rank holds the
 * sum of the block of its right neighbour. */
static void ring_round(const struct schedule *s, int i, struct round *r)
{
    int p = s->ranks;
    int passed = (s->rank - i + 2 * p) % p, taken = (passed + p - 1) % p;
    size_t first, count;
    block_range(s->count, p, passed, passed + 1, &first, &count);
    round_send(r, (s->rank + 1) % p, first, count);
    block_range(s->count, p, taken, taken + 1, &first, &count);
    round_receive(r, (s->rank + p - 1) % p, first, count, i < p - 1);
}

/* ---- Folding ---- */

/* Of ranks 0 to 2 folded - 1 the odd ones carry on for the even ones. */
struct fold {
    int blocks, folded; /* ranks that carry on: a power of two; pairs */
    int doublings;      /* lg blocks */
};

static struct fold fold_of(int ranks)
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

static int position_of(const struct fold *f, int rank)
{
    return rank < 2 * f->folded ? rank / 2 : rank - f->folded;
}

static int rank_at(const struct fold *f, int position)
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

/* Index of a round among those between folding and unfolding; false for these two, which are filled
 * in, and for who stands aside. */
static bool is_between(const struct schedule *s, const struct fold *f, int rounds, int *i,
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

/* ---- Recursive doubling ---- */

static int recursive_doubling_rounds(const struct schedule *s)
{
    struct fold f = fold_of(s->ranks);
    return f.doublings + (f.folded > 0 ? 2 : 0);
}

static void recursive_doubling_round(const struct schedule *s, int i, struct round *r)
{
    struct fold f = fold_of(s->ranks);
    if (!is_between(s, &f, recursive_doubling_rounds(s), &i, r))
        return;
    int partner = rank_at(&f, position_of(&f, s->rank) ^ (1 << i));
    round_send(r, partner, 0, s->count);
    round_receive(r, partner, 0, s->count, true);
}

/* ---- Rabenseifner ---- */

static int rabenseifner_rounds(const struct schedule *s)
{
    struct fold f = fold_of(s->ranks);
    return 2 * f.doublings + (f.folded > 0 ? 2 : 0);
}

/* The blocks that a position answers for after so many halvings. */
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

static void rabenseifner_round(const struct schedule *s, int i, struct round *r)
{
    struct fold f = fold_of(s->ranks);
    if (!is_between(s, &f, rabenseifner_rounds(s), &i, r))
        return;
    bool halving = i < f.doublings;
    int bit = halving ? i : 2 * f.doublings - 1 - i;
    int position = position_of(&f, s->rank), other = position ^ (1 << bit);
    int begin, end;
    size_t kept, kept_count, given, given_count;
    held_blocks(&f, position, bit + 1, &begin, &end);
    block_range(s->count, f.blocks, begin, end, &kept, &kept_count);
    held_blocks(&f, other, bit + 1, &begin, &end);
    block_range(s->count, f.blocks, begin, end, &given, &given_count);
    if (halving) {
        round_send(r, rank_at(&f, other), given, given_count);
        round_receive(r, rank_at(&f, other), kept, kept_count, true);
    } else {
        round_send(r, rank_at(&f, other), kept, kept_count);
        round_receive(r, rank_at(&f, other), given, given_count, false);
    }
}

/* ---- Pipelines ---- */

/* A rank's place below a root. */
struct seat {
    int parent, height, depth;
    int children[2], child_heights[2], n_children;
    int top; /* height of the root */
};

static int pipeline_rounds(const struct schedule *s, int top)
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
static void pipeline_round(const struct schedule *s, const struct seat *seat, int i,
                           struct round *r)
{
    int turn = i - seat->top - seat->depth;
    size_t first, count;
    if (seat->depth > 0 && segment_range(s, i - seat->height, &first, &count))
        round_send(r, seat->parent, first, count);
    for (int k = 0; k < seat->n_children; k++) {
        if (segment_range(s, i - seat->child_heights[k], &first, &count))
            round_receive(r, seat->children[k], first, count, true);
        if (segment_range(s, turn, &first, &count))
            round_send(r, seat->children[k], first, count);
    }
    if (seat->depth > 0 && segment_range(s, turn + 1, &first, &count))
        round_receive(r, seat->parent, first, count, false);
}

/* ---- Tree ---- */

/* Rank r hangs below (r - 1) / 2. */
static int height_of(int rank, int ranks)
{
    int height = 0;
    for (rank = 2 * rank + 1; rank < ranks; rank = 2 * rank + 1)
        height++;
    return height;
}

static int depth_of(int rank)
{
    int depth = 0;
    for (; rank > 0; rank = (rank - 1) / 2)
        depth++;
    return depth;
}

static int tree_rounds(const struct schedule *s)
{
    return pipeline_rounds(s, height_of(0, s->ranks));
}

static void tree_round(const struct schedule *s, int i, struct round *r)
{
    struct seat seat = {.parent = (s->rank - 1) / 2,
                        .height = height_of(s->rank, s->ranks),
                        .depth = depth_of(s->rank),
                        .top = height_of(0, s->ranks)};
    for (int child = 2 * s->rank + 1; child <= 2 * s->rank + 2 && child < s->ranks; child++) {
        seat.children[seat.n_children] = child;
        seat.child_heights[seat.n_children++] = height_of(child, s->ranks);
    }
    pipeline_round(s, &seat, i, r);
}

/* ---- Fixed order ---- */

static int fixed_order_rounds(const struct schedule *s)
{
    return pipeline_rounds(s, s->ranks - 1);
}

/* A chain with the last rank as its root: what a rank passes on is the sum of those before it, and
 * its own. */
static void fixed_order_round(const struct schedule *s, int i, struct round *r)
{
    const struct seat seat = {.parent = s->rank + 1,
                              .height = s->rank,
                              .depth = s->ranks - 1 - s->rank,
                              .children = {s->rank - 1},
                              .child_heights = {s->rank - 1},
                              .n_children = s->rank > 0,
                              .top = s->ranks - 1};
    pipeline_round(s, &seat, i, r);
}

/* ---- The table ---- */

static const struct {
    int (*rounds)(const struct schedule *s);
    void (*round)(const struct schedule *s, int i, struct round *r);
} TABLE[STRATEGIES] = {
    [STRATEGY_ring] = {ring_rounds, ring_round},
    [STRATEGY_recursive_doubling] = {recursive_doubling_rounds, recursive_doubling_round},
    [STRATEGY_rabenseifner] = {rabenseifner_rounds, rabenseifner_round},
    [STRATEGY_tree] = {tree_rounds, tree_round},
    [STRATEGY_fixed_order] = {fixed_order_rounds, fixed_order_round},
    [STRATEGY_hierarchical] = {hierarchical_rounds, hierarchical_round},
    [STRATEGY_leader] = {leader_rounds, leader_round},
};

int schedule_rounds(const struct schedule *s)
{
    return TABLE[s->strategy].rounds(s);
}

void schedule_round(const struct schedule *s, int i, struct round *round)
{
    *round = (struct round){.n_sends = 0};
    TABLE[s->strategy].round(s, i, round);
}
