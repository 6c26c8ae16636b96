#include "bench/collect/caption.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench/collect/published.h"
#include "bench/collect/summary.h"

/* Letters of the caption's size that fit a column of 3.5 in. */
#define CAPTION_WIDTH 68

/* "1" or "6 to 12". */
static void write_range(FILE *out, double least, double most)
{
    char text[TEXT_NUMBER];
    fputs(text_real(text, least), out);
    if (most > least)
        fprintf(out, " to %s", text_real(text, most));
}

static void write_subject(FILE *out, const struct summary *s)
{
    const struct config *config = &s->spec->config;
    char text[256], number[TEXT_NUMBER];
    long params = 0;
    const char *scaling = config_text(config, OPT_SCALING);
    fputs(summary_distinct(text, sizeof text, s, COLUMN_model), out);
    summary_distinct(text, sizeof text, s, COLUMN_params);
    if (sscanf(text, "%ld", &params) == 1 && !strchr(text, ','))
        fprintf(out, " (%s parameters)", text_count(number, params));
    summary_distinct(text, sizeof text, s, COLUMN_dataset);
    if (text[0])
        fprintf(out, " on %s", text);
    summary_distinct(text, sizeof text, s, COLUMN_data_source);
    if (text[0])
        fprintf(out, " (%s data)", text);
    fprintf(out, ", optimizer %s", summary_distinct(text, sizeof text, s, COLUMN_optimizer));
    if (config_int(config, OPT_BATCH_PER_RANK) > 0)
        fprintf(out, ", batch per rank %s", config_text(config, OPT_BATCH_PER_RANK));
    else
        fprintf(out, ", global batch %s",
                summary_distinct(text, sizeof text, s, COLUMN_global_batch));
    summary_distinct(text, sizeof text, s, COLUMN_strategy);
    fprintf(out, ", %s %s.", strchr(text, ',') ? "strategies" : "strategy", text);
    if (strcmp(scaling, "epoch") == 0)
        fputs(" Batch per rank over a fixed data set: neither strong nor weak scaling.", out);
    else if (strcmp(scaling, "none") != 0)
        fprintf(out, " %c%s scaling.", scaling[0] == 's' ? 'S' : 'W', scaling + 1);
}

/* What the whiskers of a figure mean, which depends on how many values have a real interval. */
static void write_whiskers(FILE *out, size_t measured, size_t met, size_t most, const char *what)
{
    if (met == measured)
        fputs("; whiskers: exact 95 % interval.", out);
    else if (most < 2)
        fputs("; a single one has no interval.", out);
    else if (met == 0)
        fprintf(out, "; whiskers: least to greatest, too few %s for an interval.", what);
    else
        fprintf(out, "; whiskers: exact 95 %% interval, least to greatest where %s are too few.",
                what);
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
static void write_sample(FILE *out, const struct figure_data *d, double least, double most)
{
    char text[256];
    bool runs = d->quantity->source == SOURCE_RUNS;
    write_range(out, least, most);
    if (runs) {
        fputs(most > 1 ? " runs of " : " run of ", out);
        write_epochs(out, d->s);
        fputs(", one a seed", out);
    } else {
        fprintf(out, " launch%s of %s steps", most > 1 ? "es" : "",
                summary_distinct(text, sizeof text, d->s, COLUMN_steps));
    }
}

/* How each value came about. */
static void write_method(FILE *out, const struct figure_data *d)
{
    double least = INFINITY, most = 0;
    size_t measured = 0, met = 0;
    for (size_t i = 0; i < d->s->n; i++) {
        const struct measured *m = &d->measured[i];
        if (m->n == 0)
            continue;
        least = fmin(least, (double)m->n);
        most = fmax(most, (double)m->n);
        measured++;
        met += d->quantity->source == SOURCE_POINTS ? d->s->points[i].step_ms.met : m->value.met;
    }
    if (measured == 0)
        return;
    fputs(" Median of ", out);
    write_sample(out, d, least, most);
    if (d->kind == FIGURE_BREAKDOWN)
        fputs("; parts are means over ranks, other is what they leave of the slowest one's step.",
              out);
    else {
        if (d->kind == FIGURE_OVERLAP)
            fputs("; exposed and wait (where known) are means over ranks, hidden is what cost no "
                  "time of what the same calls take alone (tick)",
                  out);
        write_whiskers(out, measured, met, (size_t)most,
                       d->quantity->source == SOURCE_RUNS ? "runs" : "launches");
    }
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
    if (alone)
        fprintf(out, "%s (%s), %s ms a step", ranks, strategy_text(strategy, p->point), step);
    else
        fprintf(out, "%s, %s ms a step", p->point->label, step);
}

static void write_bases(FILE *out, const struct summary *s)
{
    size_t n = 0, written = 0;
    for (size_t i = 0; i < s->n; i++)
        n += is_timed_base(&s->points[i]);
    for (size_t i = 0; i < s->n; i++) {
        if (!is_timed_base(&s->points[i]))
            continue;
        fputs(written++ ? "; " : " Base: ", out);
        write_base(out, &s->points[i], n == 1);
    }
    if (n > 0)
        fputc('.', out);
}

static void write_place(FILE *out, const struct summary *s)
{
    char text[256];
    fprintf(out, " Site %s (%s", config_text(&s->spec->config, OPT_SITE),
            summary_distinct(text, sizeof text, s, COLUMN_kind));
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

static bool share_fate(const struct point_summary *a, const struct point_summary *b)
{
    return strcmp(a->status, b->status) == 0 && strcmp(a->reason, b->reason) == 0;
}

static bool is_told(const struct summary *s, size_t i)
{
    for (size_t k = 0; k < i; k++)
        if (share_fate(&s->points[k], &s->points[i]))
            return true;
    return false;
}

/* " Skipped: ranks=4, ranks=8 (8 ranks, 2 cores)." of all points that share the fate of the i-th.
 */
static void write_fate(FILE *out, const struct summary *s, size_t i)
{
    const struct point_summary *p = &s->points[i];
    const int reason_max = 160;
    const char *before = ":";
    fprintf(out, " %c%s", p->status[0] - 'a' + 'A', p->status + 1);
    for (size_t k = i; k < s->n; k++) {
        if (!share_fate(p, &s->points[k]))
            continue;
        fprintf(out, "%s %s", before, s->points[k].point->label);
        before = ",";
    }
    fprintf(out, " (%.*s%s).", reason_max, p->reason,
            strlen(p->reason) > (size_t)reason_max ? "..." : "");
}

/* Points without a good value, by name and with the reason. */
static void write_missing(FILE *out, const struct summary *s)
{
    const size_t told_max = 8;
    size_t told = 0, left = 0;
    for (size_t i = 0; i < s->n; i++) {
        if (strcmp(s->points[i].status, "ok") == 0 || is_told(s, i))
            continue;
        if (told++ < told_max)
            write_fate(out, s, i);
        else
            left++;
    }
    if (left > 0)
        fprintf(out, " Further reasons: %zu, in the table.", left);
}

static void write_published(FILE *out, const struct summary *s)
{
    const struct value *differs = &s->spec->config.values[OPT_DIFFERS];
    if (s->published && s->published->file[0])
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

/* Breaks the text at blanks, in place. What does not fit the last line is cut with "...". */
static void wrap(struct caption *caption)
{
    char *line = caption->text;
    while (*line && caption->n < CAPTION_LINES_MAX) {
        caption->lines[caption->n++] = line;
        if (strlen(line) <= CAPTION_WIDTH)
            return;
        char *end = line + CAPTION_WIDTH;
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

enum status caption_make(struct caption *caption, const struct figure_data *d, struct error *e)
{
    const struct summary *s = d->s;
    size_t size = 0;
    *caption = (struct caption){0};
    FILE *out = open_memstream(&caption->text, &size);
    if (!out)
        return error_set(e, ERR_MEMORY, "no memory for a caption");
    write_subject(out, s);
    write_method(out, d);
    write_bases(out, s);
    fputs(d->prediction.words, out);
    if (d->quantity->source != SOURCE_RUNS && has_compute_only(s))
        fputs(" Compute only: ranks train apart, nothing is communicated.", out);
    write_place(out, s);
    write_missing(out, s);
    write_published(out, s);
    if (fclose(out) != 0) {
        caption_free(caption);
        return error_set(e, ERR_MEMORY, "no memory for a caption");
    }
    wrap(caption);
    return OK;
}

void caption_free(struct caption *caption)
{
    free(caption->text);
    *caption = (struct caption){0};
}
