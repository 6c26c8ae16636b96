#include "bench/figures/caption.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench/collect/published.h"
#include "bench/collect/summary.h"
#include "kernels/base/mem.h"

/* More bases than these fill a picture with their names; a short caption has room for fewer. */
enum { BASES_TOLD = 6, BASES_TOLD_SHORT = 3 };

/* "1" or "6 to 12". */
static void write_range(FILE *out, double least, double most)
{
    char text[TEXT_NUMBER];
    fputs(text_real(text, least), out);
    if (most > least)
        fprintf(out, " to %s", text_real(text, most));
}

/* " Strong scaling." or ", strong scaling". */
static void write_scaling(FILE *out, const struct summary *s, bool brief)
{
    const char *scaling = config_text(&s->spec->config, OPT_SCALING);
    bool epoch = strcmp(scaling, "epoch") == 0;
    if (strcmp(scaling, "none") == 0)
        return;
    if (brief)
        fprintf(out, epoch ? ", batch per rank over fixed data" : ", %s scaling", scaling);
    else if (epoch)
        fputs(" Batch per rank over a fixed data set: neither strong nor weak scaling.", out);
    else
        fprintf(out, " %c%s scaling.", scaling[0] == 's' ? 'S' : 'W', scaling + 1);
}

static void write_batch(FILE *out, const struct summary *s)
{
    const struct config *config = &s->spec->config;
    char text[256];
    if (config_int(config, OPT_BATCH_PER_RANK) > 0)
        fprintf(out, ", batch per rank %s", config_text(config, OPT_BATCH_PER_RANK));
    else
        fprintf(out, ", global batch %s",
                summary_distinct(text, sizeof text, s, COLUMN_global_batch));
}

/* "; measured, local." */
static void write_kind(FILE *out, const struct summary *s)
{
    char text[256];
    fprintf(out, "; %s", summary_distinct(text, sizeof text, s, COLUMN_kind));
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
        write_kind(out, s);
        return;
    }
    fputs(strcmp(time, option_get(OPT_JUDGED)->preset) == 0 ? " from exec to exit."
                                                            : " as its output tells it.",
          out);
    write_scaling(out, s, false);
}

/* Brief: "lenet_21k on mnist (real data), sgd, global batch 256, strong scaling; measured,
 * local." */
static void write_subject(FILE *out, const struct summary *s, bool brief)
{
    char text[256], number[TEXT_NUMBER];
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
        write_kind(out, s);
        return;
    }
    summary_distinct(text, sizeof text, s, COLUMN_strategy);
    fprintf(out, ", %s %s.", strchr(text, ',') != NULL ? "strategies" : "strategy", text);
    write_scaling(out, s, false);
}

/* Over the points with a value: what each is a median of, and the levels that their intervals reach. */
struct basis {
    double least, most; /* launches, runs or paired ratios of a point */
    size_t points, met; /* with a value; of them with an interval of SUMMARY_CONFIDENCE */
    double low, high;   /* levels in per cent of those with an interval */
    bool added;         /* launches were added until these were narrow */
    const char *what[2];
};

static bool is_ratio(const struct figure_data *d)
{
    return d->quantity->relation > RELATION_RATE;
}

/* What the value of a point is a median of; 0: nothing, as the ratio of a base to itself. */
static size_t sample_size(const struct figure_data *d, size_t point)
{
    const struct point_summary *p = &d->s->points[point];
    if (d->measured[point].n == 0 || !is_ratio(d))
        return d->measured[point].n;
    if (p == &d->s->points[p->base])
        return 0;
    return p->pairs > 0 ? p->pairs : d->measured[point].n;
}

static struct basis find_basis(const struct figure_data *d)
{
    struct basis basis = {.least = INFINITY, .low = INFINITY, .what = {"launch", "launches"}};
    if (d->quantity->source == SOURCE_RUNS)
        basis.what[0] = "run", basis.what[1] = "runs";
    if (is_ratio(d))
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

/* "6 launches" */
static void write_sizes(FILE *out, const struct basis *basis)
{
    write_range(out, basis->least, basis->most);
    fprintf(out, " %s", basis->what[basis->most > 1]);
}

/* "75", "75 to 96.9" */
static void write_levels(FILE *out, const struct basis *basis)
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
    write_levels(out, basis);
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
static void write_sample(FILE *out, const struct figure_data *d, const struct basis *basis)
{
    char text[256];
    write_sizes(out, basis);
    if (d->quantity->source == SOURCE_RUNS) {
        fputs(" of ", out);
        write_epochs(out, d->s);
        fputs(", one a seed", out);
    } else {
        fprintf(out, spec_foreign(d->s->spec) != NULL ? "%s" : "%s of %s steps",
                is_ratio(d) ? ", each to the base's launch of the same block, launches" : "",
                summary_distinct(text, sizeof text, d->s, COLUMN_steps));
    }
}

/* How each value came about. */
static void write_method(FILE *out, const struct figure_data *d)
{
    struct basis basis = find_basis(d);
    if (basis.points == 0)
        return;
    fputs(" Median of ", out);
    write_sample(out, d, &basis);
    fputs(d->figure->shape->method, out);
    if (d->figure->shape->whiskers)
        write_whiskers(out, &basis);
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

static void write_place(FILE *out, const struct summary *s)
{
    char text[256];
    fprintf(out, " Site %s", summary_distinct(text, sizeof text, s, COLUMN_site));
    fprintf(out, " (%s", summary_distinct(text, sizeof text, s, COLUMN_kind));
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

/* ---- Points without a good value ---- */

/* A point that is not ok; those that share status and reason follow each other, `first` being the
 * first of them. */
struct fate {
    const struct point_summary *p;
    size_t point, first;
};

static int by_reason(const void *a, const void *b)
{
    const struct fate *x = a, *y = b;
    int order = strcmp(x->p->status, y->p->status);
    if (order == 0)
        order = strcmp(x->p->reason, y->p->reason);
    return order ? order : (x->point > y->point) - (x->point < y->point);
}

static int by_first(const void *a, const void *b)
{
    const struct fate *x = a, *y = b;
    int order = (x->first > y->first) - (x->first < y->first);
    return order ? order : (x->point > y->point) - (x->point < y->point);
}

static bool share_fate(const struct fate *a, const struct fate *b)
{
    return strcmp(a->p->status, b->p->status) == 0 && strcmp(a->p->reason, b->p->reason) == 0;
}

/* Those of `s` in the order of the first of each fate, *n of them; freed by the caller. */
static enum status find_fates(struct fate **found, size_t *n, const struct summary *s,
                              struct error *e)
{
    TRY(MEM_NEW(*found, s->n, "a caption", e));
    struct fate *fates = *found;
    *n = 0;
    for (size_t i = 0; i < s->n; i++)
        if (s->points[i].outcome != POINT_ok)
            fates[(*n)++] = (struct fate){&s->points[i], i, i};
    qsort(fates, *n, sizeof *fates, by_reason);
    for (size_t i = 1; i < *n; i++)
        if (share_fate(&fates[i], &fates[i - 1]))
            fates[i].first = fates[i - 1].first;
    qsort(fates, *n, sizeof *fates, by_first);
    return OK;
}

/* " Skipped: ranks=4, ranks=8 (8 ranks, 2 cores)." of n points that share their fate. */
static void write_fate(FILE *out, const struct fate *fates, size_t n)
{
    const struct point_summary *p = fates[0].p;
    const int reason_max = 160;
    fprintf(out, " %c%s", p->status[0] - 'a' + 'A', p->status + 1);
    for (size_t k = 0; k < n; k++)
        fprintf(out, "%s %s", k ? "," : ":", fates[k].p->point->label);
    fprintf(out, " (%.*s%s).", reason_max, p->reason,
            strlen(p->reason) > (size_t)reason_max ? "..." : "");
}

/* Points without a good value, by name and with the reason. */
static enum status write_missing(FILE *out, const struct summary *s, struct error *e)
{
    const size_t told_max = 8;
    size_t n, told = 0;
    struct fate *fates;
    TRY(find_fates(&fates, &n, s, e));
    for (size_t i = 0, alike; i < n; i += alike) {
        for (alike = 1; i + alike < n && fates[i + alike].first == fates[i].first; alike++) {
        }
        if (told++ < told_max)
            write_fate(out, &fates[i], alike);
    }
    if (told > told_max)
        fprintf(out, " Further reasons: %zu, in the table.", told - told_max);
    free(fates);
    return OK;
}

/* " Not ok: 3 failed, 2 skipped." */
static void write_missing_counts(FILE *out, const struct summary *s)
{
    size_t told = 0;
    for (int status = 0; status < POINT_STATUSES; status++) {
        size_t n = 0;
        for (size_t i = 0; status != POINT_ok && i < s->n; i++)
            n += s->points[i].outcome == (enum point_status)status;
        if (n > 0)
            fprintf(out, "%s%zu %s", told++ > 0 ? ", " : " Not ok: ", n,
                    point_status_names()[status]);
    }
    if (told > 0)
        fputc('.', out);
}

/* " Seeds missing: ranks=2 (2 of 3)." */
static void write_missing_seeds(FILE *out, const struct summary *s)
{
    size_t told = 0;
    for (size_t i = 0; i < s->n; i++) {
        const struct point_summary *p = &s->points[i];
        if (strstr(p->flags, "seeds_missing") == NULL)
            continue;
        fprintf(out, "%s %s (%zu of %zu)", told++ > 0 ? "," : " Seeds missing:", p->point->label,
                p->seeds_missing, p->seeds);
    }
    fputs(told > 0 ? "." : "", out);
}

/* "train.broadcast_init: false" */
static const char *name_flaws(char *text, size_t size, const struct point_summary *p)
{
    size_t used = 0;
    text[0] = '\0';
    for (size_t i = 0; i < OPTION_COUNT && used < size; i++) {
        const struct spec_option *option = option_get((enum option_id)i);
        const char *own = config_text(&p->point->config, option->id);
        if (option->flaw && strcmp(own, option->preset) != 0)
            used += (size_t)snprintf(text + used, size - used, "%s%s: %s", used > 0 ? ", " : "",
                                     option->key, own);
    }
    return text;
}

/* " 3 of 54 launches disturbed." of those behind the points that are shown; what cases share counts once. */
static enum status write_disturbed(FILE *out, const struct figure_data *d, struct error *e)
{
    size_t disturbed = 0, launches = 0;
    bool *counted;
    TRY(MEM_NEW(counted, d->s->n, "a caption", e));
    for (size_t i = 0; i < d->s->n; i++) {
        const struct point_summary *p = &d->s->points[i];
        if (!d->shown[i] || counted[p->point->twin])
            continue;
        counted[p->point->twin] = true;
        disturbed += p->disturbed;
        launches += p->launches;
    }
    if (disturbed > 0)
        fprintf(out, " %zu of %zu launches disturbed.", disturbed, launches);
    free(counted);
    return OK;
}

/* " By design weights differ between ranks (broadcast_init=false): naive ranks=2." */
static void write_flaws(FILE *out, const struct summary *s)
{
    char flaws[160];
    size_t told = 0;
    for (size_t i = 0; i < s->n; i++) {
        const struct point_summary *p = &s->points[i];
        if (strstr(p->flags, "by_design") == NULL)
            continue;
        if (told++ == 0)
            fprintf(out, " By design weights differ between ranks (%s): %s",
                    name_flaws(flaws, sizeof flaws, p), p->point->label);
        else
            fprintf(out, ", %s", p->point->label);
    }
    fputs(told > 0 ? "." : "", out);
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

/* What does not fit the last line is cut with "...". */
void caption_wrap(struct caption *caption, size_t width)
{
    char *line = caption->text;
    while (*line && caption->n < CAPTION_LINES_MAX) {
        caption->lines[caption->n++] = line;
        if (strlen(line) <= width)
            return;
        char *end = line + width;
        while (end > line && *end != ' ')
            end--;
        if (end == line)
            end = line + strcspn(line, " ");
        if (!*end)
            return;
        *end = '\0';
        line = end + 1;
    }
    if (*line)
        memcpy(line - 4, "...", sizeof "...");
}

/* What a reader must know to read the figure: the rest stands in <figure>.txt. */
static enum status write_short(FILE *out, const struct figure_data *d, const struct summary *s,
                               const struct summary *ran, struct error *e)
{
    struct basis basis = find_basis(d);
    write_subject(out, ran, true);
    if (basis.points > 0) {
        fputs(" Median of ", out);
        write_sizes(out, &basis);
        if (d->figure->shape->whiskers && basis.high > 0) {
            fputs(", ", out);
            write_levels(out, &basis);
            fputs(basis.met == 0 ? " % intervals (least to greatest)" : " % intervals", out);
        }
        fputc('.', out);
    }
    if (is_ratio(d))
        TRY(write_bases(out, d, BASES_TOLD_SHORT, e));
    write_missing_counts(out, s);
    if (d->quantity->source != SOURCE_RUNS)
        TRY(write_disturbed(out, d, e));
    write_flaws(out, s);
    return OK;
}

/* A part a line. */
static enum status write_full(FILE *out, const struct figure_data *d, const struct summary *s,
                              const struct summary *ran, struct error *e)
{
    write_subject(out, ran, false);
    write_method(out, d);
    TRY(write_bases(out, d, BASES_TOLD, e));
    if (d->predicted > 0)
        fputs(d->prediction.words, out);
    if (d->quantity->source != SOURCE_RUNS && has_compute_only(s))
        fputs(" Compute only: ranks train apart, nothing is communicated.", out);
    write_place(out, ran);
    TRY(write_missing(out, s, e));
    if (d->quantity->source == SOURCE_RUNS)
        write_missing_seeds(out, s);
    else
        TRY(write_disturbed(out, d, e));
    write_flaws(out, s);
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

static void write_sources(FILE *out, const struct figure_data *d)
{
    const struct figure_request *r = d->figure->request;
    for (size_t i = 0; i < r->n_sources; i++)
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

enum status caption_make(struct caption *caption, const struct figure_data *d, bool full,
                         struct error *e)
{
    size_t size = 0;
    *caption = (struct caption){0};
    FILE *out = open_memstream(&caption->text, &size);
    if (out == NULL)
        return error_no_memory(e, "a caption");
    enum status status = write_caption(out, d, full, e);
    if (fclose(out) != 0 && status == OK)
        status = error_no_memory(e, "a caption");
    if (status != OK)
        caption_free(caption);
    return status;
}

void caption_free(struct caption *caption)
{
    free(caption->text);
    *caption = (struct caption){0};
}
