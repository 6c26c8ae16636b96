#include "bench/collect/caption.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

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

/* What the bars of the figures mean, which depends on how many points have a real interval. */
static const char *bars_of(size_t measured, size_t met)
{
    if (met == measured)
        return "bars: exact 95 % interval";
    if (met == 0)
        return "bars: least to greatest, too few launches for an interval";
    return "bars: exact 95 % interval, least to greatest where launches are too few";
}

/* How each value came about. */
static void write_method(FILE *out, const struct summary *s)
{
    double least = INFINITY, most = 0;
    size_t measured = 0, met = 0;
    char steps[256];
    for (size_t i = 0; i < s->n; i++) {
        const struct point_summary *p = &s->points[i];
        if (p->launches == 0)
            continue;
        least = fmin(least, (double)p->launches);
        most = fmax(most, (double)p->launches);
        measured++;
        met += p->step_ms.met;
    }
    if (measured == 0)
        return;
    fputs(" Median of ", out);
    write_range(out, least, most);
    fprintf(out, " launch%s of %s steps; %s.", most > 1 ? "es" : "",
            summary_distinct(steps, sizeof steps, s, COLUMN_steps), bars_of(measured, met));
}

static bool is_timed_base(const struct point_summary *p)
{
    return p->point->base && p->launches > 0;
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
    fprintf(out, " Site %s (%s)", config_text(&s->spec->config, OPT_SITE),
            summary_distinct(text, sizeof text, s, COLUMN_kind));
    summary_distinct(text, sizeof text, s, COLUMN_host);
    if (text[0])
        fprintf(out, ", host %s", text);
    fprintf(out, ", threads per rank: %s",
            summary_distinct(text, sizeof text, s, COLUMN_threads_per_rank));
    fprintf(out, ", bound to: %s", summary_distinct(text, sizeof text, s, COLUMN_bind));
    fprintf(out, " (%s).", summary_distinct(text, sizeof text, s, COLUMN_order));
}

/* Points without a good value, by name: the table says why. */
static void write_missing(FILE *out, const struct summary *s)
{
    const size_t named = 4;
    size_t n = 0;
    for (size_t i = 0; i < s->n; i++) {
        const struct point_summary *p = &s->points[i];
        if (strcmp(p->status, "ok") == 0 || n++ >= named)
            continue;
        fprintf(out, "%s %s (%s)", n > 1 ? "," : " Not ok:", p->point->label, p->status);
    }
    if (n > named)
        fprintf(out, " and %zu more", n - named);
    if (n > 0)
        fputc('.', out);
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

enum status caption_make(struct caption *caption, const struct summary *s, struct error *e)
{
    size_t size = 0;
    *caption = (struct caption){0};
    FILE *out = open_memstream(&caption->text, &size);
    if (!out)
        return error_set(e, ERR_MEMORY, "no memory for a caption");
    write_subject(out, s);
    write_method(out, s);
    write_bases(out, s);
    if (has_compute_only(s))
        fputs(" Compute only: ranks train apart, nothing is communicated.", out);
    write_place(out, s);
    write_missing(out, s);
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
