#include "bench/runner/trial.h"

#include <stdio.h>
#include <string.h>

#include "bench/base/log.h"
#include "bench/launch/log_tail.h"
#include "bench/runner/attempt.h"
#include "bench/sites/slurm.h"

/* time limit of a trial (s); the first start in a large job takes seconds, and a wrong launcher can
 * hang */
#define LIMIT_S 60.0

/* Output of the program hello_ranks for two ranks. */
struct trial {
    int jobs;         /* number of MPI jobs, each of which prints one line; expected: 1 */
    int ranks, nodes; /* numbers of ranks and nodes that the first MPI job of the trial printed */
};

static struct trial read_log(const char *path)
{
    struct trial t = {0};
    char line[512];
    FILE *in = fopen(path, "re");
    while (in != NULL && fgets(line, sizeof line, in) != NULL) {
        int ranks, nodes;
        const char *said = strstr(line, "ranks=");
        if (said == NULL || sscanf(said, "ranks=%d nodes=%d", &ranks, &nodes) != 2)
            continue;
        if (t.jobs++ == 0) {
            t.ranks = ranks;
            t.nodes = nodes;
        }
    }
    if (in != NULL)
        fclose(in);
    return t;
}

static void explain(char *why, size_t size, const struct launch_outcome *outcome,
                    const struct trial *t, const char *log)
{
    char words[300];
    log_tail(log, words, sizeof words);
    if (outcome->cause == CAUSE_LIMIT)
        snprintf(why, size, "not done within %.0f s", LIMIT_S);
    else if (t->ranks == 1)
        snprintf(why, size,
                 "started %d jobs of 1 rank instead of 1 job of 2: it does not match the MPI "
                 "library of these programs",
                 t->jobs);
    else
        snprintf(why, size, "%s", words[0] ? words : "no output");
}

/* Tries to start two ranks with a launcher. `why`: reason why the launcher failed; "": the launcher
 * works. */
static enum status try_launcher(struct campaign *c, const struct point *point,
                                enum launcher_kind kind, char *why, size_t size, struct error *e)
{
    char log[PATH_BYTES], program[PATH_BYTES];
    struct site_launch prepared;
    struct launch launch;
    why[0] = '\0';
    TRY(tools_program(c->tools, "hello_ranks", program, e));
    TRY(path_format(log, e, "%s/trial-%s.txt", c->run_dir, names_launchers->names[kind]));
    struct error no_hydra;
    if (kind == LAUNCHER_hydra && launcher_check_hydra(&c->launcher, &no_hydra) != OK) {
        snprintf(why, size, "%.390s", no_hydra.text);
        return OK;
    }
    const struct site_job job = {.point = point,
                                 .launcher = &c->launcher,
                                 .allocation = &c->allocation,
                                 .program = program,
                                 .pin = c->pin};
    TRY(slurm_prepare_trial(&job, kind, c->owner.left_since, &prepared, e));
    const struct launch_command command = {.argv = prepared.argv,
                                           .environment = prepared.environment,
                                           .log = log,
                                           .limit_s = LIMIT_S,
                                           .cleanup = prepared.cleanup};
    if (c->owner.left_since != 0)
        launch_clean(prepared.cleanup);
    enum status status = launch_start(&launch, &command, e);
    if (status == OK) {
        struct launch_outcome outcome = attempt_watch(c, &launch);
        struct trial t = read_log(log);
        if (outcome.cause == CAUSE_STOPPED)
            status = error_set(e, ERR_INTERRUPTED, "interrupted");
        if (outcome.cause != CAUSE_ENDED || outcome.wait_status != 0 || t.ranks != 2 || t.jobs != 1)
            explain(why, size, &outcome, &t, log);
    }
    site_launch_free(&prepared);
    return status;
}

static enum status find_launcher(struct campaign *c, const struct point *point, struct error *e)
{
    char why[LAUNCHERS][400] = {""}, text[1024] = "";
    size_t used = 0;
    for (int kind = LAUNCHER_auto + 1; kind < LAUNCHERS; kind++) {
        TRY(try_launcher(c, point, (enum launcher_kind)kind, why[kind], sizeof why[kind], e));
        if (why[kind][0] == '\0') {
            c->allocation.launcher = (enum launcher_kind)kind;
            log_print(LOG_NOTE, "starting ranks with %s, which passed a trial with two ranks",
                      names_launchers->names[kind]);
            return OK;
        }
    }
    for (int kind = LAUNCHER_auto + 1; kind < LAUNCHERS && used < sizeof text; kind++)
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%s: %s", used > 0 ? "; " : "",
                                 names_launchers->names[kind], why[kind]);
    return error_set(e, ERR_UNAVAILABLE, "found no launcher that starts two ranks as one job: %s",
                     text);
}

static enum status check_launcher(struct campaign *c, const struct point *point,
                                  enum launcher_kind kind, struct error *e)
{
    char why[400];
    TRY(try_launcher(c, point, kind, why, sizeof why, e));
    if (why[0] == '\0')
        return OK;
    return error_set(e, ERR_UNAVAILABLE, "site.launcher = %s: %s", names_launchers->names[kind],
                     why);
}

enum status trial_run(struct campaign *c, struct error *e)
{
    bool tried[LAUNCHERS] = {false};
    allocation_name_steps(&c->allocation, c->run_dir);
    for (size_t i = 0; i < c->spec.n_points; i++) {
        const struct config *config = &c->spec.points[i].config;
        long kind = config_int(config, OPT_SITE_LAUNCHER);
        if (config_int(config, OPT_SITE) != SITE_slurm || c->refusals[i][0] || tried[kind])
            continue;
        tried[kind] = true;
        if (kind == LAUNCHER_auto)
            TRY(find_launcher(c, &c->spec.points[i], e));
        else
            TRY(check_launcher(c, &c->spec.points[i], (enum launcher_kind)kind, e));
    }
    return OK;
}
