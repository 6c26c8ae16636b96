/* `scalebench submit`: submits the missing launches of a campaign as Slurm jobs. A file describes
 * the cluster. */
#include <stdlib.h>
#include <string.h>

#include "bench/base/log.h"
#include "bench/batch/cluster.h"
#include "bench/batch/missing.h"
#include "bench/batch/script.h"
#include "bench/runner/commands/commands.h"
#include "kernels/base/mem.h"

struct submission {
    const struct arguments *a;
    FILE *out;
    struct cluster cluster;
    struct spec spec;
    char template[PATH_BYTES];
    char *set; /* values of --set, and settings from the cluster's file */
};

/* Appends a setting from the cluster's file, such as "site.launcher=pmi2". Skips a setting that
 * equals the default or that the spec sets. */
static enum status add_set(struct submission *s, enum cluster_key key, enum option_id option,
                           struct error *e)
{
    char *longer = NULL;
    const char *value = cluster_text(&s->cluster, key);
    const struct value *site = &s->spec.config.values[OPT_SITE];
    /* Skip site.launcher and site.interface if the spec sets a site other than slurm. Their values
     * in the cluster's file are meant for Slurm nodes, and the spec reader may reject a value that
     * no point reads. */
    bool elsewhere =
        site->set && site->number != SITE_slurm && !scope_is_campaign(option_get(option)->scope);
    if (value[0] == '\0' || strcmp(value, option_get(option)->preset) == 0 || elsewhere ||
        s->spec.config.values[option].set)
        return OK;
    if (asprintf(&longer, "%s%s%s=%s", s->set, s->set[0] ? " " : "", option_get(option)->key,
                 value) < 0)
        return error_no_memory(e, "a script");
    free(s->set);
    s->set = longer;
    return OK;
}

static enum status read_all(struct submission *s, struct error *e)
{
    const struct arguments *a = s->a;
    TRY(cluster_read(&s->cluster, a->site, s->a->tools->home, e));
    struct spec_machine machine = cluster_machine(&s->cluster);
    TRY(spec_load(&s->spec, a->operand, a->set, &machine, e));
    s->set = strdup(a->set != NULL ? a->set : "");
    if (s->set == NULL)
        return error_no_memory(e, "a script");
    TRY(add_set(s, CLUSTER_launcher, OPT_SITE_LAUNCHER, e));
    TRY(add_set(s, CLUSTER_interface, OPT_SITE_INTERFACE, e));
    TRY(add_set(s, CLUSTER_price_per_core_hour, OPT_SITE_PRICE, e));
    TRY(path_format(s->template, e, "configs/sites/bench.sbatch"));
    if (path_exists(s->template))
        return OK;
    return path_format(s->template, e, "%s/configs/sites/bench.sbatch", s->a->tools->home);
}

/* Submits a script and stores the number of the job in `job`. sbatch may append ';' and the
 * cluster's name to the number. sbatch prints its own error messages. */
static enum status submit_script(const char *path, char job[64], struct error *e)
{
    char *argv[] = {"sbatch", "--parsable", (char *)path, NULL};
    int status = program_ask(argv, false, job, 64);
    if (status < 0)
        return error_set(
            e, ERR_UNAVAILABLE,
            "cannot start sbatch. Run `sbatch %s` on a machine where sbatch is on PATH", path);
    if (status > 0 || job[0] == '\0')
        return error_set(e, ERR_UNAVAILABLE,
                         "sbatch refused the job with exit status %d; the message of sbatch is "
                         "above. The job script is %s",
                         status, path);
    job[strcspn(job, ";")] = '\0';
    return OK;
}

static enum status submit_job(const struct submission *s, long nodes, struct error *e)
{
    char folder[PATH_BYTES], path[PATH_BYTES], job[64];
    const char *name = config_text(&s->spec.config, OPT_NAME);
    const struct script script = {.cluster = &s->cluster,
                                  .template = s->template,
                                  .programs = s->a->tools->folder,
                                  .name = name,
                                  .spec = s->a->operand,
                                  .set = s->set,
                                  .out = s->a->out,
                                  .nodes = nodes};
    if (s->a->dry_run)
        return script_write(s->out, &script, e);
    TRY(path_format(folder, e, "%s/%s/jobs", s->a->out, name));
    TRY(folder_make(folder, e));
    TRY(path_format(path, e, "%s/nodes-%ld.sbatch", folder, nodes));
    TRY(file_write(path, script_write, &script, e));
    TRY(submit_script(path, job, e));
    fprintf(s->out, "job %s: %ld node%s, %s\n", job, nodes, nodes == 1 ? "" : "s", path);
    return OK;
}

/* Submits one job, on the largest number of nodes in m->nodes. With --per-nodes, submits one job
 * for each number in m->nodes, smallest first. Each job runs the missing launches that fit its
 * nodes. */
static enum status submit_all(struct submission *s, const struct missing *m, struct error *e)
{
    long most = m->n > 0 ? m->nodes[m->n - 1] : 0;
    for (size_t i = 0; i < m->n; i++)
        if (s->a->per_nodes || m->nodes[i] == most)
            TRY(submit_job(s, m->nodes[i], e));
    return OK;
}

/* Checks that the cluster's largest job has enough nodes for every missing point, and enough cores
 * per node for at least one missing point. */
static enum status check_size(const struct submission *s, const struct missing *m, struct error *e)
{
    long nodes = cluster_count(&s->cluster, CLUSTER_nodes);
    if (m->n > 0 && m->nodes[m->n - 1] > nodes)
        return error_set(
            e, ERR_UNAVAILABLE,
            "a point needs %ld nodes, but %s allows at most %ld nodes per job. Leave the point out",
            m->nodes[m->n - 1], s->cluster.path, nodes);
    if (m->n > 0 && cluster_text(&s->cluster, CLUSTER_cores)[0] == '\0')
        log_print(LOG_WARNING,
                  "%s does not state `cores`: 1 core per node is assumed. Set `cores` to the "
                  "number of cores per node that a job may use",
                  s->cluster.path);
    if (m->n > 0 && m->too_large != NULL)
        log_print(LOG_WARNING,
                  "%s needs %ld cores per node, but `cores` in %s is %ld: no job runs this point. "
                  "Correct `cores`, or use place.oversubscribe: allow",
                  m->too_large->label, missing_cores(m->too_large), s->cluster.path,
                  cluster_count(&s->cluster, CLUSTER_cores));
    if (m->n > 0 || m->too_large == NULL)
        return OK;
    return error_set(e, ERR_UNAVAILABLE,
                     "no remaining point fits a job of %ld node%s with %ld core%s per node (limits "
                     "in %s): '%s' needs %ld cores per node. Correct the limit `cores`, or use "
                     "place.oversubscribe: allow",
                     nodes, nodes == 1 ? "" : "s", cluster_count(&s->cluster, CLUSTER_cores),
                     cluster_count(&s->cluster, CLUSTER_cores) == 1 ? "" : "s", s->cluster.path,
                     m->too_large->label, missing_cores(m->too_large));
}

static enum status submit(struct submission *s, struct error *e)
{
    struct missing m;
    TRY(read_all(s, e));
    struct spec_machine machine = cluster_machine(&s->cluster);
    enum status status = missing_find(&m, &s->spec, &machine, s->a->out, e);
    THEN(status, check_size(s, &m, e));
    if (status == OK && m.n == 0 && m.simulated > 0)
        fprintf(s->out,
                "only simulated points are missing, which need no job. Run them here: "
                "scalebench run %s\n",
                s->a->operand);
    else if (status == OK && m.n == 0)
        fprintf(s->out, "nothing is missing: no job\n");
    THEN(status, submit_all(s, &m, e));
    missing_free(&m);
    return status;
}

enum status command_submit(const struct arguments *a, FILE *out, int *exit_status, struct error *e)
{
    if (a->site == NULL)
        return error_set(e, ERR_ARGUMENT,
                         "submit: --site is missing; expected the name of a cluster, described in "
                         "configs/sites/<name>.yaml. To describe a new cluster, copy "
                         "configs/sites/example.yaml");
    struct submission *s;
    TRY(MEM_NEW(s, 1, "a submission", e));
    *s = (struct submission){.a = a, .out = out};
    enum status status = submit(s, e);
    cluster_free(&s->cluster);
    spec_free(&s->spec);
    free(s->set);
    free(s);
    return status;
}
