#include "bench/figures/caption.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench/collect/published.h"
#include "bench/collect/summary.h"
#include "bench/figures/caption_basis.h"
#include "bench/figures/caption_missing.h"
#include "kernels/base/mem.h"

/* More bases than these fill a picture with their names; a short caption has room for fewer. */
enum { BASES_TOLD = 6, BASES_TOLD_SHORT = 3 };

/* " Strong scaling." or ", strong scaling". */
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

static void write_batch(FILE *out, const struct summary *s)
{
    char text[320];
    summary_batch(text, sizeof text, s);
    if (text[0])
        fprintf(out, ", %s", text);
}

/* "; measured, local." */
static void write_kind(FILE *out, const struct summary *s, bool trained)
{
    char text[256];
    fprintf(out, "; %s", summary_kinds(text, sizeof text, s, trained));
    summary_distinct(text, sizeof text, s, COLUMN_link);
    if (!text[0])
        summary_distinct(text, sizeof text, s, COLUMN_site);
    fprintf(out, ", %s.", text);
}

/* Of programs that train nothing: their name, and which time counts. */
static void write_foreign(FILE *out, const struct summary *s, const char *program, bool brief)
{
    const char *time = config_text(&s->spec->points[0].config, OPT_JUDGED);
    fprintf(out, "%s, time %s", program, time);
    if (brief) {
        write_scaling(out, s, true);
        write_kind(out, s, false);
        return;
    }
    fputs(strcmp(time, option_get(OPT_JUDGED)->preset) == 0 ? " from exec to exit."
                                                            : " as its output tells it.",
          out);
    write_scaling(out, s, false);
}

static void write_form(FILE *out, const struct summary *s)
{
    if (config_int(&s->spec->config, OPT_FORM) == FORM_quick)
        fputs("Quick form, no result: ", out);
}

/* Brief: "lenet_21k on mnist (real data), sgd, global batch 256, strong scaling; measured,
 * local." */
static void write_subject(FILE *out, const struct summary *s, bool trained, bool brief)
{
    char text[512], number[TEXT_NUMBER];
    const char *foreign = spec_foreign(s->spec);
    long params = 0;
    if (foreign != NULL) {
        write_foreign(out, s, foreign, brief);
        return;
    }
    fputs(summary_distinct(text, sizeof text, s, COLUMN_model), out);
    summary_distinct(text, sizeof text, s, COLUMN_params);
    if (!brief && sscanf(text, "%ld", &params) == 1 && strchr(text, ',') == NULL)
        fprintf(out, " (%s parameters)", text_count(number, params));
    summary_distinct(text, sizeof text, s, COLUMN_dataset);
    if (text[0])
        fprintf(out, " on %s", text);
    summary_distinct(text, sizeof text, s, COLUMN_data_source);
    if (text[0])
        fprintf(out, " (%s data)", text);
    fprintf(out, ", %s%s", brief ? "" : "optimizer ",
            summary_distinct(text, sizeof text, s, COLUMN_optimizer));
    write_batch(out, s);
    if (brief) {
        write_scaling(out, s, true);
        write_kind(out, s, trained);
        return;
    }
    summary_distinct(text, sizeof text, s, COLUMN_strategy);
    fprintf(out, ", %s %s.", strchr(text, ',') != NULL ? "strategies" : "strategy", text);
    write_scaling(out, s, false);
}

static bool is_timed_base(const struct point_summary *p)
{
    return p->point->base && p->launches > 0 && p->outcome != POINT_diverged;
}

/* "1 rank (none), 177.0 [176.2, 178.1] ms a step"; several are told apart by their labels. */
static void write_base(FILE *out, const struct point_summary *p, bool alone)
{
    char ranks[TEXT_NUMBER], step[TEXT_INTERVAL], strategy[STRATEGY_TEXT];
    text_plural(ranks, config_int(&p->point->config, OPT_RANKS), "rank");
    text_interval(step, &p->step_ms, 4);
    if (config_is_foreign(&p->point->config))
        fprintf(out, "%s, %s ms", p->point->label, step);
    else if (alone)
        fprintf(out, "%s (%s), %s ms a step", ranks, strategy_text(strategy, p->point), step);
    else
        fprintf(out, "%s, %s ms a step", p->point->label, step);
}

/* Which points are bases of those that the figure shows. */
static enum status find_bases(bool **bases, size_t *n, const struct figure_data *d, struct error *e)
{
    const struct point_summary *points = d->s->points;
    TRY(MEM_NEW(*bases, d->s->n, "a caption", e));
    *n = 0;
    for (size_t i = 0; i < d->s->n; i++)
        if (d->shown[i] && is_timed_base(&points[points[i].base]))
            (*bases)[points[i].base] = true;
    for (size_t i = 0; i < d->s->n; i++)
        *n += (*bases)[i];
    return OK;
}

static enum status write_bases(FILE *out, const struct figure_data *d, size_t most, struct error *e)
{
    size_t n, written = 0;
    bool *bases;
    TRY(find_bases(&bases, &n, d, e));
    if (n > most)
        fprintf(out, " Bases: %zu, told by base_point of summary.csv.", n);
    for (size_t i = 0; i < d->s->n && n <= most; i++) {
        if (!bases[i])
            continue;
        fputs(written++ ? "; " : " Base: ", out);
        write_base(out, &d->s->points[i], n == 1);
    }
    if (written > 0)
        fputc('.', out);
    free(bases);
    return OK;
}

static void write_place(FILE *out, const struct summary *s, bool trained)
{
    char text[256];
    fprintf(out, " Site %s", summary_distinct(text, sizeof text, s, COLUMN_site));
    fprintf(out, " (%s", summary_kinds(text, sizeof text, s, trained));
    summary_distinct(text, sizeof text, s, COLUMN_link);
    if (text[0])
        fprintf(out, ", interfaces %s", text);
    fputc(')', out);
    summary_distinct(text, sizeof text, s, COLUMN_host);
    if (text[0])
        fprintf(out, ", host %s", text);
    fprintf(out, ", threads per rank: %s",
            summary_distinct(text, sizeof text, s, COLUMN_threads_per_rank));
    fprintf(out, ", bound to: %s", summary_distinct(text, sizeof text, s, COLUMN_bind));
    fprintf(out, " (%s).", summary_distinct(text, sizeof text, s, COLUMN_order));
}

static void write_published(FILE *out, const struct summary *s)
{
    const struct value *differs = &s->spec->config.values[OPT_DIFFERS];
    if (s->published != NULL && s->published->file[0] != '\0')
        fprintf(out, " Published values: %s, %zu of its %zu rows have a point here.",
                s->published->file, s->published->matched, s->published->rows);
    if (published_withholds(s))
        fputs(" Published accuracy and loss are not shown: the data here are generated.", out);
    for (size_t i = 0; i < differs->n; i++)
        fprintf(out, "%s%s", i ? " " : " What differs: ", differs->texts[i]);
}

static bool has_compute_only(const struct summary *s)
{
    for (size_t i = 0; i < s->n; i++)
        if (s->points[i].compute_only && s->points[i].launches > 0)
            return true;
    return false;
}

static void write_spread(FILE *out, const struct figure_data *d)
{
    if (d->spread.n > 0)
        fputs(" Points that would hide each other are spread sideways.", out);
}

/* What a reader must know to read the figure: the rest stands in <figure>.txt. */
static enum status write_short(FILE *out, const struct figure_data *d, const struct summary *s,
                               const struct summary *ran, struct error *e)
{
    struct basis basis = basis_find(d);
    bool trained = d->quantity->source == SOURCE_RUNS;
    write_form(out, ran);
    write_subject(out, ran, trained, true);
    if (basis.points > 0) {
        basis_write_lead(out, d);
        basis_write_sizes(out, &basis);
        if (d->figure->shape->whiskers && basis.high > 0) {
            fputs(", ", out);
            basis_write_levels(out, &basis);
            fputs(basis.met == 0 ? " % intervals (least to greatest)" : " % intervals", out);
        }
        fputc('.', out);
    }
    write_spread(out, d);
    if (basis_is_of_ratios(d))
        TRY(write_bases(out, d, BASES_TOLD_SHORT, e));
    missing_write_counts(out, s);
    if (!trained)
        TRY(disturbed_write(out, d, e));
    flaws_write(out, s);
    return OK;
}

static bool is_predicted(const struct figure_data *d)
{
    for (size_t i = 0; i < d->s->n; i++)
        if (d->shown[i] && isfinite(figure_data_model(d, i)))
            return true;
    return false;
}

/* A part a line. */
static enum status write_full(FILE *out, const struct figure_data *d, const struct summary *s,
                              const struct summary *ran, struct error *e)
{
    bool trained = d->quantity->source == SOURCE_RUNS;
    write_form(out, ran);
    write_subject(out, ran, trained, false);
    basis_write_method(out, d, ran);
    write_spread(out, d);
    TRY(write_bases(out, d, BASES_TOLD, e));
    if (is_predicted(d))
        prediction_write(out, &d->prediction, d->quantity);
    if (!trained && has_compute_only(s))
        fputs(" Compute only: ranks train apart, nothing is communicated.", out);
    write_place(out, ran, trained);
    TRY(missing_write(out, s, e));
    if (trained)
        missing_write_seeds(out, s);
    else
        TRY(disturbed_write(out, d, e));
    flaws_write(out, s);
    write_published(out, s);
    if (d->left_out > 0)
        fprintf(out, " Not drawn for want of room: %zu %s of series_%s.csv.", d->left_out,
                d->figure->shape->bars ? "bars" : "curves", d->figure->name);
    return OK;
}

/* Where nothing here was measured, what was run says nothing of the figure. */
static bool is_unmeasured(const struct figure_data *d)
{
    bool published = d->published > 0 && d->figure->request->n_sources > 0;
    return figure_is_of_networks(d) || (d->values == 0 && published);
}

static void write_unmeasured(FILE *out, const struct figure_data *d)
{
    char text[256];
    if (d->values == 0)
        fputs("Published values alone: nothing was measured here.", out);
    else
        fprintf(out, "Network %s as it is defined: nothing was measured.",
                summary_distinct(text, sizeof text, d->s, COLUMN_model));
}

static void write_file(FILE *out, const struct spec *spec, const char *text, bool more)
{
    const struct spec_input *input = spec_input_find(spec, OPT_PUBLISHED_FILE, text);
    const char *path = input != NULL ? input->path : text, *slash = strrchr(path, '/');
    fprintf(out, "%s%s",
            more ? ", " : " Published values of the figure: ", slash != NULL ? slash + 1 : path);
}

/* Several sources may be of one file. */
static bool is_told_before(const struct figure_request *r, size_t source)
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
        if (!is_told_before(r, i))
            write_file(out, d->s->spec, r->sources[i].options[PUBLISHED_FILE].text, i > 0);
    fputs(r->n_sources > 0 ? "." : "", out);
}

/* The summary without the points that the figure leaves out, or that were skipped besides; its points
 * are the caller's to free. */
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

/* What was run is said of the points that ran, or of all where none did. */
static enum status write_measured(FILE *out, const struct figure_data *d, bool full,
                                  struct error *e)
{
    struct summary shown = {0}, ran = {0};
    enum status status = find_shown(&shown, d, true, e);
    THEN(status, find_shown(&ran, d, false, e));
    THEN(status, (full ? write_full : write_short)(out, d, &shown, ran.n > 0 ? &ran : &shown, e));
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
