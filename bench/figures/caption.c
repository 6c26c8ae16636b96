#include "bench/figures/caption.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "bench/base/file.h"
#include "bench/collect/fits.h"
#include "bench/collect/published.h"
#include "bench/collect/summary.h"
#include "kernels/base/mem.h"

/* Largest number of base points listed in a full and in a short caption. More would fill the
 * picture. */
enum { BASES_LISTED = 6, BASES_LISTED_SHORT = 3 };

/* Writes the kind of scaling, such as " Strong scaling." or, if `brief`, ", strong scaling". For
 * scaling `epoch`, writes other texts; for `none`, writes nothing. */
static void write_scaling(FILE *out, const struct summary *s, bool brief)
{
    const char *scaling = config_text(&s->spec->config, OPT_SCALING);
    bool epoch = strcmp(scaling, "epoch") == 0;
    if (strcmp(scaling, "none") == 0)
        return;
    if (brief)
        fprintf(out, epoch ? " over fixed data" : ", %s scaling", scaling);
    else if (epoch)
        fputs(" Batch per rank over a fixed data set: neither strong nor weak scaling.", out);
    else
        fprintf(out, " %c%s scaling.", scaling[0] == 's' ? 'S' : 'W', scaling + 1);
}

/* Writes the kinds of the points, then their network links (their sites if no link is known), such
 * as "; measured, local." */
static void write_kind(FILE *out, const struct summary *s, bool trained)
{
    char text[256];
    fprintf(out, "; %s", summary_kinds(text, sizeof text, s, trained));
    summary_distinct(text, sizeof text, s, COLUMN_link);
    if (!text[0])
        summary_distinct(text, sizeof text, s, COLUMN_site);
    fprintf(out, ", %s.", text);
}

/* Writes the name of the user's program and the time by which points are compared (workload.time).
 * Unless `brief`, adds how this time is measured. */
static void write_program(FILE *out, const struct summary *s, const char *program, bool brief)
{
    const char *time = config_text(&s->spec->points[0].config, OPT_JUDGED);
    bool wall = strcmp(time, option_get(OPT_JUDGED)->preset) == 0;
    fprintf(out, "%s, time %s", program, time);
    if (!brief)
        fputs(wall ? " from exec to exit." : " as its output reports it.", out);
}

/* Writes network, data, optimizer and batch, such as "lenet_21k on mnist (real data), sgd, global
 * batch 256". Unless `brief`, also writes the strategy, and the number of parameters if this number
 * is equal at all points. */
static void write_training(FILE *out, const struct summary *s, bool brief)
{
    char text[512], number[TEXT_NUMBER];
    long params = 0;
    fputs(summary_distinct(text, sizeof text, s, COLUMN_model), out);
    summary_distinct(text, sizeof text, s, COLUMN_params);
    if (!brief && sscanf(text, "%ld", &params) == 1 && strchr(text, ',') == NULL)
        fprintf(out, " (%s parameters)", text_count(number, params));
    summary_print_part(out, " on ", summary_distinct(text, sizeof text, s, COLUMN_dataset));
    if (summary_distinct(text, sizeof text, s, COLUMN_data_source)[0])
        fprintf(out, " (%s data)", text);
    fprintf(out, ", %s%s", brief ? "" : "optimizer ",
            summary_distinct(text, sizeof text, s, COLUMN_optimizer));
    summary_print_part(out, ", ", summary_batch(text, sizeof text, s));
    summary_distinct(text, sizeof text, s, COLUMN_strategy);
    if (!brief)
        fprintf(out, ", %s %s.", strchr(text, ',') != NULL ? "strategies" : "strategy", text);
}

/* Writes the subject of a caption: the user's program or the training, then the scaling. If
 * `brief`, writes one clause, which ends with the kinds and links of the points: "lenet_21k on
 * mnist (real data), sgd, global batch 256, strong scaling; measured, local." */
static void write_subject(FILE *out, const struct summary *s, bool trained, bool brief)
{
    const char *foreign = spec_foreign(s->spec);
    if (foreign != NULL)
        write_program(out, s, foreign, brief);
    else
        write_training(out, s, brief);
    write_scaling(out, s, brief);
    if (brief)
        write_kind(out, s, trained && foreign == NULL);
}

/* ---- Medians and whiskers ---- */

/* Data behind a figure's medians and intervals: lowest and highest number of samples of a shown
 * point, and lowest and highest confidence level of the intervals. */
struct basis {
    double least, most; /* fewest and most launches, runs or paired ratios per point */
    /* `points`: shown points with a value; `met`: points whose interval reaches SUMMARY_CONFIDENCE.
     * In an overlap figure, points without pairs of launches count in `met` too. */
    size_t points, met;
    double low, high; /* lowest and highest confidence level of the intervals (%) */
    const char *what[2];
    /* for ratios of paired launches, how the launches are paired: "each to the base's launch";
     * otherwise NULL */
    const char *with;
};

/* Writes a range of counts: "1" or "6 to 12". */
static void write_range(FILE *out, double least, double most)
{
    char text[TEXT_NUMBER];
    fputs(text_real(text, least), out);
    if (most > least)
        fprintf(out, " to %s", text_real(text, most));
}

/* Returns the column of the lower end of the figure's whiskers; COLUMNS if summary.csv has none. */
static enum column_id whiskers_of(const struct figure_data *d)
{
    if (d->figure->shape == &shape_overlap)
        return COLUMN_overlap_share_lo;
    return d->quantity->source == SOURCE_POINTS ? d->quantity->lo : COLUMNS;
}

/* Columns of summary.csv whose intervals are computed from pairs of launches in one block. `lo`:
 * column of the lower bound; `with`: how launches are paired; `one`, `several`: name of a pair's
 * value. */
static const struct pairing {
    enum column_id lo;
    size_t pairs; /* offset of the number of pairs in struct point_summary */
    const char *with, *one, *several;
} pairings[] = {
#define PAIRED(name, member, with, what)                                                           \
    {                                                                                              \
        COLUMN_##name##_lo, offsetof(struct point_summary, member), with, what, what "s"           \
    }
    PAIRED(speedup, scaling.pairs, "each to the base's launch", "paired ratio"),
    PAIRED(efficiency, scaling.pairs, "each to the base's launch", "paired ratio"),
    PAIRED(karp_flatt, scaling.pairs, "each to the base's launch", "paired ratio"),
    PAIRED(peer_ratio, beside_peer.pairs, "each to the peer's launch", "paired ratio"),
    PAIRED(torch_ratio, beside[WORKLOAD_peer_torch].pairs, "each to the peer's launch",
           "paired ratio"),
    PAIRED(onednn_ratio, beside[WORKLOAD_peer_onednn].pairs, "each to the peer's launch",
           "paired ratio"),
    PAIRED(overlap_share, overlap.pairs, "each with the launch of strategy none", "paired share"),
#undef PAIRED
};

/* Returns how the launches behind the whiskers are paired; NULL if the intervals are computed from
 * single launches. */
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

/* Returns the number of launches, runs or ratios whose median is the value of a point. 0: not a
 * median, such as a base's ratio to itself. */
static size_t sample_size(const struct figure_data *d, size_t point)
{
    const struct point_summary *p = &d->s->points[point];
    size_t pairs = pairs_of(d, p);
    if (d->measured[point].n == 0 || d->figure->shape == &shape_overlap)
        return d->measured[point].n;
    if (relation_is_ratio(d->quantity->relation) && p == &d->s->points[p->base])
        return 0;
    return pairs > 0 ? pairs : d->measured[point].n;
}

/* Returns whether the campaign added launches until the intervals of this quantity were narrow
 * enough, or a maximum was reached. */
static bool adds_launches(const struct figure_data *d)
{
    return (d->quantity->source == SOURCE_POINTS || whiskers_of(d) != COLUMNS) &&
           config_adds_launches(&d->s->spec->config);
}

/* Returns the confidence level (0 to 1) of the interval around a median of n values, at most
 * TIMING_LEVEL. NAN if the point has no interval. */
static double level_at(const struct figure_data *d, size_t point, size_t n)
{
    const struct point_summary *p = &d->s->points[point];
    bool overlap = d->figure->shape == &shape_overlap;
    double lo = overlap ? p->overlap.share.lo : d->measured[point].value.lo;
    size_t pairs = pairs_of(d, p);
    n = pairs > 0 ? pairs : n;
    return n < 2 || !isfinite(lo) ? NAN : fmin(timing_level(n, adds_launches(d)), TIMING_LEVEL);
}

static struct basis find_basis(const struct figure_data *d)
{
    struct basis basis = {.least = INFINITY, .low = INFINITY, .what = {"launch", "launches"}};
    const struct pairing *pairing = d->figure->shape != &shape_overlap ? find_pairing(d) : NULL;
    if (d->quantity->source == SOURCE_RUNS)
        basis.what[0] = "run", basis.what[1] = "runs";
    if (pairing != NULL) {
        basis.with = pairing->with;
        basis.what[0] = pairing->one, basis.what[1] = pairing->several;
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
        basis.met += isnan(level) && bare; /* in overlap figures, a point without pairs of launches
                                              needs no interval; `met` counts it like a point whose
                                              interval reaches SUMMARY_CONFIDENCE */
        if (isnan(level))
            continue;
        basis.low = fmin(basis.low, 100 * level);
        basis.high = fmax(basis.high, 100 * level);
        basis.met += level >= SUMMARY_CONFIDENCE;
    }
    return basis;
}

/* Writes the range of confidence levels (%): "75 to 95", or "75" if all levels are equal. */
static void write_levels(FILE *out, const struct basis *basis)
{
    fprintf(out, "%.3g", basis->low);
    if (basis->high > basis->low)
        fprintf(out, " to %.3g", basis->high);
}

/* Writes the confidence levels of the intervals that whiskers show, such as "; whiskers: 75 to 95 %
 * interval". Without intervals, writes that there are none. */
static void write_whiskers(FILE *out, const struct basis *basis)
{
    if (basis->most < 2) {
        fputs("; single launches have no interval.", out);
        return;
    }
    if (!(basis->high > 0)) {
        fputs("; without intervals.", out);
        return;
    }
    fputs("; whiskers: ", out);
    write_levels(out, basis);
    fputs(" % interval", out);
    if (basis->met == 0)
        fputs(" (minimum to maximum)", out);
    else if (basis->met < basis->points)
        fprintf(out, " (minimum to maximum if there are too few %s for 95 %%)", basis->what[1]);
    fputc('.', out);
}

/* Writes the range of epochs over all points: "5 epochs" or "1 to 4 epochs". */
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

/* Writes how long each launch or run is, such as " of 30 steps" or " of 5 epochs, one per seed". If
 * basis->with is set, first writes how launches are paired. Writes no number of steps for a user's
 * program. */
static void write_sample(FILE *out, const struct figure_data *d, const struct summary *ran,
                         const struct basis *basis)
{
    char text[256];
    if (d->quantity->source == SOURCE_RUNS) {
        fputs(" of ", out);
        write_epochs(out, ran);
        fputs(", one per seed", out);
        return;
    }
    if (basis->with != NULL)
        fprintf(out, ", %s of the same block, launches", basis->with);
    if (spec_foreign(d->s->spec) == NULL)
        fprintf(out, " of %s steps", summary_distinct(text, sizeof text, ran, COLUMN_steps));
}

/* Writes the confidence levels of the intervals: ", 75 to 95 % intervals." */
static void write_intervals(FILE *out, const struct figure_data *d, const struct basis *basis)
{
    if (d->figure->shape->whiskers && basis->high > 0) {
        fputs(", ", out);
        write_levels(out, basis);
        fputs(basis->met == 0 ? " % intervals (minimum to maximum)" : " % intervals", out);
    }
    fputc('.', out);
}

/* Writes how many launches or runs are behind each value, and the confidence levels of the
 * intervals. `ran`: the shown points that ran. */
static void write_method(FILE *out, const struct figure_data *d, const struct summary *ran,
                         bool full)
{
    const struct figure_shape *shape = d->figure->shape;
    struct basis basis = find_basis(d);
    if (basis.points == 0)
        return;
    fputs(shape->lead != NULL ? shape->lead : " Median of ", out);
    write_range(out, basis.least, basis.most);
    fprintf(out, " %s", basis.what[basis.most > 1]);
    if (!full) {
        write_intervals(out, d, &basis);
        return;
    }
    write_sample(out, d, ran, &basis);
    fputs(shape->method, out);
    if (shape->whiskers)
        write_whiskers(out, &basis);
}

/* Writes a base and its step time, such as "1 rank (none), 177.0 [176.2, 178.1] ms per step". If
 * there are other bases (not `alone`) or the base runs a user's program, writes the point's label
 * in place of ranks and strategy. For a user's program, also leaves out "per step". */
static void write_base(FILE *out, const struct point_summary *p, bool alone)
{
    char ranks[TEXT_NUMBER], step[TEXT_INTERVAL], strategy[STRATEGY_TEXT];
    text_plural(ranks, config_int(&p->point->config, OPT_RANKS), "rank");
    text_interval(step, &p->step_ms, 4);
    if (config_is_foreign(&p->point->config))
        fprintf(out, "%s, %s ms", p->point->label, step);
    else if (alone)
        fprintf(out, "%s (%s), %s ms per step", ranks, strategy_text(strategy, p->point), step);
    else
        fprintf(out, "%s, %s ms per step", p->point->label, step);
}

/* Returns whether `point` is the base of a shown point and has a step time. */
static bool is_base_of_shown(const struct figure_data *d, size_t point)
{
    const struct point_summary *points = d->s->points;
    for (size_t i = 0; i < d->s->n; i++)
        if (d->shown[i] && points[i].base == point)
            return point_is_timed_base(&points[point]);
    return false;
}

static void write_bases(FILE *out, const struct figure_data *d, size_t most)
{
    size_t n = 0, written = 0;
    for (size_t i = 0; i < d->s->n; i++)
        n += is_base_of_shown(d, i);
    if (n > most)
        fprintf(out, " Bases: %zu, named in base_point of summary.csv.", n);
    for (size_t i = 0; i < d->s->n && n <= most; i++) {
        if (!is_base_of_shown(d, i))
            continue;
        fputs(written++ ? "; " : " Base: ", out);
        write_base(out, &d->s->points[i], n == 1);
    }
    if (written > 0)
        fputc('.', out);
}

/* Writes how well simulated times agree with measured times, and that simulated points are drawn
 * hollow (not in bar figures). Writes nothing if no shown point is simulated. */
static void write_validation(FILE *out, const struct figure *figure, const struct summary *shown,
                             const struct summary *all)
{
    const struct validation v = summary_validation(all);
    if (summary_validation(shown).simulated == 0)
        return;
    fprintf(out, " Simulated points%s: ", figure->shape->bars ? "" : " (hollow)");
    validation_write(out, &v);
    fputc('.', out);
}

static void write_place(FILE *out, const struct summary *s, bool trained)
{
    char text[256];
    fprintf(out, " Site %s", summary_distinct(text, sizeof text, s, COLUMN_site));
    fprintf(out, " (%s", summary_kinds(text, sizeof text, s, trained));
    summary_print_part(out, ", interfaces ", summary_distinct(text, sizeof text, s, COLUMN_link));
    fputc(')', out);
    summary_print_part(out, ", host ", summary_distinct(text, sizeof text, s, COLUMN_host));
    fprintf(out, ", threads per rank: %s",
            summary_distinct(text, sizeof text, s, COLUMN_threads_per_rank));
    fprintf(out, ", bound to: %s", summary_distinct(text, sizeof text, s, COLUMN_bind));
    fprintf(out, " (%s).", summary_distinct(text, sizeof text, s, COLUMN_order));
}

static void write_published(FILE *out, const struct summary *s)
{
    const struct value *differs = &s->spec->config.values[OPT_DIFFERS];
    if (s->published != NULL && s->published->file[0] != '\0')
        fprintf(out, " Published values: %s (%zu of %zu rows have a point here).",
                s->published->file, s->published->matched, s->published->rows);
    if (published_withholds(s))
        fputs(" Published accuracy and loss are left out, since the data here are generated.", out);
    for (size_t i = 0; i < differs->n; i++)
        fprintf(out, "%s%s", i ? " " : " Difference from the report: ", differs->texts[i]);
}

static bool is_timed_alone(const struct point_summary *p)
{
    return p->compute_only && p->launches > 0;
}

static bool is_predicted(const struct figure_data *d)
{
    for (size_t i = 0; i < d->s->n; i++)
        if (d->shown[i] && isfinite(figure_data_model(d, d->quantity, i)))
            return true;
    return false;
}

static void write_left_out(FILE *out, const struct figure_data *d)
{
    if (d->left_out > 0)
        fprintf(out, " Not drawn, because they do not fit: %zu %s of series_%s.csv.", d->left_out,
                d->figure->shape->bars ? "bars" : "curves", d->figure->name);
}

/* Writes which law was fitted or how times were predicted, then the site and the machine. A short
 * caption leaves these facts to <figure>.txt. */
static void write_circumstances(FILE *out, const struct figure_data *d, const struct summary *s,
                                const struct summary *ran, bool trained)
{
    if (d->figure->law != NULL && s->fits != NULL && s->fits->n > 0)
        fprintf(out, " Thin lines: law %s fitted to each curve (fits.csv).", d->figure->law);
    else if (is_predicted(d))
        prediction_write(out, &d->prediction, d->quantity);
    if (!trained && summary_count(s, is_timed_alone) > 0)
        fputs(" Compute only: ranks train apart and send nothing.", out);
    write_place(out, ran, trained);
}

/* Writes the sentences of a caption. `s`: all shown points; `ran`: shown points that ran. Most
 * sentences describe only the points that ran. */
static void write_parts(FILE *out, const struct figure_data *d, const struct summary *s,
                        const struct summary *ran, bool full)
{
    bool trained = d->quantity->source == SOURCE_RUNS;
    if (config_int(&ran->spec->config, OPT_FORM) == FORM_quick)
        fputs("Quick form, no result: ", out);
    write_subject(out, ran, trained, !full);
    write_method(out, d, ran, full);
    write_validation(out, d->figure, ran, d->s);
    if (d->spread.n > 0)
        fputs(" Points that would hide each other are spread sideways.", out);
    if (full || relation_is_ratio(d->quantity->relation))
        write_bases(out, d, full ? BASES_LISTED : BASES_LISTED_SHORT);
    if (full)
        write_circumstances(out, d, s, ran, trained);
    missing_write(out, s, full);
    if (full && trained)
        missing_write_seeds(out, s);
    if (!trained)
        disturbed_write(out, d);
    flaws_write(out, s);
    if (full) {
        write_published(out, s);
        write_left_out(out, d);
    }
}

/* Returns whether the figure has no value measured in this run, only published values or properties
 * of networks. Its caption then does not describe the run. */
static bool is_unmeasured(const struct figure_data *d)
{
    bool published = d->published > 0 && d->figure->request->n_sources > 0;
    return figure_is_of_networks(d) || (d->values == 0 && published);
}

static void write_unmeasured(FILE *out, const struct figure_data *d)
{
    char text[256];
    if (d->values == 0)
        fputs("Published values only; nothing was measured here.", out);
    else
        fprintf(out, "Network %s as defined; nothing was measured.",
                summary_distinct(text, sizeof text, d->s, COLUMN_model));
}

static void write_file(FILE *out, const struct spec *spec, const char *text, bool more)
{
    const struct spec_input *input = spec_input_find(spec, OPT_PUBLISHED_FILE, text);
    fprintf(out, "%s%s", more ? ", " : " Published values of the figure: ",
            file_name(input != NULL ? input->path : text));
}

/* Returns whether an earlier source of published values reads the same file. */
static bool is_listed_before(const struct figure_request *r, size_t source)
{
    const char *file = r->sources[source].options[PUBLISHED_FILE].text;
    for (size_t i = 0; i < source; i++)
        if (strcmp(r->sources[i].options[PUBLISHED_FILE].text, file) == 0)
            return true;
    return false;
}

static void write_sources(FILE *out, const struct figure_data *d)
{
    const struct figure_request *r = d->figure->request;
    for (size_t i = 0; i < r->n_sources; i++)
        if (!is_listed_before(r, i))
            write_file(out, d->s->spec, r->sources[i].options[PUBLISHED_FILE].text, i > 0);
    fputs(r->n_sources > 0 ? "." : "", out);
}

/* Copies the figure's summary with only the points that the figure shows. `skipped`: whether to
 * include skipped points. The caller frees shown->points. */
static enum status find_shown(struct summary *shown, const struct figure_data *d, bool skipped,
                              struct error *e)
{
    *shown = *d->s;
    shown->n = 0;
    TRY(MEM_NEW(shown->points, d->s->n, "a caption", e));
    for (size_t i = 0; i < d->s->n; i++)
        if (d->shown[i] && (skipped || d->s->points[i].outcome != POINT_skipped))
            shown->points[shown->n++] = d->s->points[i];
    return OK;
}

/* Writes the caption of measured values. The caption describes the points that ran (all shown
 * points if none ran), and reports shown points without a result. */
static enum status write_measured(FILE *out, const struct figure_data *d, bool full,
                                  struct error *e)
{
    struct summary shown = {0}, ran = {0};
    enum status status = find_shown(&shown, d, true, e);
    THEN(status, find_shown(&ran, d, false, e));
    if (status == OK)
        write_parts(out, d, &shown, ran.n > 0 ? &ran : &shown, full);
    free(shown.points);
    free(ran.points);
    return status;
}

static enum status write_caption(FILE *out, const struct figure_data *d, bool full, struct error *e)
{
    if (is_unmeasured(d))
        write_unmeasured(out, d);
    else
        TRY(write_measured(out, d, full, e));
    if (full || is_unmeasured(d))
        write_sources(out, d);
    return OK;
}

enum status caption_make(char **caption, const struct figure_data *d, bool full, struct error *e)
{
    size_t size = 0;
    FILE *out = open_memstream(caption, &size);
    if (out == NULL)
        return error_no_memory(e, "a caption");
    enum status status = write_caption(out, d, full, e);
    if (fclose(out) != 0 && status == OK)
        status = error_no_memory(e, "a caption");
    return status;
}
