/* Selects and formats the columns of the table printed at the end of a campaign. Each cell is
 * formatted twice: to find the column's width, and to print. */
#include <math.h>
#include <string.h>

#include "bench/collect/summary.h"
#include "bench/collect/table/table.h"
#include "kernels/base/terminal.h"

/* Writes a command line without the program's folder, cut to fit: "pi 1000" for [build/pi,
 * 1000]. */
static void format_command(char text[TABLE_CELL], const struct config *config)
{
    const struct value *command = &config->values[OPT_COMMAND];
    char line[TABLE_CELL] = "";
    for (size_t i = 0; i < command->n; i++) {
        const char *word = command->texts[i], *slash = i == 0 ? strrchr(word, '/') : NULL;
        text_join(line, sizeof line, " ", slash != NULL ? slash + 1 : word);
    }
    terminal_clean(text, TABLE_CELL, line);
}

static void format_option(char text[TABLE_CELL], const struct table_column *c,
                          const struct point_summary *p)
{
    const struct config *config = &p->point->config;
    bool of_foreign = c->option == OPT_COMMAND || c->option == OPT_JUDGED;
    if ((of_foreign && !config_is_foreign(config)) || !config_uses(config, c->option))
        strcpy(text, "-");
    else if (c->option == OPT_COMMAND)
        format_command(text, config);
    else
        terminal_clean(text, TABLE_CELL, config_text(config, c->option));
}

static void format_case(char text[TABLE_CELL], const struct table_column *c,
                        const struct point_summary *p)
{
    terminal_clean(text, TABLE_CELL, p->point->case_name);
}

static double number_of(const struct table_column *c, const struct point_summary *p)
{
    return *(const double *)((const char *)p + c->member);
}

static void format_batch(char text[TABLE_CELL], const struct table_column *c,
                         const struct point_summary *p)
{
    double batch = number_of(c, p);
    text_fixed(text, batch, batch == floor(batch) ? 0 : 1);
}

static void format_count(char text[TABLE_CELL], const struct table_column *c,
                         const struct point_summary *p)
{
    snprintf(text, TABLE_CELL, "%zu", *(const size_t *)((const char *)p + c->member));
}

static void format_number(char text[TABLE_CELL], const struct table_column *c,
                          const struct point_summary *p)
{
    text_significant(text, number_of(c, p), c->digits);
}

static void format_interval(char text[TABLE_CELL], const struct table_column *c,
                            const struct point_summary *p)
{
    text_interval(text, table_interval(c, p), c->digits);
}

static void format_speedup(char text[TABLE_CELL], const struct table_column *c,
                           const struct point_summary *p)
{
    if (p->scaling.speedup.mid == 1 && isnan(p->scaling.speedup.lo) && p->point->base)
        snprintf(text, TABLE_CELL, "base");
    else
        format_interval(text, c, p);
}

static void put_pct(char text[TABLE_CELL], double pct, int decimals)
{
    char number[TEXT_NUMBER];
    snprintf(text, TABLE_CELL, "%s%s", text_fixed(number, pct, decimals),
             isfinite(pct) ? " %" : "");
}

static void format_pct(char text[TABLE_CELL], const struct table_column *c,
                       const struct point_summary *p)
{
    put_pct(text, number_of(c, p), c->digits);
}

static void format_share(char text[TABLE_CELL], const struct table_column *c,
                         const struct point_summary *p)
{
    put_pct(text, 100 * number_of(c, p), c->digits);
}

static bool has_peer(const struct point_summary *p)
{
    return isfinite(p->beside_peer.ratio.mid);
}

static bool has_target(const struct point_summary *p)
{
    return config_number(&p->point->config, OPT_TARGET_ACC) > 0;
}

static bool is_foreign(const struct point_summary *p)
{
    return config_is_foreign(&p->point->config);
}

static bool is_trained(const struct point_summary *p)
{
    return !is_foreign(p);
}

static const struct table_column measured_columns[] = {
#define MEASURED(title, priority, has_value, writer, places, value, count)                         \
    {.header = title,                                                                              \
     .worth = priority,                                                                            \
     .format = writer,                                                                             \
     .digits = places,                                                                             \
     .of = has_value,                                                                              \
     .member = offsetof(struct point_summary, value),                                              \
     .values = offsetof(struct point_summary, count)},
#include "bench/collect/table/measured.def"
};

#define MEASURED_COLUMNS (sizeof measured_columns / sizeof measured_columns[0])
_Static_assert(1 + OPTION_COUNT + MEASURED_COLUMNS <= TABLE_MAX, "room for every column");

static void table_add_option(struct table *t, enum option_id option)
{
    const char *key = config_option(&t->s->spec->config, option)->key;
    t->columns[t->n++] = (struct table_column){.header = key_end(key),
                                               .worth = TABLE_WORTH_KEPT,
                                               .format = format_option,
                                               .option = option};
    t->n_options = t->n;
}

static void measure_widths(struct table *t)
{
    for (size_t c = 0; c < t->n; c++) {
        t->widths[c] = terminal_columns(t->columns[c].header);
        for (size_t i = 0; i < t->s->n; i++) {
            char text[TABLE_CELL];
            int width = terminal_columns(table_cell(text, t, c, &t->s->points[i]));
            t->widths[c] = width > t->widths[c] ? width : t->widths[c];
        }
    }
}

static const struct table_column case_column = {
    .header = "case", .worth = TABLE_WORTH_KEPT, .format = format_case};

/* Returns whether a varying option gets a column here. The number of ranks already has its column,
 * workload.metrics gets none, and case names, if there are any, replace workload.command. */
static bool has_column(const struct summary *s, enum option_id option)
{
    return option != OPT_RANKS && option != OPT_METRICS &&
           (option != OPT_COMMAND || s->spec->points[0].case_name[0] == '\0');
}

/* Adds a column of results, unless no point has a value in it. The header of column step_ms becomes
 * "time ms" if the run has points of a user's program. Their time may cover a whole launch. */
static void add_measured(struct table *t, const struct table_column *column)
{
    bool is_time = column->member == offsetof(struct point_summary, step_ms);
    if (column->of != NULL && summary_count(t->s, column->of) == 0)
        return;
    t->columns[t->n] = *column;
    if (is_time && summary_count(t->s, is_foreign) > 0)
        t->columns[t->n].header = "time ms";
    t->n++;
}

void table_make(struct table *t, const struct summary *s)
{
    *t = (struct table){.s = s};
    if (s->n > 0 && s->spec->points[0].case_name[0])
        t->columns[t->n++] = case_column;
    table_add_option(t, OPT_RANKS);
    for (size_t i = 0; i < s->spec->n_varying; i++)
        if (has_column(s, s->spec->varying[i]))
            table_add_option(t, s->spec->varying[i]);
    for (size_t i = 0; i < MEASURED_COLUMNS; i++)
        add_measured(t, &measured_columns[i]);
    if (s->published != NULL)
        table_add_published(t, s->published);
    table_name_levels(t);
    measure_widths(t);
}

char *table_cell(char text[TABLE_CELL], const struct table *t, size_t column,
                 const struct point_summary *p)
{
    const struct table_column *c = &t->columns[column];
    strcpy(text, "-");
    if (c->published)
        table_format_published(text, t, c, p);
    else if (column < t->n_options || point_was_measured(p))
        c->format(text, c, p);
    if (c->names_level)
        table_add_level(text, table_level(c, p));
    return text;
}

void table_print_remarks(FILE *out, const struct point_summary *p)
{
    if (p->outcome != POINT_ok)
        fprintf(out, "  %s: %s", p->status, p->reason);
    if (strstr(p->flags, "base_incomplete") != NULL)
        fputs("  (launches of its base failed)", out);
    if (strstr(p->flags, "ci_not_met") != NULL)
        fputs(p->step_ms.met ? "  (precision not met)" : "  (too few launches for a 95 % interval)",
              out);
    if (strstr(p->flags, "oversubscribed") != NULL)
        fputs("  (oversubscribed: several ranks share a core; not a scaling result)", out);
    if (strstr(p->flags, "short_replay") != NULL)
        fprintf(out, "  (too short for replay: a sleep replaces at least %.2g ms of compute)",
                p->replay.smallest_step_ms);
    if (strstr(p->flags, "late_replay") != NULL)
        fputs("  (replay late: cores were busy)", out);
    if (strstr(p->flags, "memory_off") != NULL)
        fprintf(out, "  (memory differs from the forecast by %.2g %%)", fabs(p->memory.error_pct));
    if (strstr(p->flags, "shared_machine") != NULL)
        fputs("  (several nodes are one machine)", out);
    if (point_is_busy(p))
        fprintf(out, "  (busy: other programs used %.0f %% of its cores)", p->foreign_pct);
    if (p->noise.modes > 1)
        fputs("  (launch times have two modes)", out);
    if (p->noise.outliers > 0)
        fprintf(out, "  (%zu outlier%s)", p->noise.outliers, p->noise.outliers > 1 ? "s" : "");
    if (p->noise.trend != 0)
        fprintf(out, "  (steps get %.1f %% %s within a launch)", fabs(p->noise.trend_pct),
                p->noise.trend < 0 ? "faster" : "slower");
    if (strstr(p->flags, "shares_cores") != NULL)
        fputs("  (cores are not locked against other runs)", out);
    if (point_lacks_seeds(p))
        fprintf(out, "  (%zu of %zu seeds missing)", p->seeds_missing, p->seeds);
    if (p->compute_only && point_was_measured(p))
        fputs("  (compute only)", out);
}
