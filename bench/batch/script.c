#include "bench/batch/script.h"

#include <errno.h>
#include <string.h>

#include "bench/runner/campaign.h"

static bool begins(const char *line, const char *with)
{
    return strncmp(line, with, strlen(with)) == 0;
}

/* Writes an #SBATCH option with the cluster's value. If the cluster gives none, keeps the
 * template's line. */
static void write_option(FILE *out, const char *line, const char *option, const char *value)
{
    if (value[0] != '\0')
        fprintf(out, "#SBATCH --%s=%s\n", option, value);
    else
        fputs(line, out);
}

static void write_list(FILE *out, const struct script *s, enum cluster_key key, const char *before,
                       const char *after)
{
    size_t n;
    const struct node *items = cluster_list(s->cluster, key, &n);
    for (size_t i = 0; i < n; i++)
        fprintf(out, "%s%s%s", before, items[i].text, after);
}

static void write_modules(FILE *out, const struct script *s)
{
    fputs("modules=\"", out);
    write_list(out, s, CLUSTER_modules, "", " ");
    fputs("\"\n", out);
}

/* Writes the cluster's setup lines, and a line that exports SCALEBENCH_NODES and SCALEBENCH_CORES,
 * the size of the cluster's largest job (see cluster_machine). */
static void write_setup(FILE *out, const struct script *s)
{
    write_list(out, s, CLUSTER_setup, "", "\n");
    fprintf(out,
            "# Size of the largest job that %s allows. Every job reads the spec for this size,\n# "
            "and leaves points that do not fit to larger jobs.\n"
            "export SCALEBENCH_NODES=%ld SCALEBENCH_CORES=%ld\n\n",
            s->cluster->path, cluster_count(s->cluster, CLUSTER_nodes),
            cluster_count(s->cluster, CLUSTER_cores));
}

/* Writes words separated by blanks, quoted where a shell requires it, and ends the line. */
static void write_words(FILE *out, const char *const *words)
{
    char *none[] = {NULL};
    campaign_print_command(out, &(struct site_launch){.argv = (char **)words, .environment = none});
}

/* Writes shell lines that set `build` to the folder with the program scalebench, so that the job
 * can start in any folder. A nonempty $BUILD overrides this folder. */
static void write_program(FILE *out, const struct script *s)
{
    fputs("build=${BUILD:-}\n[ -n \"$build\" ] || build=", out);
    write_words(out, (const char *const[]){s->programs, NULL});
}

/* Writes the campaign's command with the user's options. */
static void write_run(FILE *out, const struct script *s)
{
    const char *set = s->set[0] != '\0' ? "--set" : NULL;
    fputs("exec \"$build/scalebench\" ", out);
    write_words(out, (const char *const[]){"run", s->spec, "--out", s->out, set, s->set, NULL});
}

static void write_line(FILE *out, const struct script *s, const char *line)
{
    if (begins(line, "##SBATCH --account="))
        write_option(out, line, "account", cluster_text(s->cluster, CLUSTER_account));
    else if (begins(line, "##SBATCH --partition="))
        write_option(out, line, "partition", cluster_text(s->cluster, CLUSTER_partition));
    else if (begins(line, "#SBATCH --time="))
        write_option(out, line, "time", cluster_text(s->cluster, CLUSTER_time));
    else if (begins(line, "#SBATCH --job-name="))
        fprintf(out,
                "#SBATCH --job-name=scalebench-%s\n"
                "# One job of a campaign at a time, in the order in which they were submitted.\n"
                "#SBATCH --dependency=singleton\n",
                s->name);
    else if (begins(line, "#SBATCH --nodes=")) {
        fprintf(out, "#SBATCH --nodes=%ld\n", s->nodes);
        write_list(out, s, CLUSTER_sbatch, "#SBATCH ", "\n");
    } else if (begins(line, "modules="))
        write_modules(out, s);
    else if (begins(line, "exec "))
        write_run(out, s);
    else if (begins(line, "build=")) {
        write_setup(out, s);
        write_program(out, s);
    } else if (!begins(line, "[ -x \"$build/")) /* left out: a job's folder has no Makefile */
        fputs(line, out);
}

/* Writes the script's head comment, in place of the template's. */
static void write_head(FILE *out, const struct script *s)
{
    fprintf(out,
            "#!/bin/bash\n"
            "# Campaign %s (%s) on %ld node%s, written by `scalebench submit --site %s` from\n"
            "# configs/sites/bench.sbatch.\n\n",
            s->name, s->spec, s->nodes, s->nodes == 1 ? "" : "s", s->cluster->path);
}

enum status script_write(FILE *out, const void *arg, struct error *e)
{
    const struct script *script = arg;
    char line[1024];
    bool head = true;
    FILE *in = fopen(script->template, "re");
    if (in == NULL)
        return error_at(e, ERR_SYSTEM, script->template, 0, 0, "%s", strerror(errno));
    write_head(out, script);
    while (fgets(line, sizeof line, in) != NULL) {
        if (!head)
            write_line(out, script, line);
        head = head && line[0] == '#';
    }
    fclose(in);
    return OK;
}
