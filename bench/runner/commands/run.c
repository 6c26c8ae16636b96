#include <signal.h>

#include "bench/base/log.h"
#include "bench/batch/job.h"
#include "bench/compare/checks.h"
#include "bench/runner/campaign.h"
#include "bench/runner/commands/commands.h"
#include "bench/runner/report.h"
#include "bench/runner/run_spec.h"
#include "kernels/base/launcher.h"
#include "kernels/base/text.h"

static enum status check_refusals(const struct campaign *c, bool strict, struct error *e)
{
    size_t n = c->spec.n_points, first = 0;
    if (c->n_refused == 0 || (c->n_refused < n && !strict))
        return OK;
    while (c->refusals[first][0] == '\0')
        first++;
    const char *label = c->spec.points[first].label;
    char points[TEXT_NUMBER];
    if (c->n_refused == n)
        return error_set(e, ERR_UNAVAILABLE, "no point can run here. First refused point: %s: %s",
                         label, c->refusals[first]);
    return error_set(
        e, ERR_UNAVAILABLE, "--strict: %zu of %s cannot run here. First refused point: %s: %s",
        c->n_refused, text_plural(points, (long)n, "point"), label, c->refusals[first]);
}

/* Prints the table of a run and writes its files and figures, even if no launch was needed. Writing
 * them takes less time than checking whether they are outdated. */
static enum status report(struct campaign *c, struct journal *journal, const struct arguments *a,
                          FILE *out, struct report_result *result, struct error *e)
{
    char latest[PATH_BYTES];
    TRY(journal_check(&c->journal, e));
    TRY(campaign_link_latest(c, e));
    TRY(path_format(latest, e, "%s/latest", c->folder));
    struct report_request request = {.run_dir = c->run_dir,
                                     .shown = latest,
                                     .write = true,
                                     .draw = true,
                                     .figures_optional = true,
                                     .strict = a->strict,
                                     .table = out,
                                     .n_reported = c->journal.n_launches - c->n_before,
                                     .journal = journal};
    return report_make(&c->spec, &request, c->tools, result, e);
}

static void note_again(size_t launches, const char *why)
{
    char text[TEXT_NUMBER];
    if (launches > 0)
        log_print(LOG_NOTE, "%s %s %s retried", text_plural(text, (long)launches, "launch"), why,
                  launches > 1 ? "and are" : "and is");
}

/* Runs the remaining launches and reports. Launches whose records cannot be read are retried, but
 * only once, since a failing disk could damage the new records too. */
static enum status run_and_report(struct campaign *c, const struct arguments *a, FILE *out,
                                  struct report_result *result, struct error *e)
{
    TRY(campaign_run(c, e));
    TRY(report(c, &c->journal, a, out, result, e));
    if (result->damaged == 0)
        return OK;
    note_again(result->damaged, "cannot be read");
    TRY(campaign_run(c, e));
    return report(c, NULL, a, out, result, e);
}

static enum status run(struct campaign *c, const struct arguments *a, FILE *out, int *exit_status,
                       struct error *e)
{
    struct report_result result;
    size_t retried;
    TRY(job_check(c, e));
    TRY(check_refusals(c, a->strict, e));
    run_spec_note_seeds(&c->spec);
    TRY(campaign_open_run(c, e));
    TRY(campaign_record_changes(c, e));
    TRY(campaign_retry_failures(c, &retried, e));
    note_again(retried, "failed before");
    c->n_before = c->journal.n_launches;
    if (retried == 0 && c->resumed && !c->journal.finished)
        log_print(LOG_NOTE, "resuming %s", c->run_dir);
    enum status status = run_and_report(c, a, out, &result, e);
    if (status == ERR_INTERRUPTED) {
        log_print(LOG_NOTE, "interrupted; run the same command again to resume");
        *exit_status = 128 + c->interrupt.signal;
        return OK;
    }
    bool checks_hold = true;
    THEN(status, checks_report(out, &c->spec, c->run_dir, a->strict, &checks_hold, e));
    if (status == OK && !(result.all_well && checks_hold))
        *exit_status = 1;
    return status;
}

/* Warns if a launcher started several copies of this command. */
static void warn_of_copies(void)
{
    const char *name;
    int copies = launcher_tasks(&name);
    if (copies > 1)
        log_print(LOG_WARNING,
                  "%s=%d: a launcher started several copies of this command. Run the command "
                  "without a launcher, since scalebench itself starts the ranks",
                  name, copies);
}

enum status command_run(const struct arguments *a, FILE *out, int *exit_status, struct error *e)
{
    struct campaign_request request = {
        .spec = a->operand, .set = a->set, .out = a->out, .fresh = a->fresh, .command = a->command};
    struct campaign c;
    warn_of_copies();
    TRY(job_move(a->tools, a->command, e));
    enum status status = campaign_prepare(&c, &request, a->tools, e);
    THEN(status, checks_check(&c.spec, e));
    THEN(status, run(&c, a, out, exit_status, e));
    campaign_close(&c);
    return status;
}
