#include "bench/batch/job.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench/base/log.h"
#include "bench/sites/argv.h"

/* Returns whether this process belongs to a Slurm job but runs outside the job's nodes. On these
 * nodes, slurmd sets SLURMD_NODENAME. */
static bool is_beside_its_job(void)
{
    return getenv("SLURM_JOB_ID") != NULL && getenv("SLURM_JOB_NODELIST") != NULL &&
           getenv("SLURMD_NODENAME") == NULL;
}

enum status job_move(const struct tools *tools, char *const *command, struct error *e)
{
    static const char *const step[] = {
        "srun",      "--nodes=1",  "--ntasks=1",      "--relative=0",
        "--overlap", "--mpi=none", "--cpu-bind=none", "--quit-on-interrupt",
        NULL};
    char program[PATH_BYTES], **all;
    struct argv_builder argv = {0};
    if (!is_beside_its_job())
        return OK;
    TRY(tools_program(tools, "scalebench", program, e));
    argv_add_all(&argv, step);
    argv_add(&argv, program);
    argv_add_all(&argv, (const char *const *)command + 1);
    TRY(argv_finish(&argv, &all, "a command line", e));
    log_print(LOG_NOTE,
              "this shell is not on a node of the Slurm job (nodes %s): continuing on the job's "
              "first node",
              getenv("SLURM_JOB_NODELIST"));
    fflush(NULL);
    execvp(all[0], all);
    free(all);
    return error_set(e, ERR_UNAVAILABLE, "cannot run srun: %s", strerror(errno));
}

enum status job_check(const struct campaign *c, struct error *e)
{
    long nodes = 0;
    bool none = c->allocation.n == 0 && c->allocation.missing.status == OK;
    for (size_t i = 0; i < c->spec.n_points && none; i++) {
        const struct config *config = &c->spec.points[i].config;
        if (config_int(config, OPT_SITE) == SITE_slurm && config_int(config, OPT_NODES) > nodes)
            nodes = config_int(config, OPT_NODES);
    }
    if (nodes == 0)
        return OK;
    const char *set = c->request->set;
    return error_set(e, ERR_UNAVAILABLE,
                     "%s: expected a Slurm job, found none. Type: sbatch -N%ld "
                     "configs/sites/bench.sbatch %s%s%s%s",
                     c->request->spec, nodes, c->request->spec, set != NULL ? " --set \"" : "",
                     set != NULL ? set : "", set != NULL ? "\"" : "");
}
