/* Why it bends: what of perfect scaling a series lost, and to which part of a step. */
#include <math.h>

#include "bench/collect/series.h"
#include "bench/collect/summary.h"
#include "bench/collect/table/table.h"

/* The largest measured point of a series that synchronises and has more cores than its base. */
static const struct point_summary *last_compared(const struct series *series,
                                                 const struct summary *s)
{
    for (size_t i = series->n; i-- > 0;) {
        const struct point_summary *p = &s->points[series->points[i]];
        if (!p->compute_only && isfinite(p->efficiency) && p->cores > s->points[p->base].cores)
            return p;
    }
    return NULL;
}

static void print_term(FILE *out, bool first, double pct, const char *name)
{
    char number[TEXT_NUMBER];
    const char *sign = pct < 0 ? (first ? "-" : " - ") : (first ? "" : " + ");
    fprintf(out, "%s%s %s", sign, text_fixed(number, fabs(pct), 1), name);
}

/* Named where one rank lags clearly more often than chance would have it. */
static void print_last_rank(FILE *out, const struct point_summary *p)
{
    char number[TEXT_NUMBER];
    double chance = 100.0 / (double)config_int(&p->point->config, OPT_RANKS);
    if (p->last_rank >= 0 && p->last_rank_pct > 1.25 * chance)
        fprintf(out, " (rank %d last in %s %% of steps)", p->last_rank,
                text_fixed(number, p->last_rank_pct, 0));
}

static double known(double x)
{
    return isnan(x) ? 0 : x;
}

/* Of a step at p, a share of `efficiency` would be left if all scaled; the rest is lost. Each part
 * loses what it takes beyond the share that it has in the base. What the parts do not explain
 * (imbalance, the loop itself, scatter between launches) is said too. */
static void print_losses(FILE *out, const struct point_summary *p, const struct point_summary *base)
{
    double lost = 100 * (1 - p->efficiency);
    double comm = p->comm_pct - p->efficiency * known(base->comm_pct);
    double wait = known(p->wait_pct) - p->efficiency * known(base->wait_pct);
    double compute = p->compute_pct - p->efficiency * base->compute_pct;
    double other = lost - comm - wait - compute;
    if (isnan(other)) {
        fputs(", phases unknown", out);
        return;
    }
    fputs(" = ", out);
    print_term(out, true, comm, isnan(p->wait_pct) ? "comm and wait" : "comm");
    if (!isnan(p->wait_pct))
        print_term(out, false, wait, "wait");
    print_last_rank(out, p);
    print_term(out, false, compute, compute < 0 ? "faster compute" : "slower compute");
    print_term(out, false, other, "other");
}

static void print_karp_flatt(FILE *out, const struct series *series, const struct summary *s)
{
    bool rising = true, falling = true;
    double before = NAN;
    size_t n = 0;
    for (size_t i = 0; i < series->n; i++) {
        char number[TEXT_NUMBER];
        double share = s->points[series->points[i]].karp_flatt;
        if (!isfinite(share))
            continue;
        fprintf(out, "%s %s", n ? "" : "; Karp-Flatt", text_fixed(number, 100 * share, 1));
        rising = rising && !(share <= before);
        falling = falling && !(share >= before);
        before = share;
        n++;
    }
    if (n > 0)
        fprintf(out, " %%%s", n < 2 ? "" : rising ? ", rising" : falling ? ", falling" : "");
}

/* Why a loss is not to be explained: the machine was busy, or launches scatter by as much; NULL
 * where nothing speaks against it. */
static const char *doubt(const struct point_summary *p, const struct point_summary *base,
                         double lost)
{
    /* Half of the interval, as lost is counted. */
    double scatter = 100 * p->efficiency * (p->speedup.hi - p->speedup.lo) / 2 / p->speedup.mid;
    if (point_is_busy(p) || point_is_busy(base))
        return "others used the processors meanwhile";
    if (isnan(scatter))
        return "one launch does not tell it from chance";
    return fabs(lost) > scatter ? NULL : "launches scatter by as much";
}

static void print_bend(FILE *out, const struct series *series, size_t n_series,
                       const struct summary *s)
{
    const struct point_summary *p = last_compared(series, s);
    char number[TEXT_NUMBER], ranks[TEXT_NUMBER];
    if (!p)
        return;
    double lost = 100 * (1 - p->efficiency);
    fputs("Why it bends", out);
    if (n_series > 1)
        fprintf(out, " (%s)", series->name);
    fprintf(out, ": %s %% %s at %s", text_fixed(number, fabs(lost), 1),
            lost < 0 ? "gained" : "lost",
            text_plural(ranks, config_int(&p->point->config, OPT_RANKS), "rank"));
    const char *why_not = doubt(p, &s->points[p->base], lost);
    if (why_not)
        fprintf(out, ", not explained: %s", why_not);
    else if (lost >= 0)
        print_losses(out, p, &s->points[p->base]);
    if (!why_not)
        print_karp_flatt(out, series, s);
    fputs(".\n", out);
}

void table_print_losses(FILE *out, const struct summary *s)
{
    struct series_list list;
    struct error e = {.status = OK};
    if (series_collect(&list, s, &e) != OK)
        fprintf(out, "Why it bends: not computed: %s\n", e.text);
    for (size_t i = 0; e.status == OK && i < list.n; i++)
        print_bend(out, &list.items[i], list.n, s);
    series_free(&list);
}
