#include "bench/runner/attempt.h"

#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "bench/launch/log_tail.h"
#include "bench/place/view.h"
#include "kernels/base/mem.h"
#include "kernels/base/text.h"

/* Returns whether a shell needs no quotes for the character. Compares ranges, since strspn is slow
 * and a plan of thousands of points prints a million words. */
static bool is_plain(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '+' && c <= ':') || c == '=' ||
           c == '_' || c == '%' || c == '@'; /* the range from '+' to ':' contains + , - . / digits
                                                : */
}

static void print_word(FILE *out, const char *word)
{
    size_t n = 0;
    while (is_plain(word[n]))
        n++;
    if (n > 0 && word[n] == '\0') {
        fputs(word, out);
        return;
    }
    fputc('\'', out);
    for (; *word; word++)
        if (*word == '\'')
            fputs("'\\''", out);
        else
            fputc(*word, out);
    fputc('\'', out);
}

void campaign_print_command(FILE *out, const struct site_launch *launch)
{
    if (launch->environment[0] != NULL)
        fputs("env ", out);
    for (char **word = launch->environment; *word != NULL; word++) {
        print_word(out, *word);
        fputc(' ', out);
    }
    for (char **word = launch->argv; *word != NULL; word++) {
        print_word(out, *word);
        fputc(word[1] != NULL ? ' ' : '\n', out);
    }
}

static enum status write_command(FILE *out, const void *arg, struct error *e)
{
    campaign_print_command(out, arg);
    return OK;
}

struct launch_outcome attempt_watch(struct campaign *c, struct launch *launch)
{
    struct pollfd fds[2] = {{.fd = launch->lifeline, .events = POLLIN},
                            {.fd = c->interrupt.fd, .events = POLLIN}};
    while (fds[0].revents == 0 || !launch_has_outcome(launch)) {
        poll(fds, 2, 1000);
        if ((fds[1].revents && interrupt_look(&c->interrupt)) ||
            journal_check(&c->journal, NULL) != OK)
            launch_stop(launch);
        launch_report_cleaning(launch);
        owner_sign(&c->owner);
        if (c->progress.total > 0)
            progress_tick(&c->progress);
    }
    return launch_finish(launch);
}

/* Formats the name and the value of an option that limits a time: "measure.limit (10 min)". */
static void name_limit(char text[64], const struct campaign *c, enum option_id option)
{
    char limit[TEXT_NUMBER];
    text_duration(limit, config_number(&c->spec.config, option));
    snprintf(text, 64, "%s (%s)", option_get(option)->key, limit);
}

static void reason_of_stay(char *text, size_t size, const struct launch_outcome *outcome,
                           const char *words, const char *colon)
{
    char end[TEXT_END];
    if (outcome->child_status == 0)
        snprintf(text, size, "%s; the launcher did not end within %d s", words, LAUNCH_STAY_S);
    else
        snprintf(text, size,
                 "a process that the launcher started on a node ended (%s), but the launcher did "
                 "not end within %d s%s%s",
                 text_end(end, outcome->child_status), LAUNCH_STAY_S, colon, words);
}

static void reason_of_cause(char *text, size_t size, const struct campaign *c,
                            const struct launch_outcome *outcome, const char *log)
{
    char words[300], limit[64], end[TEXT_END];
    log_tail(log, words, sizeof words);
    const char *colon = words[0] != '\0' ? ": " : "";
    switch (outcome->cause) {
    case CAUSE_ENDED:
        snprintf(text, size, "%s%s%s", text_end(end, outcome->wait_status), colon, words);
        break;
    case CAUSE_STAYED:
        reason_of_stay(text, size, outcome, words, colon);
        break;
    case CAUSE_LIMIT:
        name_limit(limit, c, OPT_POINT_LIMIT);
        snprintf(text, size, "not done within %s", limit);
        break;
    case CAUSE_NO_START:
        name_limit(limit, c, OPT_START_LIMIT);
        snprintf(text, size,
                 "%d of %d ranks started within %s%s%s. Allow the user more processes (ulimit -u), "
                 "or raise the limit",
                 outcome->started, outcome->ranks, limit, colon, words);
        break;
    case CAUSE_STOPPED:
    case CAUSE_ABANDONED:
    case CAUSE_GUARD_LOST:
        snprintf(text, size, "the guard process of this launch was killed");
    }
}

void attempt_reason(char *text, size_t size, const struct campaign *c,
                    const struct launch_outcome *outcome, const char *log)
{
    snprintf(text, size, "%s",
             outcome->oom_kills > 0
                 ? "killed by the out-of-memory killer; use fewer ranks, or allow more memory: "
                 : "");
    size_t n = strlen(text);
    reason_of_cause(text + n, size - n, c, outcome, log);
}

/* Fills in the load and noise of a launch. The load by other processes is known only if the ranks
 * are descendants of the runner on its own machine. */
static void take_noise(struct execution *x, const struct site_launch *prepared,
                       const struct view *before, const struct view *after)
{
    const struct launch_outcome *outcome = &x->outcome;
    bool known = before->known && after->known && !prepared->by_daemons;
    x->l.foreign_pct = known ? load_foreign_pct(&before->load, &after->load, outcome->cpu_s) : NAN;
    x->l.noise = (struct launch_noise){
        .steal_pct = known ? load_steal_pct(&before->load, &after->load) : NAN,
        .run_switches_voluntary = outcome->switches_voluntary,
        .run_switches_involuntary = outcome->switches_involuntary,
        .run_faults_minor = outcome->faults_minor,
        .run_faults_major = outcome->faults_major,
        .work_before_us = before->probe.work_us,
        .work_after_us = after->probe.work_us,
        .mhz = after->probe.mhz,
    };
}

/* Returns whether a speed probe on this machine is useless for the launch: a simulated launch has
 * no ranks, and with site ssh other machines run the ranks. */
static bool runs_elsewhere(const struct site_launch *prepared)
{
    return prepared->plan.ranks == 0 ||
           (prepared->by_daemons && prepared->plan.slots[0].cpus[0] == '\0');
}

/* Runs the command and waits for its end. If the ranks run on this machine, also measures the load
 * of their processors before and after the launch. Probes the speed of these processors too, unless
 * the launch is short (probe_seconds). A launch that was stopped is not probed again. */
static enum status run_command(struct execution *x, const struct site_launch *prepared,
                               const struct launch_command *command, struct error *e)
{
    struct launch launch;
    struct view before = {.known = false}, after = {.known = false};
    struct core_locks *own;
    TRY(MEM_NEW(own, 1, "a launch", e));
    enum status status = core_locks_add(own, &prepared->plan, e);
    double probe_s = status == OK && !runs_elsewhere(prepared)
                         ? probe_seconds(x->expected_s, own->cpus, CPUS_MAX)
                         : 0;
    if (status == OK)
        view_before(&before, own->cpus, CPUS_MAX, probe_s);
    THEN(status, launch_start(&launch, command, e));
    if (status == OK) {
        x->outcome = attempt_watch(x->c, &launch);
        view_after(&after, own->cpus, CPUS_MAX, x->outcome.cause == CAUSE_ENDED ? probe_s : 0);
        x->outcome.oom_kills = fmax(after.oom_kills - before.oom_kills, 0);
        take_noise(x, prepared, &before, &after);
    }
    free(own);
    return status;
}

enum status attempt_run(struct execution *x, const struct config *point,
                        const struct site_launch *prepared, double limit_s, struct error *e)
{
    char path[PATH_BYTES];
    bool ours = !config_is_foreign(point);
    double start_limit_s = ours && !config_is_simulated(point)
                               ? config_number(&x->c->spec.config, OPT_START_LIMIT)
                               : 0;
    TRY(folder_make(x->folder, e));
    TRY(path_format(path, e, "%s/command.txt", x->folder));
    TRY(file_write(path, write_command, prepared, e));
    TRY(path_format(path, e, "%s/log.txt", x->folder));
    struct launch_command command = {.argv = prepared->argv,
                                     .environment = prepared->environment,
                                     .log = path,
                                     .limit_s = limit_s,
                                     .start_limit_s = start_limit_s,
                                     .records = x->folder,
                                     .ranks = (int)config_int(point, OPT_RANKS),
                                     .is_ours = ours,
                                     .cleanup = prepared->cleanup};
    return run_command(x, prepared, &command, e);
}
