/* Times operations in rounds. Every round runs each operation, in a random order, so that
 * disturbances affect all of them. If memory is short, operations are split into groups that are
 * timed one after another; MPI_Allreduce is timed in every group. */
#include <math.h>
#include <stdlib.h>

#include "bench/workloads/sweeps/comm/sweep.h"
#include "kernels/base/rng.h"

/* Constants for the number of steps per round. ROUND_BYTES: bytes that a round should sum, so that
 * the round takes long enough for the clock. STEPS_MOST: largest number of steps, except for
 * strategies whose messages repeat only after a longer period. STEPS_UNEVEN: smallest number for
 * strategies whose steps take different times. */
#define ROUND_BYTES  ((size_t)256 << 10)
#define STEPS_MOST   16
#define STEPS_UNEVEN 8

/* Approximate memory of an open strategy, as a multiple of the gradient's size: parameters,
 * gradients, receive buffers, shared sums. */
#define ARENAS_OPEN 5

/* Operations that are timed in the same rounds. */
struct group {
    struct contender *all[CONTENDERS_MAX];
    int n;
};

int round_steps(const struct sweep *s, const struct problem *p, const struct contender *c)
{
    size_t bytes = p->desc->n_params * sizeof(real) + 1, steps = ROUND_BYTES / bytes + 1;
    unsigned flags = strategy_config_flags(c->kind, c->config.variant);
    struct cost cost = contender_cost(s, p, c);
    bool uneven = (flags & STRATEGY_OVERLAPS) != 0 || (flags & STRATEGY_DETERMINISTIC) == 0;
    size_t period = uneven && !(flags & STRATEGY_EXACT) ? STEPS_UNEVEN : cost.steps;
    size_t n = steps < STEPS_MOST ? steps : STEPS_MOST;
    return (int)(n > period ? n : period);
}

/* Times one round of an operation, after a barrier. Sets c->round_ns[round] to the mean time of a
 * step. */
static enum status run_round(struct sweep *s, const struct problem *p, struct contender *c,
                             int round, struct error *e)
{
    int steps = round_steps(s, p, c);
    double sum_ns = 0;
    contender_enter(s, c);
    TRY(contender_choose(s, c, e));
    TRY(wait_barrier(&s->waiter, MPI_COMM_WORLD, "beginning of a round", e));
    for (int i = 0; i < steps; i++) {
        int64_t ns = 0;
        TRY(contender_step(s, p, c, &ns, e));
        sum_ns += (double)ns;
    }
    c->round_ns[round] = sum_ns / steps;
    return contender_leave(s, e);
}

static enum status run_rounds(struct sweep *s, const struct problem *p, const struct group *group,
                              struct error *e)
{
    uint32_t order[CONTENDERS_MAX + 1];
    for (int round = 0; round < s->options->rounds; round++) {
        rng_permutation(order, (uint32_t)group->n, 1, RNG_STREAM(RNG_SCHEDULE, 0), (uint32_t)round);
        for (int i = 0; i < group->n; i++)
            TRY(run_round(s, p, group->all[order[i]], round, e));
    }
    return OK;
}

/* Runs an operation up to its next odd step and checks the result. After an even step the correct
 * parameters are 0, so a strategy that never sums would pass. */
static enum status check_one(struct sweep *s, const struct problem *p, struct contender *c,
                             struct error *e)
{
    int64_t ns;
    contender_enter(s, c);
    TRY(contender_choose(s, c, e));
    do {
        TRY(contender_step(s, p, c, &ns, e));
    } while (c->steps % 2 == 0);
    TRY(contender_check(s, p, c, e));
    return contender_leave(s, e);
}

static enum status check_group(struct sweep *s, const struct problem *p, const struct group *group,
                               struct error *e)
{
    for (int i = 0; i < group->n; i++)
        TRY(check_one(s, p, group->all[i], e));
    return OK;
}

/* Times a group of operations in all rounds, and checks their results before and after the rounds.
 * Sets round_ns on every rank to the times of the slowest rank. */
static enum status time_group(struct sweep *s, const struct problem *p, const struct group *group,
                              struct error *e)
{
    TRY(check_group(s, p, group, e));
    TRY(run_rounds(s, p, group, e));
    TRY(check_group(s, p, group, e));
    for (int i = 0; i < group->n; i++)
        TRY(wait_allreduce(&s->waiter, group->all[i]->round_ns, (size_t)s->options->rounds,
                           MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD, "times of the slowest rank", e));
    return OK;
}

static void leave_out(struct sweep *s, const struct problem *p, struct contender *c,
                      const struct error *why)
{
    char name[CONTENDER_NAME];
    c->median_ns = NAN;
    mem_room_empty(&c->memory);
    if (s->rank == 0)
        fprintf(stderr, "comm_sweep: %s: %s\n", contender_name(c, name), why->text);
    sweep_print_skipped(s, p, c);
}

/* Opens contenders [first, last) and adds them to the group until the group is full. The memory
 * limit determines how many contenders fit, but 2 always fit. Reports and skips contenders that
 * cannot run. Sets *next to the first contender that was not tried. */
static enum status open_group(struct sweep *s, const struct problem *p,
                              struct contender *contenders, int first, int last,
                              struct group *group, int *next, struct error *e)
{
    double each = ARENAS_OPEN * sizeof(real) * (double)p->desc->n_params * s->local_ranks;
    int most = (int)fmax(2, fmin(s->options->memory_bytes / (each + 1), CONTENDERS_MAX));
    for (*next = first; *next < last && group->n < most; ++*next) {
        struct contender *c = &contenders[*next];
        enum status status = contender_open(s, p, c, e);
        if (status == ERR_UNAVAILABLE) {
            leave_out(s, p, c, e);
            continue;
        }
        TRY(status);
        group->all[group->n++] = c;
    }
    return OK;
}

static void close_group(struct sweep *s, struct group *group)
{
    for (int i = 0; i < group->n; i++)
        contender_close(s, group->all[i]);
}

/* Times MPI_Allreduce (contender 0) together with the contenders from *next on, as many as fit in
 * memory. Sets *next to the first contender that was not tried. Prints a row for each timed
 * contender, but for MPI_Allreduce only in the first call. */
static enum status time_beside_raw(struct sweep *s, const struct problem *p,
                                   struct contender *contenders, int all, int *next,
                                   struct group *group, struct error *e)
{
    int first = *next, ignored;
    TRY(open_group(s, p, contenders, 0, 1, group, &ignored, e));
    if (group->n == 0)
        return error_set(e, ERR_UNAVAILABLE, "nothing to compare with: MPI_Allreduce cannot run");
    TRY(open_group(s, p, contenders, first, all, group, next, e));
    TRY(time_group(s, p, group, e));
    for (int i = first == 1 ? 0 : 1; i < group->n; i++)
        TRY(sweep_print_row(s, p, group->all[i], group->all[0], round_steps(s, p, group->all[i]),
                            e));
    return OK;
}

/* ---- Comparing two ---- */

/* Times two operations and prints a row for each, compared with the other. If one operation cannot
 * run, the other is compared with itself. */
static enum status time_pair(struct sweep *s, const struct problem *p, struct contender pair[2],
                             struct group *group, struct error *e)
{
    int ignored;
    TRY(open_group(s, p, pair, 0, 2, group, &ignored, e));
    if (group->n > 0)
        TRY(time_group(s, p, group, e));
    for (int i = 0; i < group->n; i++)
        TRY(sweep_print_row(s, p, group->all[i], group->all[group->n - 1 - i],
                            round_steps(s, p, group->all[i]), e));
    return OK;
}

static enum status sweep_pair(struct sweep *s, const struct problem *p, struct contender pair[2],
                              struct error *e)
{
    struct group group = {.n = 0};
    enum status status = time_pair(s, p, pair, &group, e);
    close_group(s, &group);
    return status;
}

enum status sweep_compare(struct sweep *s, const struct problem *p, struct error *e)
{
    struct contender pair[2] = {s->options->compared[0], s->options->compared[1]};
    return sweep_pair(s, p, pair, e);
}

static bool sums_exactly(const struct contender *c)
{
    return !c->is_raw && c->config.compressor == COMPRESSOR_none &&
           (strategy_flags(c->kind) & STRATEGY_EXACT) != 0;
}

/* Returns the fastest contender that has verdict ok and for which is_wanted returns true; NULL if
 * no contender qualifies. */
static const struct contender *find_best(const struct contender *contenders, int n,
                                         bool (*is_wanted)(const struct contender *c))
{
    const struct contender *best = NULL;
    for (int i = 0; i < n; i++)
        if (is_wanted(&contenders[i]) && contenders[i].is_ok &&
            (best == NULL || contenders[i].median_ns < best->median_ns))
            best = &contenders[i];
    return best;
}

static bool is_raw(const struct contender *c)
{
    return c->is_raw;
}

/* Times two operations again: the fastest strategy that computes the sum without a compressor, and
 * the fastest library algorithm. The fastest of many measurements is partly the luckiest. */
static enum status compare_best(struct sweep *s, const struct problem *p,
                                const struct contender *contenders, int n, struct error *e)
{
    const struct contender *ours = find_best(contenders, n, sums_exactly);
    const struct contender *theirs = find_best(contenders, n, is_raw);
    if (ours == NULL || theirs == NULL)
        return OK;
    struct problem again = *p;
    struct contender pair[2] = {
        {.kind = ours->kind, .config = ours->config, .is_right = true},
        {.is_raw = true, .kind = theirs->kind, .config = theirs->config, .is_right = true}};
    again.part = "best";
    return sweep_pair(s, &again, pair, e);
}

enum status sweep_problem(struct sweep *s, const struct problem *p, struct error *e)
{
    struct contender contenders[CONTENDERS_MAX];
    int all = contenders_list(s->options, contenders), next = 1;
    do {
        struct group group = {.n = 0};
        enum status status = time_beside_raw(s, p, contenders, all, &next, &group, e);
        close_group(s, &group);
        TRY(status);
    } while (next < all);
    return compare_best(s, p, contenders, all, e);
}
