#include "bench/page/page_run.h"

#include <string.h>

#include "bench/collect/rules.h"
#include "bench/collect/summary.h"
#include "bench/collect/table/table.h"
#include "bench/page/csv_table.h"
#include "bench/page/html.h"

/* ---- Points ---- */

static void print_remarks(FILE *out, const void *point)
{
    table_print_remarks(out, point);
    fputc('\n', out);
}

/* Whether a column of the closing table says something of any point. */
static bool is_told(const struct page_run *run, const struct table *t, size_t column)
{
    char text[TABLE_CELL];
    for (size_t i = 0; i < run->s.n; i++)
        if (strcmp(table_cell(text, t, column, &run->s.points[i]), "-") != 0)
            return true;
    return false;
}

/* Options that are words are texts, all else are numbers with what belongs to them. */
static bool is_text(const struct page_run *run, const struct table *t, size_t column)
{
    char text[TABLE_CELL];
    for (size_t i = 0; column < t->n_options && i < run->s.n; i++)
        if (!html_is_number(table_cell(text, t, column, &run->s.points[i])))
            return true;
    return false;
}

static enum status write_point(FILE *out, const struct page_run *run, const struct table *t,
                               size_t i, struct error *e)
{
    const struct point_summary *p = &run->s.points[i];
    fprintf(out,
            "<tr id=\"%s-summary-%zu\"><th scope=\"row\"><a href=\"#%s-summary-%zu\">%zu</a></th>",
            run->id, i + 1, run->id, i + 1, i + 1);
    for (size_t c = 0; c < t->n; c++) {
        char text[TABLE_CELL];
        if (!is_told(run, t, c))
            continue;
        fputs(is_text(run, t, c) ? "<td>" : "<td class=\"n\">", out);
        html_text(out, table_cell(text, t, c, p));
        fputs("</td>", out);
    }
    fputs("<td>", out);
    html_text(out, p->cells[COLUMN_kind]);
    fputs("</td><td>", out);
    html_text(out, p->status);
    fputs("</td><td class=\"wrap\">", out);
    TRY(html_paragraphs(out, "span", print_remarks, p, e));
    html_text(out, p->flags);
    fputs("</td></tr>\n", out);
    return OK;
}

static enum status write_points(FILE *out, const struct page_run *run, struct error *e)
{
    struct table t;
    char path[PATH_BYTES];
    table_make(&t, &run->s);
    fputs("<div class=\"scroll\"><table><thead><tr><th class=\"n\">row</th>", out);
    for (size_t c = 0; c < t.n; c++) {
        if (!is_told(run, &t, c))
            continue;
        fputs(is_text(run, &t, c) ? "<th>" : "<th class=\"n\">", out);
        html_text(out, t.columns[c].header);
        fputs("</th>", out);
    }
    fputs("<th>kind</th><th>status</th><th>remarks, flags</th></tr></thead><tbody>\n", out);
    for (size_t i = 0; i < run->s.n; i++)
        TRY(write_point(out, run, &t, i, e));
    fputs("</tbody></table></div>\n", out);
    TRY(path_format(path, e, "%s/summary.csv", run->path));
    return csv_table_write_link(out, path, "summary.csv", e);
}

/* ---- Grades ---- */

static void write_grades(FILE *out, const struct page_run *run)
{
    struct rule_result results[RULES];
    rules_grade(results, &run->s);
    fputs("<details><summary>Grades by the twelve rules of Hoefler and Belli (SC15): ", out);
    table_tell_grades(out, results, &run->s);
    fputs("</summary>\n<div class=\"scroll\"><table><thead><tr><th "
          "class=\"n\">rule</th><th>title</th>"
          "<th>grade</th><th>by</th></tr></thead><tbody>\n",
          out);
    for (size_t i = 0; i < RULES; i++) {
        fprintf(out,
                "<tr id=\"%s-rules-%zu\"><th scope=\"row\"><a href=\"#%s-rules-%zu\">%zu</a></th>"
                "<td class=\"wrap\">",
                run->id, i + 1, run->id, i + 1, i + 1);
        html_text(out, rule_title(i));
        fprintf(out, "</td><td><span class=\"verdict %s\">%s</span></td><td class=\"wrap\">",
                results[i].grade == RULE_NOT_MET ? "bad"
                : results[i].grade == RULE_MET   ? "same"
                                                 : "none",
                rule_grade_name(results[i].grade));
        html_text(out, results[i].by);
        fputs("</td></tr>\n", out);
    }
    fputs("</tbody></table></div>\n</details>\n", out);
}

/* ---- The section ---- */

static void print_findings(FILE *out, const void *s)
{
    table_print_findings(out, s);
}

static void print_subject(FILE *out, const void *s)
{
    table_print_subject(out, s);
}

static void write_title(FILE *out, const struct page_run *run)
{
    const char *title = spec_title(&run->spec);
    if (title == NULL)
        return;
    fputs(" <small>", out);
    html_text(out, title);
    fputs("</small>", out);
}

static enum status write_head(FILE *out, const struct page_run *run, struct error *e)
{
    fprintf(out, "<h2 id=\"%s-title\"><a href=\"#%s\">", run->id, run->id);
    html_text(out, run->name);
    fputs("</a>", out);
    write_title(out, run);
    fputs(" <a class=\"up\" href=\"#contents\">contents</a></h2>\n", out);
    TRY(html_paragraphs(out, "p", print_subject, &run->s, e));
    fputs("<p class=\"file\">", out);
    html_text(out, run->path);
    fputs("</p>\n", out);
    return html_findings(out, print_findings, &run->s, e);
}

enum status page_run_write(FILE *out, const struct page_run *run, struct error *e)
{
    const struct value *figures = &run->spec.config.values[OPT_FIGURES];
    fprintf(out, "<section class=\"run\" id=\"%s\" aria-labelledby=\"%s-title\">\n", run->id,
            run->id);
    TRY(write_head(out, run, e));
    for (size_t i = 0; i < figures->n; i++)
        TRY(page_figure_write(out, run, &figures->figures[i], e));
    fprintf(out, "<details%s><summary>All points, summary.csv</summary>\n",
            run->s.n <= 12 ? " open" : "");
    TRY(write_points(out, run, e));
    fputs("</details>\n", out);
    TRY(page_again_write(out, run, e));
    page_provenance_write(out, run->manifest);
    write_grades(out, run);
    fputs("</section>\n", out);
    return OK;
}

/* ---- A row of the overview ---- */

static void write_links(FILE *out, const struct page_run *run)
{
    const struct value *figures = &run->spec.config.values[OPT_FIGURES];
    for (size_t i = 0; i < figures->n; i++) {
        char id[160];
        page_figure_id(id, run, &figures->figures[i]);
        fprintf(out, "%s<a href=\"#%s\">", i > 0 ? " " : "", id);
        html_text(out, figure_request_name(&figures->figures[i]));
        fputs("</a>", out);
    }
}

/* Of what its figures show: several views on one run say what is theirs. */
static void write_verdicts(FILE *out, const struct page_run *run)
{
    const struct config *config = &run->spec.config;
    size_t told = 0;
    for (size_t i = 0; i < run->verdicts.n; i++) {
        const struct comparison *c = &run->verdicts.items[i];
        if (!verdict_is_shown(c, &config->values[OPT_FIGURES], config_text(config, OPT_BARS)))
            continue;
        fputs(told++ > 0 ? "; " : "", out);
        html_text(out, c->what->name);
        fputs(": ", out);
        verdict_write_counts(out, c);
    }
}

void page_run_overview(FILE *out, const struct page_run *run)
{
    struct rule_result results[RULES];
    char kinds[128];
    size_t ok = 0;
    for (size_t i = 0; i < run->s.n; i++)
        ok += run->s.points[i].outcome == POINT_ok;
    rules_grade(results, &run->s);
    fprintf(out, "<tr><th scope=\"row\"><a href=\"#%s\">", run->id);
    html_text(out, run->name);
    fputs("</a>", out);
    write_title(out, run);
    fputs("</th><td class=\"links wrap\">", out);
    write_links(out, run);
    fputs("</td><td>", out);
    html_text(out, summary_distinct(kinds, sizeof kinds, &run->s, COLUMN_kind));
    fprintf(out, "</td><td class=\"n\">%zu of %zu</td><td class=\"wrap\">", ok, run->s.n);
    write_verdicts(out, run);
    fputs("</td><td>", out);
    table_tell_grades(out, results, &run->s);
    fputs("</td><td class=\"date\">", out);
    html_day(out, run->s.setup.started);
    fputs("</td>", out);
    html_processor(out, run->s.setup.cpu, run->s.setup.caches);
    fputs("</tr>\n", out);
}
