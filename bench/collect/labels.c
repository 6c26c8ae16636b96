/* Writes texts for headings and captions: strategy names, distinct texts of a column, batch
 * sizes. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "bench/collect/summary.h"

const char *strategy_text(char text[STRATEGY_TEXT], const struct point *point)
{
    const char *strategy = strategy_names()[config_strategy_kind(&point->config)];
    const char *variant = config_text(&point->config, OPT_VARIANT);
    enum compressor_kind compressor = config_compressor(&point->config);
    enum overlap_kind overlap = config_overlap(&point->config);
    text[0] = '\0';
    if (config_is_foreign(&point->config))
        return text;
    bool usual = strcmp(variant, "usual") == 0;
    int used = snprintf(text, STRATEGY_TEXT, "%.30s", strategy);
    if (!usual)
        used += snprintf(text + used, STRATEGY_TEXT - (size_t)used, " (%.30s)", variant);
    if (compressor != COMPRESSOR_none)
        used += snprintf(text + used, STRATEGY_TEXT - (size_t)used, " + %.20s",
                         compressor_names()[compressor]);
    if (overlap != OVERLAP_none)
        snprintf(text + used, STRATEGY_TEXT - (size_t)used, " (%s)", overlap_names()[overlap]);
    return text;
}

/* Returns the point's text of column `id` for a heading. For COLUMN_strategy: strategy_text. For
 * COLUMN_kind with `trained`: the kind of the accuracy runs. Otherwise: the cell of the column. */
static const char *text_of_point(char text[STRATEGY_TEXT], const struct point_summary *p,
                                 enum column_id id, bool trained)
{
    if (id == COLUMN_kind && trained)
        return config_kind_trained(&p->point->config);
    return id == COLUMN_strategy ? strategy_text(text, p->point) : p->cells[id];
}

static bool seen_before(const struct summary *s, size_t i, const char *text, enum column_id id,
                        bool trained)
{
    char earlier[STRATEGY_TEXT];
    for (size_t k = 0; k < i; k++)
        if (s->points[k].point->requested &&
            strcmp(text_of_point(earlier, &s->points[k], id, trained), text) == 0)
            return true;
    return false;
}

/* Returns the next requested point after `last` with a new, nonempty text for column `id`; s->n:
 * none. Start with last = s->n. */
static size_t next_text(const struct summary *s, size_t last, enum column_id id, bool trained)
{
    char own[STRATEGY_TEXT];
    for (size_t i = last < s->n ? last + 1 : 0; i < s->n; i++) {
        const char *cell = text_of_point(own, &s->points[i], id, trained);
        if (s->points[i].point->requested && cell[0] && !seen_before(s, i, cell, id, trained))
            return i;
    }
    return s->n;
}

/* Returns a requested point with the next larger number in column `id` than point `last` has; s->n:
 * none. Start with last = s->n. */
static size_t next_number(const struct summary *s, size_t last, enum column_id id)
{
    double behind = last < s->n ? cell_number(&s->points[last], id) : -INFINITY, least = INFINITY;
    size_t next = s->n;
    for (size_t i = 0; i < s->n; i++) {
        double number = cell_number(&s->points[i], id);
        if (s->points[i].point->requested && number > behind && number < least) {
            least = number;
            next = i;
        }
    }
    return next;
}

/* Lists the distinct texts of requested points in column `id`, as many as fit. Cuts the first text
 * if it alone does not fit. Returns the number of texts left out. */
static size_t list_distinct(char *text, size_t size, const struct summary *s, enum column_id id,
                            bool trained)
{
    size_t used = 0, left_out = 0, i = s->n;
    bool numbers = column_get(id)->type != CSV_TEXT;
    text[0] = '\0';
    while ((i = numbers ? next_number(s, i, id) : next_text(s, i, id, trained)) < s->n) {
        char own[STRATEGY_TEXT];
        const char *cell = text_of_point(own, &s->points[i], id, trained);
        if (left_out > 0 || (used > 0 && used + 2 + strlen(cell) >= size)) {
            left_out++;
            continue;
        }
        snprintf(text + used, size - used, "%s%s", used ? ", " : "", cell);
        used = strlen(text);
    }
    return left_out;
}

static char *distinct(char *text, size_t size, const struct summary *s, enum column_id id,
                      bool trained)
{
    const size_t tail = sizeof " and 99999 more";
    if (list_distinct(text, size, s, id, trained) == 0 || size <= tail)
        return text;
    size_t left_out = list_distinct(text, size - tail, s, id, trained), used = strlen(text);
    snprintf(text + used, size - used, " and %zu more", left_out);
    return text;
}

char *summary_distinct(char *text, size_t size, const struct summary *s, enum column_id id)
{
    return distinct(text, size, s, id, false);
}

char *summary_kinds(char *text, size_t size, const struct summary *s, bool trained)
{
    return distinct(text, size, s, COLUMN_kind, trained);
}

const char *summary_batch(char *text, size_t size, const struct summary *s)
{
    const struct config *config = &s->spec->config;
    const char *micro = config_text(config, OPT_ACCUMULATE);
    const char *per_rank = config_text(config, OPT_BATCH_PER_RANK);
    bool several = config_int(config, OPT_ACCUMULATE) > 1;
    char global[256], each[256];
    summary_distinct(global, sizeof global, s, COLUMN_global_batch);
    summary_distinct(each, sizeof each, s, COLUMN_batch_per_rank); /* points may have different
                                                                      batches per rank, because
                                                                      `cases` may set them */
    if (config_int(config, OPT_BATCH_PER_RANK) > 0 && several)
        snprintf(text, size, "%s micro-batches of %s images per rank", micro, per_rank);
    else if (config_int(config, OPT_BATCH_PER_RANK) > 0)
        snprintf(text, size, "batch per rank %s", each[0] ? each : per_rank);
    else if (several && global[0])
        snprintf(text, size, "global batch %s in %s micro-batches", global, micro);
    else
        snprintf(text, size, "%s%s", global[0] ? "global batch " : "", global);
    return text;
}

void summary_print_part(FILE *out, const char *separator, const char *text)
{
    if (text[0])
        fprintf(out, "%s%s", separator, text);
}
