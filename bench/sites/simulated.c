/* The simulated site: hosts that do not exist. `scalebench simulate` predicts each launch from the
 * times of ops and a model of the links, so ranks need no cores. */
#include <stdio.h>
#include <string.h>

#include "bench/sites/site.h"

/* Copies the option --calibration=LAUNCH (launch that supplies the times of ops) from the job's
 * arguments, if present. */
static void add_calibration(struct argv_builder *argv, const struct site_job *job)
{
    static const char option[] = "--calibration=";
    for (const char *const *argument = job->arguments; *argument != NULL; argument++)
        if (strncmp(*argument, option, sizeof option - 1) == 0)
            argv_add(argv, *argument);
}

static enum status simulated_prepare(const struct site_job *job, struct site_launch *launch,
                                     struct error *e)
{
    struct argv_builder argv = {0}, environment = {0};
    const char *slash = strrchr(job->pin, '/');
    argv_format(&argv, "%.*sscalebench", slash != NULL ? (int)(slash + 1 - job->pin) : 0, job->pin);
    argv_add(&argv, "simulate");
    argv_add(&argv, job->folder);
    add_calibration(&argv, job);
    TRY(argv_finish(&argv, &launch->argv, "a command line", e));
    return argv_finish(&environment, &launch->environment, "a command line", e);
}

static bool simulated_link(char text[LINK_BYTES], const struct config *config)
{
    config_link(text, config);
    return true;
}

extern const struct site site_simulated;
const struct site site_simulated = {
    .prepare = simulated_prepare, .link = simulated_link, .by_daemons = true};
