#include "bench/figures/caption_basis.h"

#include <math.h>

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

/* What the value of a point is a median of; 0: nothing, as the ratio of a base to itself. */
static size_t sample_size(const struct figure_data *d, size_t point)
{
    const struct point_summary *p = &d->s->points[point];
    if (d->measured[point].n == 0 || !basis_is_of_ratios(d))
        return d->measured[point].n;
    if (p == &d->s->points[p->base])
        return 0;
    return p->pairs > 0 ? p->pairs : d->measured[point].n;
}

struct basis basis_find(const struct figure_data *d)
{
    struct basis basis = {.least = INFINITY, .low = INFINITY, .what = {"launch", "launches"}};
    if (d->quantity->source == SOURCE_RUNS)
        basis.what[0] = "run", basis.what[1] = "runs";
    if (basis_is_of_ratios(d))
        basis.what[0] = "paired ratio", basis.what[1] = "paired ratios";
    basis.added = d->quantity->source == SOURCE_POINTS && config_adds_launches(&d->s->spec->config);
    for (size_t i = 0; i < d->s->n; i++) {
        size_t n = sample_size(d, i);
        if (n == 0 || !d->shown[i])
            continue;
        basis.least = fmin(basis.least, (double)n);
        basis.most = fmax(basis.most, (double)n);
        basis.points++;
        if (n < 2 || !isfinite(d->measured[i].value.lo))
            continue;
        double level = timing_level(n, basis.added);
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

/* What the whiskers of a figure mean: the level that intervals of so few values really have. */
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
    fputs("; whiskers: exact ", out);
    basis_write_levels(out, basis);
    fputs(" % interval", out);
    if (basis->met == 0)
        fputs(", which is least to greatest", out);
    else if (basis->met < basis->points)
        fprintf(out, ", least to greatest where %s are too few for 95 %%", basis->what[1]);
    else if (basis->added)
        fprintf(out, ", %.3g %% as launches are added until it is narrow",
                100 * SUMMARY_CONFIDENCE);
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
        fprintf(out, spec_foreign(d->s->spec) != NULL ? "%s" : "%s of %s steps",
                basis_is_of_ratios(d) ? ", each to the base's launch of the same block, launches"
                                      : "",
                summary_distinct(text, sizeof text, ran, COLUMN_steps));
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
