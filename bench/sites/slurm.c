/* The Slurm site: nodes of this process's Slurm job. A point uses the first nodes in Slurm's order,
 * so larger points include the nodes of smaller points. `pin`, not Slurm, binds the ranks. */
#include "bench/sites/slurm.h"

#include <stdio.h>
#include <string.h>

#include "bench/sites/mpiexec.h"

/* Returns the launcher that the spec names; for auto, the launcher that a trial found, else hydra
 * if it is usable, else pmi2. */
static enum launcher_kind launcher_of(const struct site_job *job)
{
    enum launcher_kind wanted =
        (enum launcher_kind)config_int(&job->point->config, OPT_SITE_LAUNCHER);
    if (wanted == LAUNCHER_auto)
        wanted = job->allocation->launcher;
    if (wanted != LAUNCHER_auto)
        return wanted;
    return launcher_check_hydra(job->launcher, NULL) == OK ? LAUNCHER_hydra : LAUNCHER_pmi2;
}

/* Returns the network interface that the spec names; NULL if the name is `none`. */
static const char *interface_of(const struct config *c)
{
    const char *name = config_text(c, OPT_SITE_INTERFACE);
    return strcmp(name, "none") != 0 ? name : NULL;
}

/* Adds the node's name for each rank: "n0,n0,n1". */
static void add_names(struct argv_builder *argv, const struct allocation *a, const struct config *c)
{
    argv_add(argv, "");
    for (int node = 0; node < config_int(c, OPT_NODES); node++)
        for (int r = 0; r < config_node_ranks(c, node); r++)
            argv_extend(argv, "%s%s", node + r > 0 ? "," : "", a->names[node]);
}

/* Adds srun, which starts the ranks as one step of the job. The step ends if a rank fails. */
static void add_srun(struct argv_builder *argv, const struct allocation *a, const struct config *c,
                     enum launcher_kind kind)
{
    static const char *const rest[] = {"--overcommit", "--kill-on-bad-exit=1", "--input=none",
                                       NULL};
    const char *const name[] = {"--job-name", a->steps, NULL};
    if (kind != LAUNCHER_srun)
        argv_format(argv, "--mpi=%s", names_launchers->names[kind]);
    if (a->steps[0])
        argv_add_all(argv, name);
    argv_format(argv, "--nodes=%ld", config_int(c, OPT_NODES));
    argv_format(argv, "--ntasks=%ld", config_int(c, OPT_RANKS));
    argv_add(argv, "--distribution=arbitrary");
    argv_add(argv, "--nodelist");
    add_names(argv, a, c);
    argv_add_all(argv, rest);
}

/* Adds the launcher's arguments. With hydra, srun starts hydra's proxies, which start the ranks;
 * otherwise srun starts the ranks. */
static void add_start(struct argv_builder *argv, const struct allocation *a, const struct config *c,
                      enum launcher_kind kind)
{
    if (kind == LAUNCHER_hydra)
        mpiexec_add_hydra(argv, c, "slurm", a->names, interface_of(c));
    else
        add_srun(argv, a, c, kind);
}

static void add_ranks(struct argv_builder *argv, const struct mpiexec_job *job, const void *arg)
{
    const struct config *c = &job->job->point->config;
    const enum launcher_kind *kind = arg;
    const char *interface = interface_of(c);
    const char *const own[] = {interface != NULL ? "--nic" : NULL, interface, NULL};
    struct mpiexec_job there = *job;
    there.nic = interface;
    add_start(argv, job->job->allocation, c, *kind);
    mpiexec_add_planned(argv, &there, own);
}

static enum status check_nodes(const struct allocation *a, const struct config *c, struct error *e)
{
    long nodes = config_int(c, OPT_NODES);
    if (a->missing.status != OK) {
        *e = a->missing;
        return e->status;
    }
    if (a->n == 0)
        return error_set(e, ERR_UNAVAILABLE,
                         "site: slurm needs a Slurm job with %ld node%s, but no Slurm job was "
                         "found. Type: sbatch -N%ld configs/sites/bench.sbatch SPEC, or salloc "
                         "-N%ld",
                         nodes, nodes == 1 ? "" : "s", nodes, nodes);
    if (nodes <= a->n)
        return OK;
    return error_set(e, ERR_UNAVAILABLE,
                     "nodes = %ld, but this Slurm job has only %d. Type: sbatch -N%ld ...", nodes,
                     a->n, nodes);
}

/* Turns off srun's binding, and lets the launch's step share the job's resources with the runner's
 * step. Gives the step of Hydra's proxies the name a->steps, by which `cleanup` finds it; no name
 * if a->steps is "". */
static enum status add_environment(struct site_launch *launch, const struct allocation *a,
                                   struct error *e)
{
    char name[128];
    const char *const entries[] = {"SLURM_CPU_BIND=none", "SLURM_OVERLAP=1",
                                   a->steps[0] ? name : NULL, NULL};
    snprintf(name, sizeof name, "HYDRA_LAUNCHER_EXTRA_ARGS=--job-name=%s", a->steps);
    return mpiexec_add_environment(launch, entries, e);
}

/* Script that kills the campaign's steps, which survive a killed srun, and removes the ranks'
 * shared memory on each node. Waits at most 20 s for the steps, since a crashed node does not
 * answer. Exits with SITE_CLEANUP_GONE if the job has ended. */
static const char cleanup[] =
    "exec >/dev/null 2>&1\n"
    "gone=$3\n"
    "until=$(($(date +%s) + 20))\n"
    "leave_if_gone() {\n"
    "    state=$(timeout 5 squeue -h -j \"$SLURM_JOB_ID\" -o %t 2>&1)\n"
    "    status=$?\n"
    "    echo \"$state\" | grep -qxE 'R|RS|S|SI|ST' && return\n"
    "    case $status,$state in\n"
    "    0,* | *'Invalid job id'*) exit \"$gone\" ;;\n"
    "    esac\n"
    "}\n"
    "leave_if_gone\n"
    "while [ \"$(date +%s)\" -lt \"$until\" ] &&\n"
    "    steps=$(timeout 5 squeue -h -s -j \"$SLURM_JOB_ID\" -o '%i %j' | sed -n \"s/ "
    "$0\\$//p\") &&\n"
    "    [ -n \"$steps\" ]; do\n"
    "    timeout 5 scancel --signal=KILL $steps\n"
    "    sleep 0.2\n"
    "    leave_if_gone\n"
    "done\n"
    "n=$SLURM_JOB_NUM_NODES\n"
    "timeout 20 srun --overlap --overcommit --cpu-bind=none --mpi=none --input=none \\\n"
    "    --job-name=\"$0\" --nodes=\"$n\" --ntasks=\"$n\" --ntasks-per-node=1 \\\n"
    "    \"$1\" --leftovers-since \"$2\"\n"
    "leave_if_gone\n";

static enum status add_cleanup(struct site_launch *launch, const struct allocation *a,
                               const char *pin, time_t since, struct error *e)
{
    const char *const all[] = {"sh", "-c", cleanup, a->steps, pin, NULL};
    struct argv_builder argv = {0};
    if (!a->steps[0])
        return OK;
    argv_add_all(&argv, all);
    argv_format(&argv, "%lld", (long long)(since != 0 ? since : time(NULL)));
    argv_format(&argv, "%d", SITE_CLEANUP_GONE);
    return argv_finish(&argv, &launch->cleanup, "a command line", e);
}

static enum status add_rest(struct site_launch *launch, const struct allocation *a, const char *pin,
                            time_t since, struct error *e)
{
    TRY(add_environment(launch, a, e));
    return add_cleanup(launch, a, pin, since, e);
}

static enum status slurm_prepare(const struct site_job *job, struct site_launch *launch,
                                 struct error *e)
{
    static const struct launcher srun = {.path = "srun"};
    const struct config *c = &job->point->config;
    TRY(check_nodes(job->allocation, c, e));
    enum launcher_kind kind = launcher_of(job);
    struct site_job own = *job;
    if (kind == LAUNCHER_hydra)
        TRY(launcher_check_hydra(job->launcher, e));
    else
        own.launcher = &srun;
    TRY(mpiexec_prepare(&own, add_ranks, &kind, launch, e));
    return add_rest(launch, job->allocation, job->pin, 0, e);
}

enum status slurm_prepare_trial(const struct site_job *job, enum launcher_kind kind, time_t since,
                                struct site_launch *launch, struct error *e)
{
    struct config c;
    struct argv_builder argv = {0}, none = {0};
    config_borrow(&c, &job->point->config);
    c.values[OPT_RANKS].number = 2;
    c.values[OPT_NODES].number = job->allocation->n > 1 ? 2 : 1;
    *launch = (struct site_launch){0};
    argv_add(&argv, kind == LAUNCHER_hydra ? job->launcher->path : "srun");
    add_start(&argv, job->allocation, &c, kind);
    argv_add(&argv, job->program);
    enum status status = argv_finish(&argv, &launch->argv, "a command line", e);
    THEN(status, argv_finish(&none, &launch->environment, "a command line", e));
    THEN(status, add_rest(launch, job->allocation, job->pin, since, e));
    if (status != OK)
        site_launch_free(launch);
    return status;
}

extern const struct site site_slurm;
const struct site site_slurm = {.prepare = slurm_prepare, .by_daemons = true};
