/* Writes the table of a campaign as summary.md and summary.tex, below the setup of the run. */
#include <stdlib.h>
#include <string.h>

#include "bench/collect/rules.h"
#include "bench/collect/stage.h"
#include "bench/collect/summary.h"
#include "bench/collect/table/markup.h"
#include "bench/collect/table/table.h"

static void write_headers(FILE *out, const struct markup *m, const struct table *t)
{
    fputs(m->begin, out);
    for (size_t c = 0; c < t->n; c++) {
        markup_write_text(out, m, t->columns[c].header);
        fputs(m->between, out);
    }
    fputs("remarks", out);
    fputs(m->end, out);
}

static enum status write_remarks(FILE *out, const struct markup *m, const struct point_summary *p,
                                 struct error *e)
{
    char *remarks = NULL;
    size_t size = 0;
    FILE *memory = open_memstream(&remarks, &size);
    if (memory == NULL)
        return error_no_memory(e, "the remarks of a point");
    table_print_remarks(memory, p);
    bool failed = fclose(memory) != 0;
    if (!failed)
        markup_write_text(out, m, remarks + strspn(remarks, " "));
    free(remarks);
    return failed ? error_no_memory(e, "the remarks of a point") : OK;
}

static enum status write_rows(FILE *out, const struct markup *m, const struct table *t,
                              const struct summary *s, struct error *e)
{
    for (size_t i = 0; i < s->n; i++) {
        fputs(m->begin, out);
        for (size_t c = 0; c < t->n; c++) {
            char text[TABLE_CELL];
            markup_write_text(out, m, table_cell(text, t, c, &s->points[i]));
            fputs(m->between, out);
        }
        TRY(write_remarks(out, m, &s->points[i], e));
        fputs(m->end, out);
    }
    return OK;
}

static enum status write_notes(FILE *out, const struct markup *m, const struct summary *s,
                               void (*print)(FILE *out, const struct summary *s), struct error *e)
{
    char *notes = NULL;
    size_t size = 0;
    FILE *memory = open_memstream(&notes, &size);
    if (memory == NULL)
        return error_no_memory(e, "the notes of a table");
    print(memory, s);
    bool failed = fclose(memory) != 0;
    if (!failed)
        markup_write_notes(out, m, notes);
    free(notes);
    return failed ? error_no_memory(e, "the notes of a table") : OK;
}

/* Prints the command, time and machine of the run, for readers who have this file alone. */
static void print_setup(FILE *out, const struct summary *s)
{
    const struct run_setup *setup = &s->setup;
    bool began = strlen(setup->started) > strlen("2026-11-22T04:26");
    summary_print_part(out, "Command: ", setup->command);
    fputc('\n', out);
    if (began)
        fprintf(out, "Begun %.10s %.5s UTC", setup->started, setup->started + 11);
    summary_print_part(out, began ? " on " : "On ", setup->host);
    summary_print_part(out, ": ", setup->cpu);
    summary_print_part(out, ", caches ", setup->caches);
    summary_print_part(out, ", ", setup->architecture);
    if (s->usable_cores > 0)
        fprintf(out, ", %d of %d cores", s->usable_cores, s->machine_cores);
    summary_print_part(out, "; ", setup->system);
    summary_print_part(out, " ", setup->kernel);
    summary_print_part(out, "; scalebench ", setup->revision);
    summary_print_part(out, ", ", setup->compiler);
    fputs(began ? ".\n" : "\n", out);
}

static enum status write_heading(FILE *out, const struct markup *m, const struct summary *s,
                                 struct error *e)
{
    const char *title = spec_title(s->spec);
    fputs(m->title, out);
    markup_write_text(out, m, config_text(&s->spec->config, OPT_NAME));
    if (title != NULL) {
        fputs(": ", out);
        markup_write_text(out, m, title);
    }
    fputs(m->title_end, out);
    TRY(write_notes(out, m, s, print_setup, e));
    fputc('\n', out);
    return OK;
}

static enum status write_table(FILE *out, const struct markup *m, const struct summary *s,
                               struct error *e)
{
    struct table t;
    TRY(write_heading(out, m, s, e));
    table_make(&t, s);
    markup_begin_table(out, m, t.n, 1);
    write_headers(out, m, &t);
    markup_end_headers(out, m, t.n, 1);
    TRY(write_rows(out, m, &t, s, e));
    markup_end_table(out, m);
    return write_notes(out, m, s, table_print_notes, e);
}

static void write_rule(FILE *out, const struct markup *m, size_t i,
                       const struct rule_result *result)
{
    const char *cells[] = {result->title, result->verdict, result->by};
    fprintf(out, "%s%zu", m->begin, i + 1);
    for (size_t c = 0; c < sizeof cells / sizeof *cells; c++) {
        fputs(m->between, out);
        markup_write_text(out, m, cells[c]);
    }
    fputs(m->end, out);
}

static void write_rules(FILE *out, const struct markup *m, const struct summary *s)
{
    struct rule_result results[RULES];
    rules_grade(results, s);
    fprintf(out, "%sRules of Hoefler and Belli (SC15): ", m->note);
    table_print_grades(out, results, s);
    fputs(".\n\n", out);
    markup_begin_table(out, m, 1, 3);
    fprintf(out, "%srule%stitle%sgrade%sby%s", m->begin, m->between, m->between, m->between,
            m->end);
    markup_end_headers(out, m, 1, 3);
    for (size_t i = 0; i < RULES; i++)
        write_rule(out, m, i, &results[i]);
    markup_end_table(out, m);
}

static enum status write_markdown(FILE *out, void *what, struct error *e)
{
    const struct summary *s = *(const struct summary **)what;
    TRY(write_table(out, &markup_markdown, s, e));
    write_rules(out, &markup_markdown, s);
    return OK;
}

static enum status write_latex(FILE *out, void *what, struct error *e)
{
    return write_table(out, &markup_latex, *(const struct summary **)what, e);
}

static enum status write_documents(const struct summary *s, const struct stage *stage,
                                   struct error *e)
{
    TRY(stage_write(stage, "summary.md", write_markdown, &s, e));
    TRY(stage_write(stage, "summary.tex", write_latex, &s, e));
    TRY(stage_keep(stage, "summary.md", e));
    return stage_keep(stage, "summary.tex", e);
}

enum status table_write_documents(const struct summary *s, const char *run_dir, struct error *e)
{
    struct stage stage;
    enum status status = stage_open(&stage, run_dir, e);
    THEN(status, write_documents(s, &stage, e));
    stage_close(&stage);
    return status;
}
