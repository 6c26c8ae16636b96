#include "bench/figures/caption_basis.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

#include "bench/collect/summary.h"

/* "1" or "6 to 12". */
static void write_range(FILE *out, double least, double most)
{
    char text[TEXT_NUMBER];
    fputs(text_real(text, least), out);
    if (most > least)
        fprintf(out, " to %s", text_real(text, most));
}

bool basis_is_of_ratios(const struct figure_data *d)
{
    return d->quantity->relation > RELATION_RATE;
}

/* The lower end of what the figure draws whiskers of, where that is a column of summary.csv. */
static enum column_id whiskers_of(const struct figure_data *d)
{
    if (d->figure->shape == &shape_overlap)
        return COLUMN_overlap_share_lo;
    return d->quantity->source == SOURCE_POINTS ? d->quantity->lo : COLUMNS;
}

/* What launches of a block make pairs for: the lower ends of intervals that rest on as many as `pairs` of a point says. */
static const struct pairing {
    enum column_id lo;
    size_t pairs; /* offset in struct point_summary */
    const char *with, *what[2];
} pairings[] = {
#define PAIRED(name, member, with, what)                                                           \
    {                                                                                              \
        COLUMN_##name##_lo, offsetof(struct point_summary, member), with,                          \
        {                                                                                          \
            what, what "s"                                                                         \
        }                                                                                          \
    }
    PAIRED(speedup, scaling.pairs, "each to the base's launch", "paired ratio"),
    PAIRED(efficiency, scaling.pairs, "each to the base's launch", "paired ratio"),
    PAIRED(karp_flatt, scaling.pairs, "each to the base's launch", "paired ratio"),
    PAIRED(peer_ratio, beside_peer.pairs, "each to the peer's launch", "paired ratio"),
    PAIRED(overlap_share, overlap.pairs, "each with the launch of strategy none", "paired share"),
#undef PAIRED
};

/* NULL: the whiskers of the figure rest on launches. */
static const struct pairing *find_pairing(const struct figure_data *d)
{
    enum column_id lo = whiskers_of(d);
    for (size_t i = 0; i < sizeof pairings / sizeof *pairings; i++)
        if (pairings[i].lo == lo)
            return &pairings[i];
    return NULL;
}

static size_t pairs_of(const struct figure_data *d, const struct point_summary *p)
{
    const struct pairing *pairing = find_pairing(d);
    return pairing != NULL ? *(const size_t *)((const char *)p + pairing->pairs) : 0;
}

/* What the value of a point is a median of; 0: nothing, as the ratio of a base to itself. */
static size_t sample_size(const struct figure_data *d, size_t point)
{
    const struct point_summary *p = &d->s->points[point];
    size_t pairs = pairs_of(d, p);
    if (d->measured[point].n == 0 || d->figure->shape == &shape_overlap)
        return d->measured[point].n;
    if (basis_is_of_ratios(d) && p == &d->s->points[p->base])
        return 0;
    return pairs > 0 ? pairs : d->measured[point].n;
}

/* Whether launches were added until the intervals of the figure were narrow. */
static bool adds_launches(const struct figure_data *d)
{
    return (d->quantity->source == SOURCE_POINTS || whiskers_of(d) != COLUMNS) &&
           config_adds_launches(&d->s->spec->config);
}

/* The confidence of the interval of a point, whose value is a median of n, as tables state it; NAN where it has none. */
static double level_at(const struct figure_data *d, size_t point, size_t n)
{
    const struct point_summary *p = &d->s->points[point];
    bool overlap = d->figure->shape == &shape_overlap;
    double lo = overlap ? p->overlap.share.lo : d->measured[point].value.lo;
    size_t pairs = pairs_of(d, p);
    n = pairs > 0 ? pairs : n;
    return n < 2 || !isfinite(lo) ? NAN : fmin(timing_level(n, adds_launches(d)), TIMING_LEVEL);
}

struct basis basis_find(const struct figure_data *d)
{
    struct basis basis = {.least = INFINITY, .low = INFINITY, .what = {"launch", "launches"}};
    const struct pairing *pairing = d->figure->shape != &shape_overlap ? find_pairing(d) : NULL;
    if (d->quantity->source == SOURCE_RUNS)
        basis.what[0] = "run", basis.what[1] = "runs";
    if (pairing != NULL) {
        basis.with = pairing->with;
        memcpy(basis.what, pairing->what, sizeof basis.what);
    }
    for (size_t i = 0; i < d->s->n; i++) {
        size_t n = sample_size(d, i);
        if (n == 0 || !d->shown[i])
            continue;
        basis.least = fmin(basis.least, (double)n);
        basis.most = fmax(basis.most, (double)n);
        basis.points++;
        double level = level_at(d, i, n);
        bool bare = d->figure->shape == &shape_overlap && d->s->points[i].overlap.pairs == 0;
        basis.met += isnan(level) && bare; /* there is none to be wide */
        if (isnan(level))
            continue;
        basis.low = fmin(basis.low, 100 * level);
        basis.high = fmax(basis.high, 100 * level);
        basis.met += level >= SUMMARY_CONFIDENCE;
    }
    return basis;
}

void basis_write_lead(FILE *out, const struct figure_data *d)
{
    fputs(d->figure->shape->lead != NULL ? d->figure->shape->lead : " Median of ", out);
}

void basis_write_sizes(FILE *out, const struct basis *basis)
{
    write_range(out, basis->least, basis->most);
    fprintf(out, " %s", basis->what[basis->most > 1]);
}

void basis_write_levels(FILE *out, const struct basis *basis)
{
    fprintf(out, "%.3g", basis->low);
    if (basis->high > basis->low)
        fprintf(out, " to %.3g", basis->high);
}

/* States the meaning of a figure's whiskers, at the level of the table. */
static void write_whiskers(FILE *out, const struct basis *basis)
{
    if (basis->most < 2) {
        fputs("; a single one has no interval.", out);
        return;
    }
    if (!(basis->high > 0)) {
        fputs("; without intervals.", out);
        return;
    }
    fputs("; whiskers: ", out);
    basis_write_levels(out, basis);
    fputs(" % interval", out);
    if (basis->met == 0)
        fputs(", which is least to greatest", out);
    else if (basis->met < basis->points)
        fprintf(out, ", least to greatest where %s are too few for 95 %%", basis->what[1]);
    fputc('.', out);
}

/* "5 epochs", "1 to 4 epochs" */
static void write_epochs(FILE *out, const struct summary *s)
{
    double least = INFINITY, most = 0;
    for (size_t i = 0; i < s->n; i++) {
        double epochs = config_number(&s->points[i].point->config, OPT_EPOCHS);
        least = fmin(least, epochs);
        most = fmax(most, epochs);
    }
    write_range(out, least, most);
    fputs(most > 1 ? " epochs" : " epoch", out);
}

/* "6 launches of 30 steps", "1 to 3 runs of 5 epochs, one a seed" */
static void write_sample(FILE *out, const struct figure_data *d, const struct summary *ran,
                         const struct basis *basis)
{
    char text[256];
    basis_write_sizes(out, basis);
    if (d->quantity->source == SOURCE_RUNS) {
        fputs(" of ", out);
        write_epochs(out, ran);
        fputs(", one a seed", out);
    } else {
        if (basis->with != NULL)
            fprintf(out, ", %s of the same block, launches", basis->with);
        if (spec_foreign(d->s->spec) == NULL)
            fprintf(out, " of %s steps", summary_distinct(text, sizeof text, ran, COLUMN_steps));
    }
}

void basis_write_method(FILE *out, const struct figure_data *d, const struct summary *ran)
{
    struct basis basis = basis_find(d);
    if (basis.points == 0)
        return;
    basis_write_lead(out, d);
    write_sample(out, d, ran, &basis);
    fputs(d->figure->shape->method, out);
    if (d->figure->shape->whiskers)
        write_whiskers(out, &basis);
}
