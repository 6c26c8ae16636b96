#include <signal.h>

#include "bench/runner/campaign.h"
#include "bench/runner/commands/commands.h"
#include "bench/runner/report.h"
#include "kernels/base/log.h"

/* Refuses to begin when nothing can run here, or when something cannot and --strict was given. */
static enum status check_refusals(const struct campaign *c, bool strict, struct error *e)
{
    size_t n = c->spec.n_points, first = 0;
    if (c->n_refused == 0 || (c->n_refused < n && !strict))
        return OK;
    while (c->refusals[first][0] == '\0')
        first++;
    const char *label = c->spec.points[first].label;
    if (c->n_refused == n)
        return error_set(e, ERR_UNAVAILABLE, "no point can run here: %s: %s", label,
                         c->refusals[first]);
    return error_set(e, ERR_UNAVAILABLE, "--strict: %zu of %zu points cannot run here: %s: %s",
                     c->n_refused, n, label, c->refusals[first]);
}

/* The table of a run, its files and figures: made again even where nothing was run, which takes
 * less than knowing whether records, scripts or options have changed since. */
static enum status report(const struct campaign *c, bool strict, const struct tools *tools,
                          FILE *out, int *exit_status, struct error *e)
{
    char latest[PATH_BYTES];
    bool all_well = true;
    TRY(journal_check(&c->journal, e));
    TRY(campaign_link_latest(c, e));
    TRY(path_format(latest, e, "%s/latest", c->folder));
    struct report_request request = {.run_dir = c->run_dir,
                                     .shown = latest,
                                     .write = true,
                                     .draw = true,
                                     .strict = strict,
                                     .table = out};
    enum status status = report_make(&c->spec, &request, tools, &all_well, e);
    if (!all_well)
        *exit_status = 1;
    return status;
}

static enum status run(struct campaign *c, const struct arguments *arguments,
                       const struct tools *tools, FILE *out, int *exit_status, struct error *e)
{
    TRY(check_refusals(c, arguments->strict, e));
    TRY(campaign_open_run(c, e));
    size_t retried;
    TRY(campaign_retry_failures(c, &retried, e));
    if (retried > 0)
        log_print(LOG_NOTE, "%zu launches failed before and are tried again", retried);
    else if (c->resumed && !c->journal.finished)
        log_print(LOG_NOTE, "going on with %s", c->run_dir);
    enum status status = campaign_run(c, e);
    if (status == ERR_INTERRUPTED) {
        log_print(LOG_NOTE, "interrupted; the same command goes on");
        *exit_status = 128 + c->interrupt.signal;
        return OK;
    }
    return status == OK ? report(c, arguments->strict, tools, out, exit_status, e) : status;
}

enum status command_run(const struct arguments *arguments, const struct tools *tools, FILE *out,
                        int *exit_status, struct error *e)
{
    struct campaign_request request = {.spec = arguments->operand,
                                       .set = arguments->set,
                                       .out = arguments->out,
                                       .fresh = arguments->fresh,
                                       .command = arguments->command};
    struct campaign c;
    enum status status = campaign_prepare(&c, &request, tools, e);
    THEN(status, run(&c, arguments, tools, out, exit_status, e));
    campaign_close(&c);
    return status;
}
