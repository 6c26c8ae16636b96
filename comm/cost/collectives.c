#include "comm/cost/collectives.h"

/* Where MPICH changes its algorithm (MPIR_CVAR_REDUCE_SHORT_MSG_SIZE, BCAST_SHORT_MSG_SIZE,
 * BCAST_MIN_PROCS, ALLREDUCE_SHORT_MSG_SIZE). */
#define REDUCE_SHORT_BYTES     2048
#define BCAST_SHORT_BYTES      12288
#define BCAST_MIN_RANKS        8
#define IALLREDUCE_SHORT_BYTES 2048

static int floor_power_of_two(int n)
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

static void add_transfer(struct cost *c, const struct party *p, size_t bytes)
{
    if (p->model != NULL)
        c->seconds += p->model->alpha_s + (double)bytes * p->model->beta_s;
}

void add_message(struct cost *c, const struct party *p, size_t bytes)
{
    c->messages_wire++;
    c->bytes_wire += bytes;
    add_transfer(c, p, bytes);
}

void add_cut_message(struct cost *c, const struct party *p, size_t bytes, size_t segment)
{
    for (; bytes > segment; bytes -= segment)
        add_message(c, p, segment);
    if (bytes > 0)
        add_message(c, p, bytes);
}

void add_receipt(struct cost *c, const struct party *p, size_t bytes)
{
    add_transfer(c, p, bytes);
}

void add_reduction(struct cost *c, const struct party *p, size_t bytes)
{
    if (p->model != NULL)
        c->seconds += (double)bytes * p->model->gamma_s;
}

/* --- Halving and doubling ------------------------------------------------------------------------
 */

enum then { THEN_ALLGATHER, THEN_GATHER };

/* Reduce-scatter by recursive halving among `blocks` ranks (a power of two), neighbours first. What
 * follows sends the same blocks back in reverse: to all, or along a tree to rank 0. */
static void add_halving(struct cost *c, const struct party *p, int position, int blocks,
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

/* As MPICH runs it: beyond a power of two, pairs of ranks fold into one first, and the one that
 * stood aside gets the result at the end. */
void add_allreduce(struct cost *c, const struct party *p, size_t count, size_t width)
{
    int blocks = floor_power_of_two(p->ranks);
    int folded = p->ranks - blocks;
    size_t bytes = count * width;
    if (p->rank < 2 * folded && p->rank % 2 == 0) {
        add_message(c, p, bytes);
        return;
    }
    if (p->rank < 2 * folded) {
        add_reduction(c, p, bytes);
        add_message(c, p, bytes);
    }
    int position = p->rank < 2 * folded ? p->rank / 2 : p->rank - folded;
    add_halving(c, p, position, blocks, count, width, THEN_ALLGATHER);
}

bool iallreduce_is_long(int ranks, size_t count, size_t width)
{
    return count * width > IALLREDUCE_SHORT_BYTES && count >= (size_t)floor_power_of_two(ranks);
}

/* The whole vector with lg p partners; pairs fold as above. */
static void add_recursive_doubling(struct cost *c, const struct party *p, size_t bytes)
{
    int blocks = floor_power_of_two(p->ranks);
    int folded = p->ranks - blocks;
    bool in_pair = p->rank < 2 * folded;
    if (in_pair) {
        add_message(c, p, bytes);
        add_receipt(c, p, bytes);
    }
    if (in_pair && p->rank % 2 == 0)
        return;
    if (in_pair)
        add_reduction(c, p, bytes);
    for (int distance = 1; distance < blocks; distance *= 2) {
        add_message(c, p, bytes);
        add_reduction(c, p, bytes);
    }
}

void add_iallreduce(struct cost *c, const struct party *p, size_t count, size_t width)
{
    if (iallreduce_is_long(p->ranks, count, width))
        add_allreduce(c, p, count, width);
    else
        add_recursive_doubling(c, p, count * width);
}

/* Here the even one of a pair stays, so that rank 0 does. */
static void add_reduce_scatter_gather(struct cost *c, const struct party *p, size_t count,
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

/* --- The binomial tree ---------------------------------------------------------------------------
 */

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
static void add_tree(struct cost *c, const struct party *p, size_t bytes, size_t block,
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

void add_ascent(struct cost *c, const struct party *p, size_t bytes)
{
    int children = tree_children(p->rank, p->ranks);
    for (int i = 0; i < children; i++)
        add_receipt(c, p, bytes);
    if (p->rank > 0)
        add_message(c, p, bytes);
}

void add_reduce_binomial(struct cost *c, const struct party *p, size_t bytes)
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

void add_reduce(struct cost *c, const struct party *p, size_t count, size_t width)
{
    if (reduce_is_long(p->ranks, count, width))
        add_reduce_scatter_gather(c, p, count, width);
    else
        add_reduce_binomial(c, p, count * width);
}

bool bcast_is_long(int ranks, size_t bytes)
{
    return bytes >= BCAST_SHORT_BYTES && ranks >= BCAST_MIN_RANKS;
}

/* Each rank passes on every block but the one that its neighbour began with. */
static void add_ring_allgather(struct cost *c, const struct party *p, size_t bytes, size_t block)
{
    for (int i = 0; i < p->ranks - 1; i++) {
        int passed = (p->rank - i + p->ranks) % p->ranks;
        add_message(c, p, bytes_between(bytes, block, passed, passed + 1));
    }
}

void add_bcast(struct cost *c, const struct party *p, size_t bytes)
{
    if (bcast_is_long(p->ranks, bytes)) {
        size_t block = (bytes + (size_t)p->ranks - 1) / (size_t)p->ranks;
        add_tree(c, p, bytes, block, DOWN);
        add_ring_allgather(c, p, bytes, block);
        return;
    }
    if (p->rank > 0)
        add_receipt(c, p, bytes);
    int children = tree_children(p->rank, p->ranks);
    for (int i = 0; i < children; i++)
        add_message(c, p, bytes);
}

void add_gather(struct cost *c, const struct party *p, size_t bytes)
{
    add_tree(c, p, bytes * (size_t)p->ranks, bytes, UP);
}

void add_scatter(struct cost *c, const struct party *p, size_t bytes)
{
    add_tree(c, p, bytes * (size_t)p->ranks, bytes, DOWN);
}
