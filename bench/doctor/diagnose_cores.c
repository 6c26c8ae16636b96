/* Compares the computing speed and the memory speed of cores, and checks whether other programs
 * take a rank's core away. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench/doctor/diagnosis.h"
#include "kernels/base/mem.h"

/* ---- Numbers of the rounds ---- */

/* Measured quantities of a core. Quantities before COMPARED are compared with other cores. */
enum { GEMM, MEMORY, LATENCY, COMPARED, ON_CORE = COMPARED, READY, STEAL, QUANTITIES };

/* Measurements of all ranks in all rounds; of[q]: the values of quantity q. */
struct rounds {
    struct measured of[QUANTITIES];
};

static void rounds_free(struct rounds *r)
{
    for (int q = 0; q < QUANTITIES; q++)
        measured_free(&r->of[q]);
}

static void take_burst(struct rounds *r, const struct doctor_burst *b)
{
    const double values[QUANTITIES] = {
        [GEMM] = b->gemm_gflop_per_s, [ON_CORE] = b->on_core_pct,       [READY] = b->ready_pct,
        [STEAL] = b->steal_pct,       [MEMORY] = b->memory_gbyte_per_s, [LATENCY] = b->latency_ns,
    };
    for (int q = 0; q < QUANTITIES; q++)
        r->of[q].x[(size_t)b->rank * r->of[q].rounds + (size_t)b->round] = values[q];
}

static enum status rounds_fill(struct rounds *r, const struct examination *x, struct error *e)
{
    double ranks = 0, n = 0;
    for (size_t i = 0; i < x->n_bursts; i++) {
        ranks = fmax(ranks, x->bursts[i].rank + 1);
        n = fmax(n, x->bursts[i].round + 1);
    }
    for (int q = 0; q < QUANTITIES; q++)
        TRY(measured_open(&r->of[q], (size_t)ranks, (size_t)n, e));
    for (size_t i = 0; i < x->n_bursts; i++)
        take_burst(r, &x->bursts[i]);
    for (int q = 0; q < COMPARED; q++)
        TRY(measured_compare(&r->of[q], NULL, e));
    return OK;
}

static struct interval interval_of(const struct rounds *r, int quantity, size_t rank)
{
    return measured_interval(&r->of[quantity], rank);
}

/* ---- Rows ---- */

static void set_core(struct doctor_core *c, const struct rounds *r, size_t rank)
{
    struct interval on_core = interval_of(r, ON_CORE, rank);
    c->rank = (double)rank;
    c->gemm_gflop_per_s = interval_of(r, GEMM, rank).mid;
    c->memory_gbyte_per_s = interval_of(r, MEMORY, rank).mid;
    c->latency_ns = interval_of(r, LATENCY, rank).mid;
    CSV_SET_INTERVAL(c, gemm_ratio, r->of[GEMM].ratios[rank], 1);
    CSV_SET_INTERVAL(c, memory_ratio, r->of[MEMORY].ratios[rank], 1);
    CSV_SET_INTERVAL(c, latency_ratio, r->of[LATENCY].ratios[rank], 1);
    CSV_SET_INTERVAL(c, on_core_pct, on_core, 1);
    c->level = on_core.level;
}

static enum status set_cores(struct diagnosis *d, const struct examination *x,
                             const struct rounds *r, struct error *e)
{
    d->n_cores = r->of[GEMM].n;
    TRY(MEM_NEW(d->cores, d->n_cores, "cores", e));
    for (size_t i = 0; i < d->n_cores; i++) {
        doctor_clear(&doctor_cores, &d->cores[i]);
        set_core(&d->cores[i], r, i);
    }
    for (size_t i = 0; i < x->n_bursts; i++) {
        struct doctor_core *c = &d->cores[(size_t)x->bursts[i].rank];
        snprintf(c->cpus, DOCTOR_TEXT, "%s", x->bursts[i].cpus);
        snprintf(c->node, DOCTOR_TEXT, "%s", examination_node(x, x->bursts[i].node));
    }
    return OK;
}

/* ---- Verdicts ---- */

/* Subject of a finding: one core, or several cores that have the same finding. */
struct subject {
    char text[DOCTOR_TEXT];
    size_t first, last; /* first and last rank; ranks between them belong to the subject too */
};

/* Returns whether other programs or a hypervisor take rank i's core away for more time than
 * DOCTOR_ON_CORE_PCT allows. Other findings about the core would then only be consequences. */
static bool loses_core(const struct rounds *r, const struct doctor_core *c, size_t i)
{
    struct interval steal = interval_of(r, STEAL, i);
    return c->on_core_pct_hi < DOCTOR_ON_CORE_PCT || steal.lo > 100 - DOCTOR_ON_CORE_PCT;
}

static size_t ranks_of_node(const struct diagnosis *d, size_t i)
{
    size_t ranks = 0;
    for (size_t k = 0; k < d->n_cores; k++)
        ranks += strcmp(d->cores[k].node, d->cores[i].node) == 0;
    return ranks;
}

/* Names a core: "node2" if the node has one rank, otherwise "node2 processor 5". */
static void name_core(struct subject *s, const struct diagnosis *d, size_t i)
{
    s->first = s->last = i;
    if (ranks_of_node(d, i) > 1)
        snprintf(s->text, sizeof s->text, "%.150s processor %.50s", d->cores[i].node,
                 d->cores[i].cpus);
    else
        snprintf(s->text, sizeof s->text, "%.200s", d->cores[i].node);
}

/* Sets the subject to the largest group of ranks from `first` on that all get too little time on
 * their cores (loses_core): all ranks, a node, or `first` alone. Ranks of a node are
 * consecutive. */
static void name_losers(struct subject *s, const struct diagnosis *d, const struct rounds *r,
                        size_t first)
{
    size_t n = 0, node = ranks_of_node(d, first);
    name_core(s, d, first);
    while (first + n < d->n_cores && loses_core(r, &d->cores[first + n], first + n))
        n++;
    if (n > 1 && n == d->n_cores) {
        snprintf(s->text, sizeof s->text, "all %zu cores", n);
        s->last = first + n - 1;
    } else if (node > 1 && n >= node &&
               (first == 0 || strcmp(d->cores[first - 1].node, d->cores[first].node) != 0)) {
        snprintf(s->text, sizeof s->text, "%.150s", d->cores[first].node);
        s->last = first + node - 1;
    }
}

/* ---- Where the time goes ---- */

static double middle(const struct subject *s, const struct rounds *r, int quantity)
{
    double x[s->last - s->first + 1];
    for (size_t i = s->first; i <= s->last; i++)
        x[i - s->first] = interval_of(r, quantity, i).mid;
    return stats_median(x, s->last - s->first + 1);
}

/* Returns the likely cause of lost core time. Arguments are shares of time (%); NAN: unknown.
 * `ready`: the rank was ready but not running. `steal`: a hypervisor had the core. lost_pct: total
 * loss. */
static const char *find_thief(double ready, double steal, double lost_pct)
{
    if (steal >= lost_pct / 2)
        return "a hypervisor takes the processor away";
    if (ready >= lost_pct / 2)
        return "ready but not running: other programs use the core, or a cgroup limits it";
    if (isnan(ready))
        return "other programs use the core, or a cgroup limits it";
    return "not ready to run: something stops it, or a hypervisor takes the processor away";
}

static enum status report_lost(struct diagnosis *d, const struct rounds *r, const struct subject *s,
                               struct error *e)
{
    const struct doctor_core *c = &d->cores[s->first];
    double steal = middle(s, r, STEAL), on_core = middle(s, r, ON_CORE);
    double lost = fmax(100 - on_core, isnan(steal) ? 0 : steal);
    const char *thief = find_thief(middle(s, r, READY), steal, lost);
    if (s->last > s->first)
        return diagnosis_add(d, FINDING_core_lost, s->text, e,
                             "%.100s: ranks lose %.1f %% of their core's time (median): %s",
                             s->text, lost, thief);
    return diagnosis_add(
        d, FINDING_core_lost, s->text, e,
        "%.100s loses %.1f %% of its core's time (on it for %.1f %% [%.1f, %.1f]): %s", s->text,
        lost, on_core, c->on_core_pct_lo, c->on_core_pct_hi, thief);
}

static enum status report_ratio(struct diagnosis *d, enum finding_kind kind, const char *subject,
                                const char *does, const struct interval *ratio, const char *of,
                                struct error *e)
{
    char text[96];
    return diagnosis_add(d, kind, subject, e, "%.120s %s %s of %s", subject, does,
                         diagnosis_ratio(text, ratio), of);
}

/* Adds findings about the computing and memory speed of rank i's core relative to the other cores.
 * Call it only if loses_core is false for the rank. */
static enum status judge_core(struct diagnosis *d, const struct rounds *r, size_t i,
                              struct error *e)
{
    struct subject s;
    const struct interval *gemm = &r->of[GEMM].ratios[i], *memory = &r->of[MEMORY].ratios[i],
                          *latency = &r->of[LATENCY].ratios[i];
    enum outlier computes = outlier_judge(gemm, DOCTOR_RATE_MARGIN, false);
    name_core(&s, d, i);
    if (computes == OUTLIER_SLOW)
        return report_ratio(d, FINDING_core_slow, s.text, "has its core but computes at", gemm,
                            "the other cores' rate", e);
    if (computes == OUTLIER_OPEN)
        TRY(report_ratio(d, FINDING_undecided, s.text, "is undecided: it computes at", gemm,
                         "the other cores' rate", e));
    if (outlier_judge(memory, DOCTOR_RATE_MARGIN, false) == OUTLIER_SLOW)
        TRY(report_ratio(d, FINDING_memory_slow, s.text, "reaches memory at", memory,
                         "the other cores' rate", e));
    if (outlier_judge(latency, DOCTOR_LATENCY_MARGIN, true) == OUTLIER_SLOW)
        TRY(report_ratio(d, FINDING_latency_slow, s.text, "loads from memory in", latency,
                         "the other cores' time", e));
    return OK;
}

static enum status diagnose(struct diagnosis *d, struct rounds *r, const struct examination *x,
                            struct error *e)
{
    struct subject s;
    TRY(rounds_fill(r, x, e));
    TRY(set_cores(d, x, r, e));
    for (size_t i = 0; i < d->n_cores; i++) {
        if (!loses_core(r, &d->cores[i], i)) {
            TRY(judge_core(d, r, i, e));
            continue;
        }
        name_losers(&s, d, r, i);
        TRY(report_lost(d, r, &s, e));
        i = s.last;
    }
    return OK;
}

enum status diagnose_cores(struct diagnosis *d, const struct examination *x, struct error *e)
{
    struct rounds r = {0};
    enum status status = diagnose(d, &r, x, e);
    rounds_free(&r);
    return status;
}
