/* `scalebench doctor`: checks a site before anything is measured there. Runs a campaign of one
 * launch, whose program doctor_ranks tests cores and links. */
#include <stdlib.h>
#include <string.h>

#include "bench/base/log.h"
#include "bench/batch/job.h"
#include "bench/doctor/print.h"
#include "bench/runner/campaign.h"
#include "bench/runner/commands/commands.h"
#include "bench/runner/commands/stale.h"
#include "bench/runner/run_spec.h"
#include "bench/spec/matrix.h"
#include "bench/spec/value.h"
#include "kernels/base/terminal.h"
#include "kernels/base/text.h"

/* ---- The spec ---- */

/* options of the site, copied from the user's spec to doctor's spec */
static const enum option_id of_site[] = {OPT_SITE_RATE, OPT_SITE_DELAY, OPT_SITE_LAUNCHER,
                                         OPT_SITE_MACHINES, OPT_SITE_INTERFACE};

struct spec_text {
    const char *program;
    const struct config *site; /* options of the point with the most nodes in the user's spec, not
                                  counting simulated points; NULL: no spec was given */
    bool sized;                /* whether --set sets the number of ranks */
};

/* file that doctor's spec extends if the user gave no spec; the site.hosts in this file applies
 * only if --set chooses an emulated site */
#define BASE_NAME "doctor_base.yaml"
#define BASE      "# Written by `scalebench doctor`.\nsite.hosts: 4\n"

/* Returns the number of emulated hosts: site.hosts or, by default, the point's number of nodes, but
 * at least 2. 0: the site has no emulated hosts. */
static long hosts_of(const struct config *site)
{
    long hosts = config_int(site, OPT_SITE_HOSTS), nodes = config_int(site, OPT_NODES);
    if (!config_site(site)->shares_cores)
        return 0;
    return hosts > 0 ? hosts : nodes > 1 ? nodes : 2;
}

static void write_option(FILE *out, const struct config *site, enum option_id id)
{
    fprintf(out, "%s: ", option_get(id)->key);
    if (option_get(id)->type == TYPE_TEXT)
        value_write_quoted(out, config_text(site, id));
    else
        fputs(config_text(site, id), out);
    fputc('\n', out);
}

static void write_site(FILE *out, const struct config *site)
{
    long hosts = hosts_of(site);
    fprintf(out, "site: %s\n", config_text(site, OPT_SITE));
    for (size_t i = 0; i < sizeof of_site / sizeof *of_site; i++)
        if (!value_is_preset(option_get(of_site[i]), &site->values[of_site[i]]))
            write_option(out, site, of_site[i]);
    write_option(out, site, OPT_NODES);
    if (hosts > 0)
        fprintf(out, "site.hosts: %ld\n", hosts);
}

static enum status write_base(FILE *out, const void *arg, struct error *e)
{
    fputs(BASE, out);
    return OK;
}

static enum status write_spec(FILE *out, const void *arg, struct error *e)
{
    const struct spec_text *text = arg;
    fputs("# Written by `scalebench doctor`, which runs it.\n"
          "name: doctor\n"
          "workload: {command: [",
          out);
    value_write_quoted(out, text->program);
    fputs(", \"{record}\"]}\n"
          "place: {oversubscribe: allow}\n"
          "measure: {time: {launches: 1..1}, retries: 0, limit: 5min}\n"
          "figures: []\n",
          out);
    if (!text->sized)
        fputs("ranks_per_node: full\n", out);
    if (text->site != NULL)
        write_site(out, text->site);
    else
        fputs("extends: " BASE_NAME "\nnodes: auto\n", out);
    return OK;
}

static enum status refuse_simulated(struct error *e)
{
    return error_set(e, ERR_ARGUMENT,
                     "doctor: site: simulated has no cores or links to check. Use another site");
}

/* Returns the options of the point with the most nodes, among points that are not simulated. NULL
 * if all points are simulated. */
static const struct config *largest_site(const struct spec *spec)
{
    const struct config *largest = NULL;
    for (size_t i = 0; i < spec->n_points; i++) {
        const struct config *c = &spec->points[i].config;
        if (config_is_simulated(c))
            continue;
        if (largest == NULL || config_int(c, OPT_NODES) > config_int(largest, OPT_NODES))
            largest = c;
    }
    return largest;
}

static enum status make_spec(char path[PATH_BYTES], const struct arguments *a, struct error *e)
{
    char program[PATH_BYTES], folder[PATH_BYTES], base[PATH_BYTES];
    struct spec spec = {0};
    TRY(tools_program(a->tools, "doctor_ranks", program, e));
    TRY(path_format(folder, e, "%s/doctor", a->out));
    TRY(path_format(path, e, "%s/doctor.yaml", folder));
    TRY(path_format(base, e, "%s/" BASE_NAME, folder));
    TRY(folder_make(folder, e));
    TRY(file_write(base, write_base, NULL, e));
    struct spec_text text = {.program = program,
                             .sized = a->set != NULL && matrix_set_column(a->set, "ranks=") > 0};
    enum status status = a->operand != NULL ? spec_load_here(&spec, a->operand, NULL, e) : OK;
    if (status == OK && a->operand != NULL)
        text.site = largest_site(&spec);
    if (status == OK && a->operand != NULL && text.site == NULL)
        status = refuse_simulated(e);
    THEN(status, file_write(path, write_spec, &text, e));
    spec_free(&spec);
    return status;
}

/* Refuses training options in --set, because doctor trains nothing; seed, threads and batch sizes
 * are accepted. Also refuses site=simulated, which has no cores or links to check. */
static enum status check_set(const struct arguments *a, struct error *e)
{
    const char *set = a->set != NULL ? a->set : "";
    if (matrix_set_column(set, "site=simulated") > 0)
        return refuse_simulated(e);
    struct config config = {.values = {[OPT_WORKLOAD] = {.number = WORKLOAD_command}}};
    for (enum option_id id = 0; id < OPT_OWN; id++) {
        char word[96];
        const char *key = option_get(id)->key;
        snprintf(word, sizeof word, "%s=", key);
        int column = matrix_set_column(set, word);
        if (column > 0 && !config_reads(&config, id))
            return mark_error(e, ERR_SPEC, mark_in(words_files[WORDS_SET], 1, column),
                              "doctor: %s has no effect, because nothing is trained. Use options "
                              "of the site, such as site, nodes, ranks and place.*",
                              key);
    }
    return OK;
}

/* ---- The run ---- */

static enum status check_able(const struct campaign *c, struct error *e)
{
    const struct config *config = &c->spec.points[0].config;
    if (c->spec.n_points > 1)
        return error_set(e, ERR_ARGUMENT,
                         "doctor: --set makes %zu points, expected one. Give one value per option",
                         c->spec.n_points);
    if (config_int(config, OPT_SITE) == SITE_slurm && c->allocation.n == 0 &&
        c->allocation.missing.status == OK)
        return error_set(e, ERR_UNAVAILABLE,
                         "doctor: site: slurm works only inside a Slurm job. Type: salloc -N%ld "
                         "build/scalebench doctor",
                         config_int(config, OPT_NODES));
    if (c->refusals[0][0])
        return error_set(e, ERR_UNAVAILABLE, "doctor: %s", c->refusals[0]);
    return OK;
}

static enum status check_launch(const struct campaign *c, struct error *e)
{
    size_t n = c->journal.n_launches;
    if (n > 0 && launch_is_done(&c->journal.launches[n - 1]))
        return OK;
    return error_set(e, ERR_MPI, "doctor: the measurement failed: %s",
                     n > 0 ? c->journal.launches[n - 1].reason : "no launch was started");
}

static enum status examine(const struct campaign *c, struct examination *x, struct error *e)
{
    char folder[PATH_BYTES];
    TRY(path_format(folder, e, "%s/%s", c->run_dir,
                    c->journal.launches[c->journal.n_launches - 1].launch));
    return examination_read(x, folder, e);
}

static enum status write_tables(const struct campaign *c, const struct diagnosis *d,
                                struct error *e)
{
    TRY(doctor_write(&doctor_cores, c->run_dir, d->cores, d->n_cores, e));
    TRY(doctor_write(&doctor_links, c->run_dir, d->links, d->n_links, e));
    TRY(doctor_write(&doctor_findings, c->run_dir, d->findings, d->n_findings, e));
    return doctor_write_dictionary(c->run_dir, e);
}

static void print_head(FILE *out, const struct campaign *c, const struct examination *x)
{
    const struct config *config = &c->spec.points[0].config;
    char nodes[TEXT_NUMBER], ranks[TEXT_NUMBER], wall[TEXT_NUMBER], link[LINK_BYTES];
    const struct journal_launch *l = &c->journal.launches[c->journal.n_launches - 1];
    bool linked = site_link(link, config);
    if (!linked && config_site(config)->shares_cores) {
        config_link(link, config);
        linked = true;
    }
    fprintf(out, "doctor  %s, %s | %s%s%s | %s | %s | %s\n",
            text_plural(nodes, (long)x->n_nodes, "node"),
            text_plural(ranks, config_int(config, OPT_RANKS), "rank"),
            config_text(config, OPT_SITE), linked ? ", " : "", linked ? link : "", x->nodes[0].cpu,
            x->nodes[0].mpi, text_wall_time(wall, l->wall_s));
}

static enum status print_diagnosis(const struct campaign *c, const struct examination *x, FILE *out,
                                   int *exit_status, struct error *e)
{
    char stale[256];
    struct diagnosis d;
    bool is_stale = stale_find(stale, sizeof stale, c->tools);
    enum status status = diagnosis_make(&d, x, is_stale ? stale : NULL, e);
    THEN(status, write_tables(c, &d, e));
    if (status == OK) {
        print_head(out, c, x);
        doctor_print(out, x, &d, terminal_width(out));
        fprintf(out, "Numbers: %s/latest/cores.csv, links.csv, findings.csv\n", c->folder);
        *exit_status = d.n_counting > 0 ? 1 : 0;
    }
    diagnosis_free(&d);
    return status;
}

static enum status run(struct campaign *c, FILE *out, int *exit_status, struct error *e)
{
    struct examination x = {0};
    TRY(check_able(c, e));
    TRY(campaign_open_run(c, e));
    enum status status = campaign_run(c, e);
    if (status == ERR_INTERRUPTED) {
        log_print(LOG_NOTE, "interrupted");
        *exit_status = 128 + c->interrupt.signal;
        return OK;
    }
    THEN(status, check_launch(c, e));
    THEN(status, campaign_link_latest(c, e));
    THEN(status, examine(c, &x, e));
    THEN(status, print_diagnosis(c, &x, out, exit_status, e));
    examination_free(&x);
    return status;
}

enum status command_doctor(const struct arguments *a, FILE *out, int *exit_status, struct error *e)
{
    char spec[PATH_BYTES];
    struct campaign_request request = {
        .spec = spec, .set = a->set, .out = a->out, .fresh = true, .command = a->command};
    struct campaign c;
    TRY(check_set(a, e));
    TRY(job_move(a->tools, a->command, e));
    TRY(make_spec(spec, a, e));
    enum status status = campaign_prepare(&c, &request, a->tools, e);
    THEN(status, run(&c, out, exit_status, e));
    campaign_close(&c);
    return status;
}
