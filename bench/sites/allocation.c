#include "bench/sites/allocation.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bench/sites/launcher.h"
#include "kernels/base/mem.h"

/* Returns whether this machine belongs to a Slurm cluster: it has a Slurm configuration and
 * sbatch. */
static bool has_client(void)
{
    static const char *const files[] = {"/etc/slurm/slurm.conf", "/run/slurm/conf/slurm.conf",
                                        "/etc/slurm-llnl/slurm.conf"};
    char path[4096];
    bool configured = getenv("SLURM_CONF") != NULL;
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        configured = configured || access(files[i], R_OK) == 0;
    return configured && launcher_find_program("sbatch", path, sizeof path);
}

static enum status add_name(struct allocation *a, const char *name, struct error *e)
{
    TRY(MEM_GROW(a->names, (size_t)a->n, "the nodes of a job", e));
    a->names[a->n] = strdup(name);
    return a->names[a->n++] != NULL ? OK : error_no_memory(e, "the nodes of a job");
}

/* Reads the names of the job's nodes. scontrol expands Slurm's notation, for example
 * "rack[1-2]n[07-12],login3". */
static enum status read_names(struct allocation *a, struct error *e)
{
    char line[256];
    enum status status = OK;
    FILE *in = popen("scontrol show hostnames \"$SLURM_JOB_NODELIST\"", "re");
    while (status == OK && in != NULL && fgets(line, sizeof line, in) != NULL) {
        line[strcspn(line, "\n")] = '\0';
        status = add_name(a, line, e);
    }
    if (in == NULL || pclose(in) != 0 || a->n == 0)
        return error_set(e, ERR_UNAVAILABLE,
                         "`scontrol show hostnames` does not list the nodes of this Slurm job "
                         "(SLURM_JOB_NODELIST='%s')",
                         getenv("SLURM_JOB_NODELIST"));
    return status;
}

void allocation_find(struct allocation *a)
{
    *a = (struct allocation){.launcher = LAUNCHER_auto};
    if (getenv("SLURM_JOB_ID") != NULL && getenv("SLURM_JOB_NODELIST") != NULL)
        read_names(a, &a->missing);
}

void allocation_name_steps(struct allocation *a, const char *run_dir)
{
    struct stat s = {0};
    stat(run_dir, &s);
    snprintf(a->steps, sizeof a->steps, "scalebench-%llx-%llx", (unsigned long long)s.st_dev,
             (unsigned long long)s.st_ino);
}

void allocation_free(struct allocation *a)
{
    while (a->n > 0)
        free(a->names[--a->n]);
    free(a->names);
    *a = (struct allocation){0};
}

/* Reads the size of the cluster's largest job (nodes or cores per node) from a variable that
 * `scalebench submit` sets; 0 if unset or not in 1..65536. */
static int size_of_largest_job(const char *name)
{
    const char *text = getenv(name);
    long number = text != NULL ? strtol(text, NULL, 10) : 0;
    return number > 0 && number <= 65536 ? (int)number : 0;
}

struct spec_machine allocation_machine(const struct place *place)
{
    struct place_machine m = place_machine(place);
    int nodes = size_of_largest_job("SCALEBENCH_NODES"),
        cores = size_of_largest_job("SCALEBENCH_CORES");
    bool job = m.slurm_nodes > 0;
    return (struct spec_machine){.usable_cores = job && cores > 0 ? cores : m.usable_cores,
                                 .nodes = job && nodes > m.slurm_nodes ? nodes : m.slurm_nodes,
                                 .batch = !job && has_client()};
}
