/* Operations take turns: in each turn every one of them runs, in an order of its own, so that
 * whatever slows the machine down meets all of them. Strategies hold memory: where all of them at
 * once would hold too much they go by groups, MPI_Allreduce being in each. */
#include <math.h>
#include <stdlib.h>

#include "bench/workloads/sweeps/comm/sweep.h"
#include "kernels/base/rng.h"

/* Steps of a turn: small gradients are summed often enough for the clock, what does not do the same
 * in every step comes round. What goes as ranks happen to be has some steps to even out, and what
 * waits for a sum of the step before does not find it done by other operations' calls. */
#define TURN_BYTES   ((size_t)256 << 10)
#define STEPS_MOST   16
#define STEPS_UNEVEN 8

/* Parameters, gradients, what is received, and shared sums, about. */
#define ARENAS_OPEN 5

static int steps_of(const struct sweep *s, const struct problem *p, const struct entry *entry)
{
    size_t bytes = p->desc->n_params * sizeof(real) + 1, steps = TURN_BYTES / bytes + 1;
    unsigned flags = strategy_config_flags(entry->kind, entry->config.variant);
    struct strategy_config config = entry->config;
    config.rows = p->rows;
    struct cost c = strategy_cost(entry->kind, &config, s->rank, s->ranks, p->counts,
                                  (size_t)p->desc->n_tensors, sizeof(real), NULL);
    bool uneven = (flags & STRATEGY_OVERLAPS) != 0 || (flags & STRATEGY_DETERMINISTIC) == 0;
    size_t round = uneven && !(flags & STRATEGY_EXACT) ? STEPS_UNEVEN : c.steps;
    size_t n = steps < STEPS_MOST ? steps : STEPS_MOST;
    return (int)(n > round ? n : round);
}

/* The mean of a turn's steps; begins when all ranks are there. */
static enum status run_turn(struct sweep *s, const struct problem *p, struct entry *entry, int turn,
                            struct error *e)
{
    int steps = steps_of(s, p, entry);
    double sum_ns = 0;
    entry_enter(s, entry);
    enum status status = entry_choose(s, entry, e);
    if (status == OK)
        status = wait_barrier(&s->waiter, MPI_COMM_WORLD, "beginning of a turn", e);
    for (int i = 0; status == OK && i < steps; i++) {
        int64_t ns = 0;
        status = entry_step(s, p, entry, &ns, e);
        sum_ns += (double)ns;
    }
    entry->turn_ns[turn] = sum_ns / steps;
    return status == OK ? entry_leave(s, e) : status;
}

enum status sweep_stop_if_asked(struct sweep *s, struct error *e)
{
    int asked = sweep_is_interrupted();
    enum status status = wait_allreduce(&s->waiter, &asked, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD,
                                        "agreement to go on", e);
    if (status == OK && asked)
        return error_set(e, ERR_INTERRUPTED, "stopped by a signal; rows so far are whole");
    return status;
}

static enum status run_turns(struct sweep *s, const struct problem *p, struct entry **group, int n,
                             struct error *e)
{
    uint32_t order[ENTRIES_MAX + 1];
    enum status status = OK;
    for (int turn = 0; status == OK && turn < s->options->turns; turn++) {
        rng_permutation(order, (uint32_t)n, 1, RNG_STREAM(RNG_SCHEDULE, 0), (uint32_t)turn);
        for (int i = 0; status == OK && i < n; i++)
            status = run_turn(s, p, group[order[i]], turn, e);
        if (status == OK)
            status = sweep_stop_if_asked(s, e);
        progress_tick(&s->tasks.progress);
    }
    return status;
}

/* Checked after an odd step and again at the end, whatever has come in between. */
static enum status check_one(struct sweep *s, const struct problem *p, struct entry *entry,
                             struct error *e)
{
    int64_t ns;
    entry_enter(s, entry);
    enum status status = entry_choose(s, entry, e);
    do {
        if (status == OK)
            status = entry_step(s, p, entry, &ns, e);
    } while (status == OK && entry->steps % 2 == 0);
    if (status == OK)
        status = entry_check(s, p, entry, e);
    return status == OK ? entry_leave(s, e) : status;
}

static enum status check_group(struct sweep *s, const struct problem *p, struct entry **group,
                               int n, struct error *e)
{
    enum status status = OK;
    for (int i = 0; status == OK && i < n; i++)
        status = check_one(s, p, group[i], e);
    return status;
}

/* The slowest rank's times, on all of them. */
static enum status find_slowest(struct sweep *s, struct entry *entry, struct error *e)
{
    return wait_allreduce(&s->waiter, entry->turn_ns, (size_t)s->options->turns, MPI_DOUBLE,
                          MPI_MAX, MPI_COMM_WORLD, "times of the slowest rank", e);
}

/* Each beside the first of them, MPI_Allreduce. */
static enum status print_group(struct sweep *s, const struct problem *p, struct entry **group,
                               int n, bool with_raw, struct error *e)
{
    enum status status = OK;
    for (int i = with_raw ? 0 : 1; status == OK && i < n; i++)
        status = sweep_print_row(s, p, group[i], group[0], steps_of(s, p, group[i]), e);
    return status;
}

static enum status time_group(struct sweep *s, const struct problem *p, struct entry **group, int n,
                              struct error *e)
{
    enum status status = check_group(s, p, group, n, e);
    if (status == OK)
        status = run_turns(s, p, group, n, e);
    if (status == OK)
        status = check_group(s, p, group, n, e);
    for (int i = 0; status == OK && i < n; i++)
        status = find_slowest(s, group[i], e);
    return status;
}

static enum status leave_out(struct sweep *s, const struct problem *p, struct entry *entry,
                             const struct error *why)
{
    char name[ENTRY_NAME];
    entry->median_ns = NAN;
    if (s->rank == 0) {
        progress_clear(&s->tasks.progress);
        fprintf(stderr, "comm_sweep: %s: %s\n", entry_name(entry, name), why->text);
    }
    return sweep_print_skipped(s, p, entry);
}

/* Opens the entries from `first` on that fit into a group beside MPI_Allreduce. What cannot run is
 * printed and left out. Returns the first entry that is left in *next. */
static enum status open_group(struct sweep *s, const struct problem *p, struct entry *entries,
                              int first, int last, struct entry **group, int *n, int *next,
                              struct error *e)
{
    double each = ARENAS_OPEN * sizeof(real) * (double)p->desc->n_params * s->local_ranks;
    int most = (int)fmax(2, fmin(s->options->memory_bytes / (each + 1), ENTRIES_MAX));
    enum status status = OK;
    int i = first;
    for (; status == OK && i < last && *n < most; i++) {
        struct error why = {0};
        status = entry_open(s, p, &entries[i], &why);
        if (status == OK) {
            group[(*n)++] = &entries[i];
        } else if (status == ERR_UNAVAILABLE) {
            status = leave_out(s, p, &entries[i], &why);
        } else {
            *e = why;
        }
    }
    *next = i;
    return status;
}

static enum status sweep_group(struct sweep *s, const struct problem *p, struct entry *entries,
                               int all, int *next, struct error *e)
{
    struct entry *group[ENTRIES_MAX];
    int first = *next, n = 0, raw;
    tasks_tell_progress(s, p, first, all);
    enum status status = open_group(s, p, entries, 0, 1, group, &n, &raw, e);
    if (status == OK && n == 0)
        status = error_set(e, ERR_UNAVAILABLE, "nothing to compare with: MPI_Allreduce cannot run");
    if (status == OK)
        status = open_group(s, p, entries, first, all, group, &n, next, e);
    if (status == OK)
        status = time_group(s, p, group, n, e);
    if (status == OK)
        status = print_group(s, p, group, n, first == 1, e);
    for (int i = 0; i < n; i++)
        entry_close(s, group[i]);
    return status;
}

/* ---- What it is expected to take ---- */

/* Besides what the model knows a step draws gradients and takes its sums in, a turn has barriers,
 * and an entry is opened and checked. */
static double expect_entry_s(const struct sweep *s, const struct problem *p,
                             const struct entry *entry)
{
    enum { PASSES = 3, CHECKS = 6 };
    const size_t all = p->desc->n_params;
    struct strategy_config config = entry->config;
    config.rows = p->rows;
    struct cost c =
        strategy_cost(entry->kind, &config, s->rank, s->ranks, entry->is_raw ? &all : p->counts,
                      entry->is_raw ? 1 : (size_t)p->desc->n_tensors, sizeof(real), &s->link);
    double alpha_s = isfinite(s->link.alpha_s) ? s->link.alpha_s : 0;
    double message_s = isfinite(c.seconds) ? c.seconds : 0;
    double pass_s = (double)(all * sizeof(real)) * s->link.gamma_s;
    double turns = s->options->turns, steps = turns * steps_of(s, p, entry) + CHECKS;
    return steps * (message_s + PASSES * pass_s) + turns * 2 * log2(s->ranks) * alpha_s +
           ARENAS_OPEN * pass_s;
}

double sweep_expect_s(const struct sweep *s, const struct problem *p)
{
    struct entry entries[ENTRIES_MAX];
    double sum = 0;
    int n = 2;
    if (s->options->compares)
        entries_compared(s->options, entries);
    else
        n = entries_list(s->options, entries);
    for (int i = 0; i < n; i++)
        sum += expect_entry_s(s, p, &entries[i]);
    return s->options->compares ? sum : sum * (n + 2) / n; /* the two best are timed anew */
}

/* ---- Two with each other ---- */

/* Both rows, each beside the other; one only where the other cannot run. */
static enum status sweep_pair(struct sweep *s, const struct problem *p, struct entry pair[2],
                              struct error *e)
{
    struct entry *group[2];
    int n = 0, next;
    enum status status = open_group(s, p, pair, 0, 2, group, &n, &next, e);
    if (status == OK && n > 0)
        status = time_group(s, p, group, n, e);
    for (int i = 0; status == OK && i < n; i++)
        status = sweep_print_row(s, p, group[i], group[n - 1 - i], steps_of(s, p, group[i]), e);
    for (int i = 0; i < n; i++)
        entry_close(s, group[i]);
    return status;
}

enum status sweep_compare(struct sweep *s, const struct problem *p, struct error *e)
{
    struct entry pair[2];
    entries_compared(s->options, pair);
    tasks_tell_progress(s, p, 0, 2);
    return sweep_pair(s, p, pair, e);
}

static bool sums_exactly(const struct entry *entry)
{
    return !entry->is_raw && entry->config.compressor == COMPRESSOR_none &&
           (strategy_flags(entry->kind) & STRATEGY_EXACT) != 0;
}

/* NULL where there is none. */
static const struct entry *find_best(const struct entry *entries, int n,
                                     bool (*is_wanted)(const struct entry *entry))
{
    const struct entry *best = NULL;
    for (int i = 0; i < n; i++)
        if (is_wanted(&entries[i]) && entries[i].is_ok &&
            (best == NULL || entries[i].median_ns < best->median_ns))
            best = &entries[i];
    return best;
}

static bool is_raw(const struct entry *entry)
{
    return entry->is_raw;
}

/* The fastest of many were lucky as well: the two are timed anew. */
static enum status compare_best(struct sweep *s, const struct problem *p,
                                const struct entry *entries, int n, struct error *e)
{
    const struct entry *ours = find_best(entries, n, sums_exactly);
    const struct entry *theirs = find_best(entries, n, is_raw);
    if (ours == NULL || theirs == NULL)
        return OK;
    struct problem again = *p;
    struct entry pair[2] = {
        {.kind = ours->kind, .config = ours->config, .is_right = true},
        {.is_raw = true, .kind = theirs->kind, .config = theirs->config, .is_right = true}};
    again.part = "best";
    return sweep_pair(s, &again, pair, e);
}

enum status sweep_problem(struct sweep *s, const struct problem *p, struct error *e)
{
    struct entry entries[ENTRIES_MAX];
    int all = entries_list(s->options, entries), next = 1;
    enum status status = OK;
    do {
        status = sweep_group(s, p, entries, all, &next, e);
    } while (status == OK && next < all);
    return status == OK ? compare_best(s, p, entries, all, e) : status;
}
