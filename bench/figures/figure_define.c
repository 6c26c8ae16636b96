#include "bench/figures/figure_define.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench/collect/summary.h"
#include "bench/figures/caption.h"
#include "bench/figures/figure_curves.h"
#include "bench/figures/gnuplot.h"
#include "kernels/base/mem.h"

static long ranks_of(const struct point_summary *p)
{
    return config_int(&p->point->config, OPT_RANKS);
}

static bool is_page(const struct figure_data *d)
{
    return strcmp(figure_text(d->figure, FIGURE_SIZE), "page") == 0;
}

/* ---- Rank counts ---- */

/* One rank count of the campaign, and its points without a value. */
struct at_ranks {
    long ranks;
    size_t points, missing;
    const char *status; /* of the first that is missing */
    bool alike;         /* all that are missing share it */
};

struct axis {
    struct at_ranks *items; /* rising */
    size_t n;
};

static int by_ranks(const void *a, const void *b)
{
    const struct at_ranks *x = a, *y = b;
    return (x->ranks > y->ranks) - (x->ranks < y->ranks);
}

static struct at_ranks *find_ranks(const struct axis *axis, long ranks)
{
    const struct at_ranks wanted = {.ranks = ranks};
    return bsearch(&wanted, axis->items, axis->n, sizeof wanted, by_ranks);
}

static enum status make_axis(struct axis *axis, const struct figure_data *d, struct error *e)
{
    const struct summary *s = d->s;
    size_t n = 0;
    *axis = (struct axis){.items = NULL};
    TRY(MEM_NEW(axis->items, s->n, "the rank counts of a figure", e));
    for (size_t i = 0; i < s->n; i++)
        if (d->shown[i])
            axis->items[n++] = (struct at_ranks){.ranks = ranks_of(&s->points[i]), .alike = true};
    qsort(axis->items, n, sizeof *axis->items, by_ranks);
    for (size_t i = 0; i < n; i++)
        if (i == 0 || axis->items[i].ranks != axis->items[axis->n - 1].ranks)
            axis->items[axis->n++] = axis->items[i];
    for (size_t i = 0; i < s->n; i++) {
        if (!d->shown[i])
            continue;
        struct at_ranks *at = find_ranks(axis, ranks_of(&s->points[i]));
        at->points++;
        if (!figure_data_misses(d, i))
            continue;
        at->missing++;
        at->status = at->status != NULL ? at->status : s->points[i].status;
        at->alike = at->alike && strcmp(at->status, s->points[i].status) == 0;
    }
    return OK;
}

/* Where it stands on the axis, from 0 to 1; plots/over_ranks.gp draws it so. */
static double place_of(const struct axis *axis, long ranks, bool linear)
{
    double least = (double)axis->items[0].ranks, most = (double)axis->items[axis->n - 1].ranks;
    if (most > 8 && !linear)
        return log((double)ranks / least * 1.25) / log(most / least * 1.25 * 1.25);
    return ((double)ranks - least + 0.5) / (most - least + 1);
}

/* Every rank count whose label does not touch the one before, as words; the greatest in any
 * case. */
static void define_ranks(FILE *out, const struct axis *axis, bool linear)
{
    const double digit = 0.025, gap = 0.03; /* of the axis */
    double free = -1;
    const struct at_ranks *last = &axis->items[axis->n - 1];
    char text[TEXT_NUMBER];
    double width = digit * (double)strlen(text_whole(text, (double)last->ranks)) + gap;
    double end = place_of(axis, last->ranks, linear) - width;
    fputs("ranks='", out);
    for (size_t i = 0; i < axis->n; i++) {
        double place = place_of(axis, axis->items[i].ranks, linear);
        if (place < free || (place > end && &axis->items[i] != last))
            continue;
        fprintf(out, "%ld ", axis->items[i].ranks);
        free = place + digit * (double)strlen(text_whole(text, (double)axis->items[i].ranks)) + gap;
    }
    fputs("'; all_ranks='", out);
    for (size_t i = 0; i < axis->n; i++)
        fprintf(out, "%ld ", axis->items[i].ranks);
    fputs("'; ", out);
    gnuplot_define_number(out, "ranks_min", (double)axis->items[0].ranks);
    gnuplot_define_number(out, "ranks_max", (double)last->ranks);
}

/* ---- Series ---- */

static void define_of_series(FILE *out, size_t k, const char *field, double value)
{
    char name[GNUPLOT_NAME];
    gnuplot_define_number(out, gnuplot_numbered(name, "series", k + 1, field), value);
}

/* The curve that shows this point; the number of curves, if none does. */
static size_t curve_of(const struct figure_data *d, size_t point)
{
    for (size_t k = 0; k < d->curves; k++)
        for (size_t i = 0; i < d->series.items[k].n; i++)
            if (d->series.items[k].points[i] == point)
                return k;
    return d->curves;
}

static bool same_kind(const struct point_summary *a, const struct point_summary *b)
{
    return strcmp(a->cells[COLUMN_kind], b->cells[COLUMN_kind]) == 0;
}

/* The base of a series that has not its own, the curve in which it stands, and the first point. */
struct origin {
    size_t base, point, curve;
    bool leads;
};

static struct origin find_origin(const struct figure_data *d, size_t k)
{
    const struct series *series = &d->series.items[k];
    size_t base = d->s->points[series->points[0]].base, first = 0;
    while (first + 1 < series->n && !isfinite(d->measured[series->points[first]].value.mid))
        first++;
    size_t point = series->points[first], curve = curve_of(d, base);
    bool leads = curve != k && curve < d->curves && isfinite(d->measured[base].value.mid) &&
                 isfinite(d->measured[point].value.mid) &&
                 ranks_of(&d->s->points[base]) < ranks_of(&d->s->points[point]) &&
                 same_kind(&d->s->points[base], &d->s->points[point]);
    return (struct origin){base, point, curve, leads};
}

/* Its legend shows no line where there is none: a single mark joins nothing. */
static bool has_line(const struct figure_data *d, size_t k)
{
    const struct series *series = &d->series.items[k];
    size_t joined = 0;
    for (size_t i = 0; i < series->n; i++) {
        const struct point_summary *p = &d->s->points[series->points[i]];
        joined += isfinite(d->measured[series->points[i]].value.mid) &&
                  (p->outcome == POINT_ok || p->outcome == POINT_skipped);
    }
    return joined > 1 || find_origin(d, k).leads;
}

/* It has published values alone. */
static bool is_published(const struct figure_data *d, size_t k)
{
    const struct series *series = &d->series.items[k];
    bool published = false;
    for (size_t i = 0; i < series->n; i++) {
        if (isfinite(d->measured[series->points[i]].value.mid))
            return false;
        published |= isfinite(figure_data_published(d, series->points[i]));
    }
    return published;
}

/* Where the curve of a series begins that has not its own base: a line without a mark leads to its
 * first point, unless one of both is emulated only. The base stands in another curve, `origin` of which
 * counts from 1; 0: none does. */
static void define_origin(FILE *out, const struct figure_data *d, size_t k)
{
    struct origin origin = find_origin(d, k);
    size_t base = origin.base, point = origin.point;
    define_of_series(out, k, "_origin", origin.leads ? (double)origin.curve + 1 : 0);
    if (!origin.leads)
        return;
    define_of_series(out, k, "_from", (double)ranks_of(&d->s->points[base]));
    define_of_series(out, k, "_from_value", d->measured[base].value.mid);
    define_of_series(out, k, "_from_model", figure_data_model(d, base));
    define_of_series(out, k, "_to", (double)ranks_of(&d->s->points[point]));
    define_of_series(out, k, "_to_value", d->measured[point].value.mid);
    define_of_series(out, k, "_to_model", figure_data_model(d, point));
}

static void define_series(FILE *out, const struct figure_data *d)
{
    char name[GNUPLOT_NAME];
    gnuplot_define_number(out, "series_n", (double)d->curves);
    for (size_t k = 0; k < d->curves; k++) {
        const struct series *series = &d->series.items[k];
        const struct point_summary *last = &d->s->points[series->points[series->n - 1]];
        gnuplot_define_text(out, gnuplot_numbered(name, "series", k + 1, "_name"), series->name);
        define_of_series(out, k, "_bound", last->compute_only);
        define_of_series(out, k, "_line", has_line(d, k));
        define_of_series(out, k, "_published", is_published(d, k));
        define_origin(out, d, k);
    }
}

/* Perfect scaling from the base of each series: cores, relative to the base, that a rank brings. Of
 * series that share it once. */
static void define_ideals(FILE *out, const struct figure_data *d)
{
    size_t n = 0;
    double slopes[FIGURE_CURVES_MAX], times[FIGURE_CURVES_MAX];
    for (size_t k = 0; k < d->curves; k++) {
        const struct series *series = &d->series.items[k];
        const struct point_summary *p = &d->s->points[series->points[series->n - 1]];
        const struct point_summary *base = &d->s->points[p->base];
        size_t same = 0;
        slopes[n] = (double)p->cores / (double)ranks_of(p) / base->cores;
        times[n] = base->step_ms.mid;
        while (same < n && (slopes[same] != slopes[n] || times[same] != times[n]))
            same++;
        n += same == n && isfinite(times[n]);
    }
    gnuplot_define_number(out, "ideal_n", (double)n);
    for (size_t k = 0; k < n; k++) {
        char name[GNUPLOT_NAME];
        gnuplot_define_number(out, gnuplot_numbered(name, "ideal", k + 1, "_slope"), slopes[k]);
        gnuplot_define_number(out, gnuplot_numbered(name, "ideal", k + 1, "_ms"), times[k]);
    }
}

/* ---- Points without a value ---- */

/* More of them are counted in the last. */
enum { MISSING_TOLD = 6 };

/* What is told of them, below the axis: where each status stands, series by series. */
struct missing {
    FILE *out;
    const struct figure_data *d;
    const struct axis *axis;
    size_t lead; /* length of what all series' names begin with */
    size_t told, left;
};

/* Length of what all series' names begin with, in whole parts: "reduce_bcast, " of "reduce_bcast,
 * nodes 1" and "reduce_bcast, nodes 2". The legend says it, what is told of them need not. */
static size_t shared_lead(const struct series_list *list)
{
    const char *first = list->n > 0 ? list->items[0].name : "";
    size_t lead = 0;
    for (const char *comma = list->n > 1 ? strstr(first, ", ") : NULL; comma != NULL;
         comma = strstr(first + lead, ", ")) {
        size_t length = (size_t)(comma - first) + 2;
        for (size_t k = 1; k < list->n; k++)
            if (strncmp(list->items[k].name, first, length) != 0)
                return lead;
        lead = length;
    }
    return lead;
}

/* All points at these ranks miss their value for one reason: no series is told then. */
static bool miss_alike(const struct at_ranks *at)
{
    return at->missing > 0 && at->alike && at->missing == at->points;
}

/* "Skipped at 4, 8 ranks; ring failed at 2" up to the first rank count, or ", 8". */
static bool begin_missing(struct missing *m, const char *series, const char *status, bool first)
{
    if (first && m->told == MISSING_TOLD) {
        m->left++;
        return false;
    }
    if (first && series == NULL)
        fprintf(m->out, "%s%s at ", m->told++ > 0 ? "; all " : "All ", status);
    else if (first)
        fprintf(m->out, "%s%s %s at ", m->told++ > 0 ? "; " : "", series, status);
    else
        fputs(", ", m->out);
    return true;
}

/* Rank counts at which every point has this status. */
static void write_all_missing(struct missing *m, const char *status)
{
    size_t n = 0;
    for (size_t i = 0; i < m->axis->n; i++) {
        const struct at_ranks *at = &m->axis->items[i];
        if (!miss_alike(at) || strcmp(at->status, status) != 0)
            continue;
        if (!begin_missing(m, NULL, status, n++ == 0))
            return;
        fprintf(m->out, "%ld", at->ranks);
    }
    if (n > 0)
        fputs(" ranks", m->out);
}

/* Those at which this series has it, and another one a value or another status. */
static void write_series_missing(struct missing *m, const struct series *series, const char *status)
{
    size_t n = 0;
    for (size_t i = 0; i < series->n; i++) {
        const struct point_summary *p = &m->d->s->points[series->points[i]];
        if (!figure_data_misses(m->d, series->points[i]) || strcmp(p->status, status) != 0 ||
            miss_alike(find_ranks(m->axis, ranks_of(p))))
            continue;
        if (!begin_missing(m, series->name + m->lead, status, n++ == 0))
            return;
        fprintf(m->out, "%ld", ranks_of(p));
    }
}

static void write_missing(struct missing *m)
{
    for (int i = 0; i < POINT_STATUSES; i++)
        write_all_missing(m, point_status_names()[i]);
    for (size_t k = 0; k < m->d->series.n; k++)
        for (int i = 0; i < POINT_STATUSES; i++)
            write_series_missing(m, &m->d->series.items[k], point_status_names()[i]);
    if (m->left > 0)
        fprintf(m->out, "; and %zu more", m->left);
    fputs(m->told > 0 ? "." : "", m->out);
}

/* missing1, missing2 ...: what stands below the axis of ranks, as a caption does, and covers nothing. */
static enum status define_missing(FILE *out, const struct figure_data *d, const struct axis *axis,
                                  struct error *e)
{
    struct caption text = {0};
    size_t size = 0;
    char name[GNUPLOT_NAME];
    struct missing m = {.out = open_memstream(&text.text, &size),
                        .d = d,
                        .axis = axis,
                        .lead = shared_lead(&d->series)};
    if (m.out == NULL)
        return error_no_memory(e, "a figure");
    write_missing(&m);
    if (fclose(m.out) != 0) {
        caption_free(&text);
        return error_no_memory(e, "a figure");
    }
    caption_wrap(&text, is_page(d) ? CAPTION_PAGE : CAPTION_COLUMN);
    gnuplot_define_number(out, "missing_n", (double)text.n);
    for (size_t k = 0; k < text.n; k++)
        gnuplot_define_text(out, gnuplot_numbered(name, "missing", k + 1, ""), text.lines[k]);
    caption_free(&text);
    return OK;
}

/* ---- Everything ---- */

/* What the legend calls published values beside ours: as the one file says that they are of. */
static const char *published_name(const struct figure_data *d)
{
    const struct figure_request *r = d->figure->request;
    const char *name = r->n_sources == 1 ? r->sources[0].options[PUBLISHED_NAME].text : "";
    return name[0] ? name : "published";
}

/* Ranks that share cores tell nothing of how a program scales over them. */
static bool is_of_scaling(const struct quantity *quantity)
{
    return quantity->relation == RELATION_EFFICIENCY || quantity->column == COLUMN_karp_flatt;
}

static void define_counts(FILE *out, const struct figure_data *d)
{
    gnuplot_define_number(out, "values_n", (double)d->values);
    gnuplot_define_number(out, "doubtful_n", (double)d->doubtful);
    gnuplot_define_number(out, "oversubscribed_n", (double)d->oversubscribed);
    gnuplot_define_number(out, "published_n", (double)d->published_beside);
    gnuplot_define_text(out, "published_name", published_name(d));
    gnuplot_define_number(out, "model_n", (double)d->predicted);
    gnuplot_define_number(out, "least", d->least);
    gnuplot_define_number(out, "most", d->most);
    gnuplot_define_number(out, "lowest", d->lowest);
    gnuplot_define_number(out, "percent_most", d->quantity->most);
    gnuplot_define_text(out, "withheld", is_of_scaling(d->quantity) ? "oversubscribed" : "");
    gnuplot_define_number(out, "dots_n", (double)d->dots);
    gnuplot_define_text(out, "dots_name",
                        d->quantity->source == SOURCE_RUNS ? "single runs" : "single launches");
    gnuplot_define_number(out, "rows_n", (double)d->rows);
    for (size_t k = 0; k < FIGURE_COLUMNS_MAX; k++) {
        char name[GNUPLOT_NAME];
        gnuplot_define_number(out, gnuplot_numbered(name, "column", k + 1, "_n"),
                              (double)d->known[k]);
    }
}

/* The caption as the spec wants it, cut into lines: caption1, caption2 ... The share of the picture
 * that it may take is its own where it stands in full. */
static enum status define_caption(FILE *out, const struct figure_data *d, struct error *e)
{
    long wanted = config_int(&d->s->spec->config, OPT_CAPTION);
    struct caption caption = {0};
    char name[GNUPLOT_NAME];
    enum status status =
        wanted == CAPTION_none ? OK : caption_make(&caption, d, wanted == CAPTION_full, e);
    TRY(status);
    if (caption.text != NULL)
        caption_wrap(&caption, is_page(d) ? CAPTION_PAGE : CAPTION_COLUMN);
    gnuplot_define_number(out, "caption_n", (double)caption.n);
    gnuplot_define_number(out, "caption_share", wanted == CAPTION_short ? 0.15 : 1);
    for (size_t k = 0; k < caption.n; k++)
        gnuplot_define_text(out, gnuplot_numbered(name, "caption", k + 1, ""), caption.lines[k]);
    caption_free(&caption);
    return OK;
}

static void define_files(FILE *out, const struct figure_data *d, const char *plots_dir,
                         const struct stage *stage)
{
    char path[4500];
    gnuplot_define_text(out, "plots", plots_dir);
    snprintf(path, sizeof path, "%s/series_%s.csv", stage->dir, d->figure->name);
    gnuplot_define_text(out, "data", path);
    snprintf(path, sizeof path, "%s/dots_%s.csv", stage->dir, d->figure->name);
    gnuplot_define_text(out, "dots_data", path);
    snprintf(path, sizeof path, "%s/%s", stage->dir, d->figure->name);
    gnuplot_define_text(out, "out", path);
}

static enum status define_over_ranks(FILE *out, const struct figure_data *d, struct error *e)
{
    struct axis axis;
    enum status status = OK;
    TRY(make_axis(&axis, d, e));
    define_series(out, d);
    if (axis.n == 0)
        status = error_set(e, ERR_ARGUMENT, "figures.where = %s: nothing of the run is left",
                           figure_text(d->figure, FIGURE_WHERE));
    if (status == OK) {
        define_ranks(out, &axis, strcmp(figure_text(d->figure, FIGURE_X_SCALE), "linear") == 0);
        define_ideals(out, d);
    }
    THEN(status, define_missing(out, d, &axis, e));
    free(axis.items);
    return status;
}

/* What a spec says of the figure, and its words: what it stacks or has panels of; sums without
 * blanks, as the series file has them. */
static void define_options(FILE *out, const struct figure_data *d)
{
    const char *title = figure_text(d->figure, FIGURE_TITLE);
    gnuplot_define_text(out, "title", title[0] ? title : spec_title_of_set(d->s->spec));
    gnuplot_define_text(out, "size", figure_text(d->figure, FIGURE_SIZE));
    gnuplot_define_text(out, "shape_of", figure_text(d->figure, FIGURE_SHAPE));
    gnuplot_define_text(out, "x_scale", figure_text(d->figure, FIGURE_X_SCALE));
    gnuplot_define_text(out, "y_scale", figure_text(d->figure, FIGURE_Y_SCALE));
    fputs("columns='", out);
    for (size_t i = 0; figure_column(d->figure, i) != NULL; i++) {
        fputs(i > 0 ? " " : "", out);
        for (const char *c = figure_column(d->figure, i); *c; c++)
            if (*c != ' ')
                fputc(*c, out);
    }
    fputs("'; ", out);
}

enum status figure_define(FILE *out, const struct figure_data *d, const char *plots_dir,
                          const struct stage *stage, struct error *e)
{
    const char *lack = figure_data_lack(d);
    define_files(out, d, plots_dir, stage);
    gnuplot_define_text(out, "scaling", config_text(&d->s->spec->config, OPT_SCALING));
    gnuplot_define_text(out, "y_title", d->quantity->title);
    gnuplot_define_text(out, "nothing", lack != NULL ? lack : "");
    define_options(out, d);
    TRY(d->figure->shape->any_x ? curves_define(out, d, e) : define_over_ranks(out, d, e));
    define_counts(out, d);
    spread_define(out, &d->spread);
    return define_caption(out, d, e);
}
