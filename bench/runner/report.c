#include "bench/runner/report.h"

#include <stdlib.h>
#include <string.h>

#include "bench/base/log.h"
#include "bench/collect/rules.h"
#include "bench/collect/table/table.h"
#include "bench/figures/figures.h"
#include "bench/runner/runs.h"
#include "kernels/base/terminal.h"
#include "kernels/base/text.h"

/* Draws the figures of a run. If gnuplot is missing and the request allows it, prints a note
 * instead of an error, since the measurements are complete. */
static enum status draw_where_possible(const struct summary *s,
                                       const struct report_request *request,
                                       const struct tools *tools, struct error *e)
{
    const struct figures_run run = {s, request->run_dir, NULL};
    enum status status = figures_draw(&run, 1, request->run_dir, tools->plots, FIGURES_PICTURES, e);
    if (status != ERR_UNAVAILABLE || !request->figures_optional)
        return status;
    log_print(
        LOG_NOTE,
        "%s. Run `scalebench figures %s` to draw the figures, here or on another machine with a "
        "copy of the run",
        e->text, request->shown);
    return OK;
}

/* Shortens a reason that was already printed: "exit status 3: no luck" becomes "exit status 3 (in
 * full above)". For the terminal only. */
static void shorten_reason(struct point_summary *p)
{
    static const char above[] = " (in full above)", all[] = "the reason is above";
    char *end = p->reason;
    while (*end && *end != '\n' && strncmp(end, ": ", 2) != 0 && strncmp(end, "; ", 2) != 0)
        end++;
    if (*end && end + sizeof above <= p->reason + sizeof p->reason)
        memcpy(end, above, sizeof above);
    else if (!*end && strlen(p->reason) > strlen(all))
        strcpy(p->reason, all);
}

static bool has_failed(const struct point_summary *p)
{
    return p->outcome == POINT_failed || p->outcome == POINT_timeout;
}

/* Returns whether a point failed and its reason was already printed. The failures among the
 * journal's last `n_reported` launches were printed. */
static bool was_reported(const struct summary *s, const struct point_summary *p, size_t n_reported)
{
    bool reported = false;
    for (size_t k = p->first_launch; k < s->n_launches; k = s->launches[k].next)
        reported |= !s->launches[k].ok && k + n_reported >= s->n_launches;
    return reported && has_failed(p);
}

static void shorten_reported(struct summary *s, size_t n_reported)
{
    for (size_t i = 0; i < s->n; i++)
        if (was_reported(s, &s->points[i], n_reported))
            shorten_reason(&s->points[i]);
}

static void print_table(const struct summary *s, const struct report_request *request)
{
    struct run run;
    run_read(&run, request->run_dir);
    table_print(request->table, s, request->shown,
                run.revision[0] ? run.revision : "unknown revision",
                terminal_width(request->table));
    fflush(request->table);
    run_free(&run);
}

static void note_kept(const struct summary *s)
{
    char launches[TEXT_NUMBER], points[TEXT_NUMBER];
    if (s->n_outdated > 0)
        log_print(LOG_NOTE, "%s of another version of the peer program %s kept, but not shown",
                  text_plural(launches, (long)s->n_outdated, "launch"),
                  s->n_outdated > 1 ? "are" : "is");
    if (s->n_unasked == 0)
        return;
    text_plural(launches, (long)s->n_unasked, "launch");
    text_plural(points, (long)s->n_unasked_points, "point");
    log_print(LOG_NOTE, "kept, but not shown: %s of %s that this spec does not contain", launches,
              points);
}

/* If a data set was not found, prints the command that downloads it. Prints nothing if the user
 * chose generated images (SCALEBENCH_DATA=none). */
static void note_generated(const struct summary *s, const struct tools *tools)
{
    const char *chosen = getenv("SCALEBENCH_DATA");
    if (chosen != NULL && strcmp(chosen, "none") == 0)
        return;
    for (size_t i = 0; i < s->n; i++) {
        const struct point_summary *p = &s->points[i];
        const struct data_set_row *set = config_data_set(&p->point->config);
        if (set->source != DATA_FOUND || strcmp(p->cells[COLUMN_data_source], "generated") != 0)
            continue;
        log_print(LOG_NOTE,
                  "data set %s not found, so generated images were used. `%s/ci/data.sh --to data "
                  "%s` downloads the data set",
                  set->name, tools->home, set->name);
        return;
    }
}

/* Returns false if a point makes the campaign fail. `aloud`: whether to print on standard error
 * each point that is not ok. */
static bool name_failures(const struct summary *s, size_t n_reported, bool aloud)
{
    char points[TEXT_NUMBER];
    size_t failed = 0, others[POINT_STATUSES] = {0};
    text_plural(points, (long)s->n, "point");
    for (size_t i = 0; i < s->n; i++) {
        const struct point_summary *p = &s->points[i];
        bool fails = summary_fails(s, i);
        failed += fails;
        others[p->outcome] += !fails;
        if (aloud && has_failed(p))
            log_print(LOG_ERROR, "%s: %s; see the reason %s", p->point->label, p->status,
                      was_reported(s, p, n_reported) ? "above" : "in the table");
        else if (aloud && p->outcome != POINT_ok)
            log_print(fails ? LOG_ERROR : LOG_NOTE, "%s: %s: %s", p->point->label, p->status,
                      p->reason);
    }
    for (int i = 0; i < POINT_STATUSES; i++)
        if (aloud && i != POINT_ok && others[i] > 0)
            log_print(LOG_NOTE, "%zu of %s %s", others[i], points, point_status_names()[i]);
    if (aloud)
        note_kept(s);
    if (aloud && failed > 0)
        log_print(LOG_ERROR, "%zu of %s failed", failed, points);
    return failed == 0;
}

/* Returns whether to report a run from its tables because its records are missing, as in some
 * copies of runs. */
static bool has_tables_only(const char *run_dir)
{
    bool journal = folder_has(run_dir, "journal.jsonl");
    bool launches = journal && folder_has(run_dir, "launches");
    return !launches && (!journal || folder_has(run_dir, "summary.csv"));
}

/* Returns whether all rules of Hoefler and Belli are met. If not, prints how many rules are not
 * met. */
static bool all_rules_hold(const struct summary *s)
{
    struct rule_result results[RULES];
    size_t met = rules_grade(results, s);
    if (met < RULES)
        log_print(LOG_ERROR, "--strict: %zu of %d rules of Hoefler and Belli not met", RULES - met,
                  RULES);
    return met == RULES;
}

/* Draws the figures of a sweep and prints a summary of its table, as `request` specifies. Sets
 * *all_well to false if the printed table has a wrong result. */
static enum status show_sweep(const char *table, const struct report_request *request,
                              const char *plots, bool *all_well, struct error *e)
{
    char path[PATH_BYTES];
    bool is_well = true;
    enum status status = OK;
    TRY(path_format(path, e, "%s/%s", request->run_dir, table));
    if (!path_exists(path))
        return OK;
    if (request->draw)
        status = figures_draw_sweep(request->run_dir, table, request->run_dir, plots,
                                    FIGURES_PICTURES, NULL, e);
    if (status == ERR_UNAVAILABLE && request->figures_optional)
        status = OK; /* a missing gnuplot is not an error here. If the spec has figures,
                        draw_where_possible has already printed that gnuplot is missing */
    if (request->table != NULL)
        THEN(status, table_print_sweep(request->table, path, &is_well, e));
    *all_well = *all_well && is_well;
    return status;
}

static enum status show_sweeps(const struct report_request *request, const struct tools *tools,
                               bool *all_well, struct error *e)
{
    size_t n;
    const char *const *tables = table_sweep_names(&n);
    for (size_t i = 0; i < n; i++)
        TRY(show_sweep(tables[i], request, tools->plots, all_well, e));
    return OK;
}

/* Draws a run's figures and prints its table. `written`: status of writing the CSV files, which the
 * figures need. */
static enum status show(struct summary *s, const struct report_request *request,
                        const struct tools *tools, enum status written, bool *all_well,
                        struct error *e)
{
    enum status status = written;
    if (written == OK && request->draw)
        status = draw_where_possible(s, request, tools, e);
    shorten_reported(s, request->n_reported);
    if (request->table != NULL)
        print_table(s, request);
    if (request->table != NULL && request->journal != NULL)
        note_generated(s, tools);
    *all_well = name_failures(s, request->n_reported, request->table != NULL);
    if (request->strict && !all_rules_hold(s))
        *all_well = false;
    THEN(status, show_sweeps(request, tools, all_well, e));
    return status;
}

static enum status write_tables(const struct summary *s, const char *run_dir, struct error *e)
{
    TRY(summary_write(s, run_dir, e));
    return table_write_documents(s, run_dir, e);
}

/* Marks launches for a retry if the journal lists them as done, but their records cannot be read.
 * Adds their number to *damaged. */
static enum status take_back_damaged(const struct summary *s, struct journal *journal,
                                     size_t *damaged, struct error *e)
{
    for (size_t i = 0; i < s->n_launches; i++) {
        const struct summary_launch *launch = &s->launches[i];
        if (launch->unasked || launch->ok || launch->diverged ||
            !launch_is_done(&journal->launches[i]))
            continue;
        ++*damaged;
        TRY(journal_retry(journal, journal->launches[i].launch, e));
    }
    return OK;
}

static enum status make_of(struct summary *s, const struct report_request *request,
                           const struct tools *tools, struct report_result *result, struct error *e)
{
    enum status status = OK;
    if (request->journal != NULL)
        TRY(take_back_damaged(s, request->journal, &result->damaged, e));
    if (result->damaged > 0)
        return OK;
    if (request->write)
        status = write_tables(s, request->run_dir, e);
    return show(s, request, tools, status, &result->all_well, e);
}

static enum status make(const struct spec *spec, const struct report_request *request,
                        const struct tools *tools, struct report_result *result, struct error *e)
{
    struct journal read = {.fd = -1};
    struct summary s = {0};
    const struct journal *journal = request->journal;
    if (journal == NULL) {
        TRY(journal_open(&read, request->run_dir, false, e));
        journal = &read;
    }
    enum status status = summary_collect(&s, spec, request->run_dir, journal, e);
    THEN(status, make_of(&s, request, tools, result, e));
    summary_free(&s);
    journal_close(&read);
    return status;
}

enum status report_make(const struct spec *spec, const struct report_request *request,
                        const struct tools *tools, struct report_result *result, struct error *e)
{
    struct summary s;
    *result = (struct report_result){.all_well = true};
    if (request->journal != NULL || !has_tables_only(request->run_dir))
        return make(spec, request, tools, result, e);
    enum status status = summary_read(&s, spec, request->run_dir, e);
    if (request->write) {
        THEN(status, summary_write_fits(&s, request->run_dir, e));
        THEN(status, table_write_documents(&s, request->run_dir, e));
    }
    THEN(status, show(&s, request, tools, OK, &result->all_well, e));
    summary_free(&s);
    return status;
}
