#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "bench/collect/rules.h"
#include "bench/collect/summary.h"
#include "bench/collect/table/table.h"
#include "bench/compare/operand.h"
#include "bench/figures/figures.h"
#include "bench/page/section.h"
#include "bench/runner/run_spec.h"

/* ---- Texts ---- */

/* Names a run after its campaign if the path ends in <campaign>/<run>, otherwise after its folder,
 * since several runs in results/reference have the same campaign. */
static void name_run(char name[80], const char *campaign, const char *path)
{
    char resolved[PATH_MAX];
    snprintf(name, 80, "%s", campaign);
    if (realpath(path, resolved) == NULL)
        return;
    char *own = strrchr(resolved, '/');
    *own++ = '\0';
    const char *parent = strrchr(resolved, '/');
    if (*own && (parent == NULL || strcmp(parent + 1, campaign) != 0))
        snprintf(name, 80, "%.79s", own);
}

struct printed_text {
    const char *key;
    void (*print)(FILE *out, const struct summary *s);
    const struct summary *s;
};

static void print_word(FILE *out, const void *arg)
{
    const struct printed_text *word = arg;
    word->print(out, word->s);
}

static void add_words(json_t *section, const struct summary *s)
{
    const struct printed_text words[] = {
        {"subject", table_print_subject, s},
        {"findings", table_print_findings, s},
        {"losses", table_print_losses, s},
    };
    char kinds[128];
    size_t ok = 0;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        json_object_set_new(section, words[i].key, data_print(print_word, &words[i]));
    for (size_t i = 0; i < s->n; i++)
        ok += s->points[i].outcome == POINT_ok;
    summary_distinct(kinds, sizeof kinds, s, COLUMN_kind);
    json_object_set_new(section, "kind", data_text(kinds));
    json_object_set_new(section, "points", json_sprintf("%zu of %zu", ok, s->n));
}

/* ---- Points ---- */

static void print_remarks(FILE *out, const void *point)
{
    const struct point_summary *p = point;
    table_print_remarks(out, p);
    fprintf(out, "\n%s", p->flags);
}

static json_t *point_row(const struct table *t, const struct point_summary *p, size_t i)
{
    char text[TABLE_CELL];
    json_t *row = json_pack("[i]", (int)i + 1);
    for (size_t c = 0; c < t->n; c++)
        json_array_append_new(row, data_text(table_cell(text, t, c, p)));
    json_array_append_new(row, data_text(p->cells[COLUMN_kind]));
    json_array_append_new(row, json_string(p->status));
    json_array_append_new(row, data_print(print_remarks, p));
    return row;
}

static json_t *point_rows(const struct summary *s)
{
    struct table t;
    json_t *names = json_pack("[s]", "row"), *rows = json_pack("[O]", names);
    table_make(&t, s);
    for (size_t c = 0; c < t.n; c++)
        json_array_append_new(names, data_text(t.columns[c].header));
    json_array_append_new(names, json_string("kind"));
    json_array_append_new(names, json_string("status"));
    json_array_append_new(names, json_string("remarks, flags"));
    json_decref(names);
    for (size_t i = 0; i < s->n; i++)
        json_array_append_new(rows, point_row(&t, &s->points[i], i));
    return rows;
}

/* ---- Grades ---- */

static void print_grades(FILE *out, const void *summary)
{
    struct rule_result results[RULES];
    rules_grade(results, summary);
    table_print_grades(out, results, summary);
}

static json_t *rule_row(const struct rule_result *result, size_t i)
{
    static const char *const classes[] = {
        [RULE_NOT_MET] = "bad", [RULE_MET] = "same", [RULE_NOT_APPLICABLE] = "none"};
    return json_pack("[i, s, {s:s, s:s}, o]", (int)i + 1, result->title, "text", result->verdict,
                     "verdict", classes[result->grade], data_text(result->by));
}

static json_t *rules_of(const struct summary *s)
{
    struct rule_result results[RULES];
    json_t *rows = json_pack("[[s, s, s, s]]", "rule", "title", "grade", "by");
    rules_grade(results, s);
    for (size_t i = 0; i < RULES; i++)
        json_array_append_new(rows, rule_row(&results[i], i));
    return json_pack("{s:o, s:o}", "grades", data_print(print_grades, s), "rows", rows);
}

/* ---- The section ---- */

static enum status add_tables(json_t *section, const struct summary *s, const char *folder,
                              struct error *e)
{
    char id[PAGE_ID], path[PATH_BYTES];
    snprintf(id, sizeof id, "%.80s-summary", json_string_value(json_object_get(section, "id")));
    TRY(path_format(path, e, "%s/summary.csv", folder));
    TRY(data_add_csv(section, id, "summary.csv", path, e));
    json_object_set_new(json_array_get(json_object_get(section, "tables"), 0), "points",
                        json_pack("{s:o}", "rows", point_rows(s)));
    json_object_set_new(section, "rules", rules_of(s));
    TRY(path_format(path, e, "%s/spec.yaml", folder));
    return data_add_file(section, "spec", path, e);
}

static json_t *begin_section(const struct section_source *from, const struct spec *spec,
                             const char *path)
{
    const char *title = spec_title(spec);
    char name[80], id[PAGE_ID];
    name_run(name, config_text(&spec->config, OPT_NAME), path);
    section_id(id, from->page, name, "-");
    return json_pack("{s:s, s:o, s:o, s:o}", "id", id, "name", data_text(name), "title",
                     data_text(title != NULL ? title : ""), "again", data_text(path));
}

static enum status add_section(const struct section_source *from, const struct summary *s,
                               const char *path, struct error *e)
{
    const struct config *config = &s->spec->config;
    const struct value *figures = &config->values[OPT_FIGURES];
    json_t *section = begin_section(from, s->spec, path);
    TRY(section_add(from, "runs", section, path, e));
    TRY(published_add(section, s, path, from->request, e));
    TRY(figures_draw(&(struct figures_run){s, path, NULL}, 1, from->drawn, from->plots,
                     FIGURES_FOR_PAGE, e));
    for (size_t i = 0; i < figures->n; i++)
        TRY(figure_add(from, section, &figures->figures[i], config_text(config, OPT_BARS), e));
    add_words(section, s);
    return add_tables(section, s, path, e);
}

enum status section_add_run(const struct section_source *from, const char *operand, struct error *e)
{
    char path[PATH_BYTES];
    struct spec spec = {.n_points = 0};
    struct summary s = {.n = 0};
    TRY(operand_find(path, operand, from->request->out, from->request->tools->home, e));
    enum status status = run_spec_load(&spec, path, NULL, e);
    THEN(status, summary_read(&s, &spec, path, e));
    THEN(status, add_section(from, &s, path, e));
    summary_free(&s);
    spec_free(&spec);
    return status;
}
