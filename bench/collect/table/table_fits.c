/* Prints one sentence per curve, from rows of fits.csv: the rank count at which efficiency falls
 * below 75 %, and the largest speed-up that a fitted law allows. */
#include <math.h>

#include "bench/base/scaling_laws.h"
#include "bench/collect/fits.h"
#include "bench/collect/table/table.h"
#include "kernels/base/names.h"
#include "kernels/base/text.h"

/* Largest number of missed points with which a law still describes a curve. A missed point has a 95
 * % interval that excludes the law's speed-up. With 8 points, even the true law misses two or more
 * in 6 % of curves. */
enum { MISSED_MOST = 1 };

/* Prints " 5.2 [4.8, 5.9]", or only " 5.2" if lo is NAN. `beyond`: text printed in place of hi if
 * hi is NAN. */
static void print_interval(FILE *out, double mid, double lo, double hi, const char *beyond)
{
    char text[TEXT_NUMBER];
    fprintf(out, " %s", text_significant(text, mid, 2));
    if (isnan(lo))
        return;
    fprintf(out, " [%s,", text_significant(text, lo, 2));
    fprintf(out, " %s]", isnan(hi) ? beyond : text_significant(text, hi, 2));
}

static void print_knee(FILE *out, const struct fits_row *row)
{
    char beyond[TEXT_NUMBER + 16];
    snprintf(beyond, sizeof beyond, "above %.0f", row->ranks);
    fprintf(out, "%s: efficiency", row->series);
    if (isnan(row->knee_ranks)) {
        fprintf(out, " stays above %.0f %% up to %.0f ranks", 100 * FITS_KNEE, row->ranks);
        return;
    }
    fprintf(out, " falls below %.0f %% at", 100 * FITS_KNEE);
    print_interval(out, row->knee_ranks, row->knee_ranks_lo, row->knee_ranks_hi, beyond);
    fputs(" ranks", out);
}

/* Prints the largest speed-up that the law allows, or "shows no limit". If the law misses too many
 * points, prints their number instead. */
static void print_limit(FILE *out, const struct fits_row *row, const char *law)
{
    if (row->missed > MISSED_MOST) {
        fprintf(out, "; %s misses %.0f of %.0f points.\n", law, row->missed, row->rank_counts - 1);
        return;
    }
    if (isnan(row->limit)) {
        fprintf(out, "; %s shows no limit.\n", law);
        return;
    }
    fprintf(out, "; %s allows a speed-up of at most", law);
    print_interval(out, row->limit, row->limit_lo, row->limit_hi, "unbounded");
    if (isfinite(row->limit_ranks))
        fprintf(out, ", on %.0f ranks", row->limit_ranks);
    fputs(".\n", out);
}

/* Returns the name of the row's law for sentences ("Amdahl's law"); "": the law never limits the
 * speed-up. */
static const char *title_of(const struct fits_row *row)
{
    static const char *const names[] = {
#define LAW(name, ...) #name,
#include "bench/base/scaling_laws.def"
    };
    static const char *const titles[] = {
#define LAW(name, strong, weak, title, meaning) title,
#include "bench/base/scaling_laws.def"
    };
    return titles[name_index(row->law, names, LAWS)];
}

/* Prints one sentence per curve: where efficiency falls below 75 %, and the largest speed-up that a
 * law allows. The law is the curve's first fitted law whose formula can limit the speed-up. Skips
 * curves without such a law. */
void table_print_fits(FILE *out, const struct summary *s)
{
    const char *printed = NULL;
    for (const struct fits_row *row = s->fits->rows; row < s->fits->rows + s->fits->n; row++) {
        const char *title = title_of(row);
        if (row->series == printed || !title[0])
            continue;
        print_knee(out, row);
        print_limit(out, row, title);
        printed = row->series;
    }
}
