#include "comm/cost/collectives.h"

/* Where MPICH changes its algorithm: release 4.0.2, maint/tuning/coll/mpir/generic.json. The limits
 * belong to the shorter side: "avg_msg_size<=12288" is binomial; of the non-blocking calls only the
 * allreduce is asked for here. */
#define REDUCE_SHORT_BYTES     2048
#define BCAST_SHORT_BYTES      12288
#define BCAST_MIDDLE_BYTES     524288 /* and a power of two of ranks */
#define BCAST_MIN_RANKS        8
#define ALLREDUCE_SHORT_BYTES  8
#define IALLREDUCE_SHORT_BYTES 2048

int floor_power_of_two(int n)
{
    int power = 1;
    while (power <= n / 2)
        power *= 2;
    return power;
}

/* Numbers in blocks [first, last) when `count` is cut into `blocks` of equal size, the last of
 * which takes the rest: how MPICH cuts. */
static size_t block_count(size_t count, int blocks, int first, int last)
{
    size_t block = count / (size_t)blocks;
    size_t numbers = block * (size_t)(last - first);
    return last == blocks ? numbers + count % (size_t)blocks : numbers;
}

static void add_transfer(struct cost *c, const struct participant *p, size_t bytes)
{
    if (p->model != NULL)
        c->seconds += p->model->alpha_s + (double)bytes * p->model->beta_s;
}

void add_calls(struct cost *c, size_t calls, size_t bytes_each)
{
    c->calls += calls;
    c->bytes_payload += calls * bytes_each;
}

void add_message(struct cost *c, const struct participant *p, size_t bytes)
{
    c->messages_wire++;
    c->bytes_wire += bytes;
    add_transfer(c, p, bytes);
}

void add_cut_message(struct cost *c, const struct participant *p, size_t bytes, size_t segment)
{
    for (; bytes > segment; bytes -= segment)
        add_message(c, p, segment);
    if (bytes > 0)
        add_message(c, p, bytes);
}

void add_receipt(struct cost *c, const struct participant *p, size_t bytes)
{
    add_transfer(c, p, bytes);
}

void add_reduction(struct cost *c, const struct participant *p, size_t bytes)
{
    if (p->model != NULL)
        c->seconds += (double)bytes * p->model->gamma_s;
}

/* ---- Halving and doubling ---- */

enum then { THEN_ALLGATHER, THEN_GATHER };

/* Reduce-scatter by recursive halving among `blocks` ranks (a power of two), neighbours first. What
 * follows sends the same blocks back in reverse: to all, or along a tree to rank 0. */
static void add_halving(struct cost *c, const struct participant *p, int position, int blocks,
                        size_t count, size_t width, enum then then)
{
    int first = 0, last = blocks;
    for (int distance = 1; distance < blocks; distance *= 2) {
        int middle = (first + last) / 2;
        bool upper = (position & distance) != 0;
        size_t lower_bytes = block_count(count, blocks, first, middle) * width;
        size_t upper_bytes = block_count(count, blocks, middle, last) * width;
        size_t kept = upper ? upper_bytes : lower_bytes;
        size_t given = upper ? lower_bytes : upper_bytes;
        add_message(c, p, given);
        add_reduction(c, p, kept);
        if (then == THEN_ALLGATHER || (upper && position < 2 * distance))
            add_message(c, p, kept);
        else if (position < 2 * distance)
            add_receipt(c, p, given);
        if (upper)
            first = middle;
        else
            last = middle;
    }
}

/* Beyond a power of two pairs of ranks fold into one first: the even one hands its vector over,
 * stands aside and gets the result at the end. *position: of the one that stays. */
static bool stays_after_folding(struct cost *c, const struct participant *p, size_t bytes,
                                int *position)
{
    int folded = p->ranks - floor_power_of_two(p->ranks);
    bool in_pair = p->rank < 2 * folded;
    *position = in_pair ? p->rank / 2 : p->rank - folded;
    if (!in_pair)
        return true;
    add_message(c, p, bytes);
    add_receipt(c, p, bytes);
    if (p->rank % 2 == 0)
        return false;
    add_reduction(c, p, bytes);
    return true;
}

static void add_rabenseifner(struct cost *c, const struct participant *p, size_t count,
                             size_t width)
{
    int position;
    if (stays_after_folding(c, p, count * width, &position))
        add_halving(c, p, position, floor_power_of_two(p->ranks), count, width, THEN_ALLGATHER);
}

/* The whole vector with lg p partners. */
static void add_recursive_doubling(struct cost *c, const struct participant *p, size_t bytes)
{
    int position;
    if (!stays_after_folding(c, p, bytes, &position))
        return;
    for (int distance = 1; distance < floor_power_of_two(p->ranks); distance *= 2) {
        add_message(c, p, bytes);
        add_reduction(c, p, bytes);
    }
}

/* Here the even one of a pair stays, so that rank 0 does. */
static void add_reduce_scatter_gather(struct cost *c, const struct participant *p, size_t count,
                                      size_t width)
{
    int blocks = floor_power_of_two(p->ranks);
    int folded = p->ranks - blocks;
    size_t bytes = count * width;
    if (p->rank < 2 * folded && p->rank % 2 == 1) {
        add_message(c, p, bytes);
        return;
    }
    if (p->rank < 2 * folded) {
        add_receipt(c, p, bytes);
        add_reduction(c, p, bytes);
    }
    int position = p->rank < 2 * folded ? p->rank / 2 : p->rank - folded;
    add_halving(c, p, position, blocks, count, width, THEN_GATHER);
}

/* ---- The binomial tree ---- */

enum direction { UP, DOWN };

/* Bytes of blocks [first, last) when `bytes` are cut into blocks of `block`. */
static size_t bytes_between(size_t bytes, size_t block, int first, int last)
{
    size_t begin = block * (size_t)first, end = block * (size_t)last;
    end = end < bytes ? end : bytes;
    return begin < end ? end - begin : 0;
}

/* The ranks below the one that hangs on the tree by an edge of length `mask`, itself included, are
 * [rank, rank + mask). */
static int subtree_end(int rank, int mask, int ranks)
{
    return rank + mask < ranks ? rank + mask : ranks;
}

/* Over the edges of a rank: messages carry the blocks of the subtree that the edge leads to, of
 * `bytes` in all cut into `block`s. */
static void add_tree(struct cost *c, const struct participant *p, size_t bytes, size_t block,
                     enum direction direction)
{
    for (int mask = 1; mask < p->ranks; mask *= 2) {
        bool to_parent = (p->rank & mask) != 0;
        int below = to_parent ? p->rank : p->rank + mask;
        if (below < p->ranks) {
            int end = subtree_end(below, mask, p->ranks);
            size_t carried = bytes_between(bytes, block, below, end);
            if (to_parent == (direction == UP))
                add_message(c, p, carried);
            else
                add_receipt(c, p, carried);
        }
        if (to_parent)
            return;
    }
}

int tree_edges(int rank, int ranks)
{
    int edges = 0;
    for (int mask = 1; mask < ranks; mask *= 2) {
        edges += (rank & mask) != 0 || rank + mask < ranks;
        if ((rank & mask) != 0)
            break;
    }
    return edges;
}

static int tree_children(int rank, int ranks)
{
    return tree_edges(rank, ranks) - (rank > 0);
}

void add_ascent(struct cost *c, const struct participant *p, size_t bytes)
{
    int children = tree_children(p->rank, p->ranks);
    for (int i = 0; i < children; i++)
        add_receipt(c, p, bytes);
    if (p->rank > 0)
        add_message(c, p, bytes);
}

void add_reduce_binomial(struct cost *c, const struct participant *p, size_t bytes)
{
    int children = tree_children(p->rank, p->ranks);
    add_ascent(c, p, bytes);
    for (int i = 0; i < children; i++)
        add_reduction(c, p, bytes);
}

bool reduce_is_long(int ranks, size_t count, size_t width)
{
    return count * width > REDUCE_SHORT_BYTES && count >= (size_t)floor_power_of_two(ranks);
}

void add_reduce(struct cost *c, const struct participant *p, size_t count, size_t width)
{
    if (reduce_is_long(p->ranks, count, width))
        add_reduce_scatter_gather(c, p, count, width);
    else
        add_reduce_binomial(c, p, count * width);
}

enum bcast_algorithm bcast_algorithm(int ranks, size_t bytes)
{
    if (bytes <= BCAST_SHORT_BYTES || ranks < BCAST_MIN_RANKS)
        return BCAST_BINOMIAL;
    bool power_of_two = floor_power_of_two(ranks) == ranks;
    return power_of_two && bytes <= BCAST_MIDDLE_BYTES ? BCAST_SCATTER_DOUBLING
                                                       : BCAST_SCATTER_RING;
}

/* Each rank passes on every block but the one that its neighbour began with. */
static void add_ring_allgather(struct cost *c, const struct participant *p, size_t bytes,
                               size_t block)
{
    for (int i = 0; i < p->ranks - 1; i++) {
        int passed = (p->rank - i + p->ranks) % p->ranks;
        add_message(c, p, bytes_between(bytes, block, passed, passed + 1));
    }
}

/* Groups of 1, 2, 4 ... ranks exchange all that they have; ranks are a power of two. */
static void add_doubling_allgather(struct cost *c, const struct participant *p, size_t bytes,
                                   size_t block)
{
    for (int size = 1; size < p->ranks; size *= 2) {
        int group = p->rank / size * size;
        add_message(c, p, bytes_between(bytes, block, group, group + size));
    }
}

static void add_bcast_binomial(struct cost *c, const struct participant *p, size_t bytes)
{
    if (p->rank > 0)
        add_receipt(c, p, bytes);
    int children = tree_children(p->rank, p->ranks);
    for (int i = 0; i < children; i++)
        add_message(c, p, bytes);
}

void add_bcast(struct cost *c, const struct participant *p, size_t bytes)
{
    enum bcast_algorithm algorithm = bcast_algorithm(p->ranks, bytes);
    size_t block = (bytes + (size_t)p->ranks - 1) / (size_t)p->ranks;
    if (algorithm == BCAST_BINOMIAL) {
        add_bcast_binomial(c, p, bytes);
        return;
    }
    add_tree(c, p, bytes, block, DOWN);
    if (algorithm == BCAST_SCATTER_DOUBLING)
        add_doubling_allgather(c, p, bytes, block);
    else
        add_ring_allgather(c, p, bytes, block);
}

void add_gather(struct cost *c, const struct participant *p, size_t bytes)
{
    add_tree(c, p, bytes * (size_t)p->ranks, bytes, UP);
}

void add_scatter(struct cost *c, const struct participant *p, size_t bytes)
{
    add_tree(c, p, bytes * (size_t)p->ranks, bytes, DOWN);
}

/* ---- Allreduce ---- */

/* Blocks of equal size, the last ones shorter or empty; summed on the first way around, rank r
 * ending with block r + 1, and handed out on the second. */
static void add_ring(struct cost *c, const struct participant *p, size_t count, size_t width)
{
    size_t block = (count + (size_t)p->ranks - 1) / (size_t)p->ranks;
    for (int i = 0; i < 2 * (p->ranks - 1); i++) {
        int shift = i < p->ranks - 1 ? i + 1 : i - (p->ranks - 1);
        int sent = (p->rank - shift + p->ranks) % p->ranks;
        int received = (sent - 1 + p->ranks) % p->ranks;
        add_message(c, p, bytes_between(count * width, block * width, sent, sent + 1));
        if (i < p->ranks - 1)
            add_reduction(c, p,
                          bytes_between(count * width, block * width, received, received + 1));
    }
}

/* Rank r's children are 2 r + 1 and 2 r + 2 (MPIR_CVAR_IALLREDUCE_TREE_KVAL, TREE_TYPE). */
static void add_binary_tree(struct cost *c, const struct participant *p, size_t bytes)
{
    for (int child = 2 * p->rank + 1; child <= 2 * p->rank + 2 && child < p->ranks; child++) {
        add_receipt(c, p, bytes);
        add_reduction(c, p, bytes);
        add_message(c, p, bytes);
    }
    if (p->rank > 0) {
        add_message(c, p, bytes);
        add_receipt(c, p, bytes);
    }
}

enum allreduce_algorithm allreduce_algorithm(enum allreduce_algorithm asked, enum call_kind call,
                                             int ranks, size_t count, size_t width)
{
    size_t limit = call == CALL_BLOCKING ? ALLREDUCE_SHORT_BYTES : IALLREDUCE_SHORT_BYTES;
    bool cuttable = count >= (size_t)floor_power_of_two(ranks);
    if (asked == ALGORITHM_auto)
        asked = count * width <= limit ? ALGORITHM_recursive_doubling
                                       : ALGORITHM_reduce_scatter_allgather;
    return asked == ALGORITHM_reduce_scatter_allgather && !cuttable ? ALGORITHM_recursive_doubling
                                                                    : asked;
}

static void add_allreduce(struct cost *c, const struct participant *p,
                          enum allreduce_algorithm algorithm, size_t count, size_t width)
{
    switch (algorithm) {
    case ALGORITHM_recursive_doubling:
        add_recursive_doubling(c, p, count * width);
        break;
    case ALGORITHM_ring:
        add_ring(c, p, count, width);
        break;
    case ALGORITHM_tree:
        add_binary_tree(c, p, count * width);
        break;
    case ALGORITHM_auto:
    case ALGORITHM_reduce_scatter_allgather:
    case ALGORITHMS:
        add_rabenseifner(c, p, count, width);
        break;
    }
}

void add_allreduce_call(struct cost *c, const struct participant *p, enum call_kind call,
                        enum allreduce_algorithm asked, size_t count, size_t width)
{
    enum allreduce_algorithm algorithm = allreduce_algorithm(asked, call, p->ranks, count, width);
    c->calls++;
    c->bytes_payload += count * width;
    if (p->ranks > 1 && count > 0) /* the library has nothing to send then */
        add_allreduce(c, p, algorithm, count, width);
    if (count > 0)
        c->algorithms |= 1u << algorithm;
}

const char *allreduce_source(unsigned algorithms)
{
    bool doubling = algorithms & 1u << ALGORITHM_recursive_doubling;
    if (algorithms & 1u << ALGORITHM_ring)
        return "formula: ring";
    if (algorithms & 1u << ALGORITHM_tree)
        return "formula: tree";
    if (algorithms & 1u << ALGORITHM_reduce_scatter_allgather)
        return doubling ? "formula: recursive_doubling, reduce_scatter_allgather"
                        : "formula: reduce_scatter_allgather";
    return doubling ? "formula: recursive_doubling" : "none";
}

void cost_add_sum(struct cost *c, const struct strategy_config *config, int rank, int ranks,
                  size_t count, size_t width, const struct link_model *model)
{
    const struct participant p = {.rank = rank, .ranks = ranks, .model = model};
    add_allreduce_call(c, &p, config->calls, config->algorithm, count, width);
    c->wire_source = allreduce_source(c->algorithms);
}
