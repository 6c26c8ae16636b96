/* Prints "Efficiency lost ...": one sentence per series with the causes of lost efficiency, from
 * rows of losses.csv. */
#include <math.h>

#include "bench/collect/losses.h"
#include "bench/collect/summary.h"
#include "bench/collect/table/table.h"

static void print_term(FILE *out, bool first, double pct, const char *name)
{
    char number[TEXT_NUMBER];
    const char *sign = pct < 0 ? (first ? "-" : " - ") : (first ? "" : " + ");
    fprintf(out, "%s%s %s", sign, text_fixed(number, fabs(pct), 1), name);
}

/* Prints the rank that most often arrived last, with its share of steps; nothing if the result may
 * be chance. */
static void print_last_rank(FILE *out, const struct point_last *last, size_t looked_at)
{
    char number[TEXT_NUMBER];
    if (losses_name_last_rank(last, looked_at))
        fprintf(out, " (rank %d arrived last in %s %% of steps)", last->rank,
                text_fixed(number, last->pct, 0));
}

static void print_parts(FILE *out, const struct losses_row *row, const struct point_summary *p,
                        size_t looked_at)
{
    if (isnan(row->other_pct)) {
        fputs(", phases not recorded", out);
        return;
    }
    fputs(" = ", out);
    print_term(out, true, row->comm_pct,
               isnan(row->wait_pct) ? "communication and waiting" : "communication");
    if (!isnan(row->wait_pct))
        print_term(out, false, row->wait_pct, "waiting");
    print_last_rank(out, &p->last, looked_at);
    print_term(out, false, row->compute_pct,
               row->compute_pct < 0 ? "faster compute" : "slower compute");
    if (!isnan(row->optimizer_pct))
        print_term(out, false, row->optimizer_pct,
                   row->optimizer_pct < 0 ? "faster optimizer" : "replicated optimizer");
    print_term(out, false, row->other_pct, "other");
}

static void print_karp_flatt_interval(FILE *out, const struct interval *karp_flatt)
{
    char lo[TEXT_NUMBER], hi[TEXT_NUMBER];
    if (isfinite(karp_flatt->lo) && isfinite(karp_flatt->hi))
        fprintf(out, " [%s, %s]", text_fixed(lo, 100 * karp_flatt->lo, 1),
                text_fixed(hi, 100 * karp_flatt->hi, 1));
}

/* Prints the Karp-Flatt serial fractions (%) of the n rows of a series, and their trend. `p`: point
 * of the last row, whose interval is printed. */
static void print_karp_flatt(FILE *out, const struct losses_row *rows, size_t n,
                             const struct point_summary *p)
{
    const char *trend = rows[0].karp_flatt_trend;
    size_t printed = 0;
    for (size_t i = 0; i < n; i++) {
        char number[TEXT_NUMBER];
        if (isfinite(rows[i].karp_flatt))
            fprintf(out, "%s %s", printed++ > 0 ? "" : ". Karp-Flatt serial fraction:",
                    text_fixed(number, 100 * rows[i].karp_flatt, 1));
    }
    if (isfinite(rows[n - 1].karp_flatt))
        print_karp_flatt_interval(out, &p->scaling.karp_flatt);
    if (printed > 0)
        fprintf(out, " %%%s%s", trend != NULL ? ", " : "", trend != NULL ? trend : "");
}

static void print_bend(FILE *out, const struct losses_row *rows, size_t n, bool several,
                       const struct point_summary *p, size_t looked_at)
{
    const struct losses_row *row = &rows[n - 1];
    char number[TEXT_NUMBER], ranks[TEXT_NUMBER];
    fprintf(out, "Efficiency %s at %s", row->lost_pct < 0 ? "gained" : "lost",
            text_plural(ranks, (long)row->ranks, "rank"));
    if (several)
        fprintf(out, " (%s)", row->series);
    fprintf(out, ": %s %%", text_fixed(number, fabs(row->lost_pct), 1));
    if (row->doubt != NULL)
        fprintf(out, ", not explained: %s", row->doubt);
    else if (row->lost_pct >= 0)
        print_parts(out, row, p, looked_at);
    if (row->doubt == NULL)
        print_karp_flatt(out, rows, n, p);
    fputs(".\n", out);
}

/* Returns the number of points whose last_rank is tested against chance: the factor of the
 * Bonferroni correction. */
static size_t count_looked_at(const struct losses *losses, const struct summary *s)
{
    size_t n = 0;
    for (size_t i = 0; i < losses->n; i++)
        n += losses->rows[i].largest && isfinite(s->points[losses->points[i]].last.p);
    return n;
}

void table_print_losses(FILE *out, const struct summary *s)
{
    struct losses losses;
    struct error e = {.status = OK};
    if (losses_collect(&losses, s, &e) != OK)
        fprintf(out, "Efficiency lost: not computed: %s\n", e.text);
    size_t looked_at = e.status == OK ? count_looked_at(&losses, s) : 0;
    for (size_t i = 0, first = 0; e.status == OK && i < losses.n; i++)
        if (losses.rows[i].largest) {
            print_bend(out, &losses.rows[first], i + 1 - first, losses.series.n > 1,
                       &s->points[losses.points[i]], looked_at);
            first = i + 1;
        }
    losses_free(&losses);
}
