#include "bench/doctor/outlier.h"

#include <math.h>
#include <stdlib.h>

#include "kernels/base/mem.h"

/* ---- Ratios ---- */

enum status measured_open(struct measured *m, size_t n, size_t rounds, struct error *e)
{
    *m = (struct measured){.n = n, .rounds = rounds};
    TRY(MEM_NEW(m->x, n * rounds, "rounds", e));
    for (size_t i = 0; i < n * rounds; i++)
        m->x[i] = NAN;
    return MEM_NEW(m->ratios, n, "ratios", e);
}

void measured_free(struct measured *m)
{
    free(m->x);
    free(m->ratios);
}

/* Returns the median value of member i's peers in round t; NAN if none has a value. Peers: other
 * members j with peers[j] = peers[i], or all others if `peers` is NULL. `others`: scratch space for
 * m->n numbers. */
static double median_of_others(const struct measured *m, const int *peers, size_t i, size_t t,
                               double *others)
{
    size_t k = 0;
    for (size_t j = 0; j < m->n; j++)
        if (j != i && (peers == NULL || peers[j] == peers[i]) && !isnan(m->x[j * m->rounds + t]))
            others[k++] = m->x[j * m->rounds + t];
    return k > 0 ? stats_median(others, k) : NAN;
}

static struct interval ratio_of(const struct measured *m, const int *peers, size_t i,
                                double *others)
{
    double ratios[m->rounds + 1];
    size_t k = 0;
    for (size_t t = 0; t < m->rounds; t++) {
        double ratio = m->x[i * m->rounds + t] / median_of_others(m, peers, i, t, others);
        if (isfinite(ratio))
            ratios[k++] = ratio;
    }
    return stats_median_interval(ratios, k, OUTLIER_LEVEL);
}

enum status measured_compare(struct measured *m, const int *peers, struct error *e)
{
    double *others;
    TRY(MEM_NEW(others, m->n, "medians of rounds", e));
    for (size_t i = 0; i < m->n; i++)
        m->ratios[i] = ratio_of(m, peers, i, others);
    free(others);
    return OK;
}

struct interval measured_interval(const struct measured *m, size_t i)
{
    double x[m->rounds + 1];
    size_t n = 0;
    for (size_t t = 0; t < m->rounds; t++)
        if (!isnan(m->x[i * m->rounds + t]))
            x[n++] = m->x[i * m->rounds + t];
    return stats_median_interval(x, n, OUTLIER_LEVEL);
}

enum outlier outlier_judge(const struct interval *ratio, double margin, bool more_is_slower)
{
    if (isnan(ratio->mid) || isnan(ratio->lo) || isnan(ratio->hi) || !ratio->met)
        return OUTLIER_UNKNOWN;
    double limit = more_is_slower ? 1 + margin : 1 - margin;
    bool lo_is_slow = more_is_slower ? ratio->lo > limit : ratio->lo < limit;
    bool hi_is_slow = more_is_slower ? ratio->hi > limit : ratio->hi < limit;
    if (lo_is_slow && hi_is_slow)
        return OUTLIER_SLOW;
    return lo_is_slow || hi_is_slow ? OUTLIER_OPEN : OUTLIER_FINE;
}

/* ---- Blame ---- */

/* Counts of a node's measured directions (ordered pairs of nodes) in one role: sender or
 * receiver. */
struct side {
    int all, slow; /* number of all directions of this node as sender (or as receiver), and number
                      of slow ones without a known cause */
};

static double share_of(const struct side *s)
{
    return s->slow > 1 && 2 * s->slow > s->all ? (double)s->slow / s->all : 0;
}

static void count(struct side *sides, const struct direction *directions, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const struct direction *d = &directions[i];
        bool open = d->slow && d->blame == BLAME_NOTHING;
        sides[2 * d->from].all++;
        sides[2 * d->to + 1].all++;
        sides[2 * d->from].slow += open;
        sides[2 * d->to + 1].slow += open;
    }
}

/* Finds the node and role (sender or receiver) with the largest share of unexplained slow
 * directions (ordered pairs of nodes). At least two, and more than half, of the node's directions
 * in this role must be slow and unexplained (share_of). Blames the node in this role for these.
 * Returns false if there is no such node. `sides`: [nodes][sender, receiver]. */
static bool explain(struct side *sides, struct direction *directions, size_t n, int nodes)
{
    int worst = -1;
    for (int k = 0; k < 2; k++)
        for (int i = k; i < 2 * nodes; i += 2)
            if (share_of(&sides[i]) > (worst < 0 ? 0 : share_of(&sides[worst])))
                worst = i;
    for (size_t i = 0; worst >= 0 && i < n; i++) {
        struct direction *d = &directions[i];
        bool sends = worst % 2 == 0;
        if (d->slow && d->blame == BLAME_NOTHING && (sends ? d->from : d->to) == worst / 2)
            d->blame = sends ? BLAME_SENDER : BLAME_RECEIVER;
    }
    return worst >= 0;
}

enum status outlier_blame(struct direction *directions, size_t n, int nodes, struct error *e)
{
    struct side *sides;
    bool found = true;
    for (size_t i = 0; i < n; i++)
        directions[i].blame = BLAME_NOTHING;
    while (found) {
        TRY(MEM_NEW(sides, 2 * (size_t)nodes, "links of nodes", e));
        count(sides, directions, n);
        found = explain(sides, directions, n, nodes);
        free(sides);
    }
    for (size_t i = 0; i < n; i++)
        if (directions[i].slow && directions[i].blame == BLAME_NOTHING)
            directions[i].blame = BLAME_PAIR;
    return OK;
}
