/* Tests batch jobs: the file of a cluster, the script of a job, and the missing launches of a
 * campaign. */
#include "bench/spec/tests/spec_file.h"

#include <ftw.h>

#include "bench/batch/cluster.h"
#include "bench/batch/missing.h"
#include "bench/batch/script.h"
#include "bench/launch/launch.h"
#include "bench/sites/slurm.h"

#define TEMPLATE "configs/sites/bench.sbatch"

/* ---- A cluster ---- */

static void read_cluster(struct cluster *c, const char *text)
{
    struct error e = {.status = OK};
    write_file(text, strlen(text));
    if (cluster_read(c, file, "/nowhere", &e) != OK)
        fail_msg("%s", e.text);
}

static void a_cluster_is_read(void **state)
{
    struct cluster c;
    size_t n;
    read_cluster(&c, "partition: short\nnodes: 16\ncores: 40\nmodules: [gcc/12, mpich]\n");
    assert_string_equal(cluster_text(&c, CLUSTER_partition), "short");
    assert_string_equal(cluster_text(&c, CLUSTER_account), "");
    assert_string_equal(cluster_list(&c, CLUSTER_modules, &n)[1].text, "mpich");
    assert_int_equal(n, 2);
    assert_null(cluster_list(&c, CLUSTER_setup, &n));
    assert_int_equal(n, 0);
    struct spec_machine machine = cluster_machine(&c);
    assert_int_equal(machine.nodes, 16);
    assert_int_equal(machine.usable_cores, 40);
    cluster_free(&c);
}

static void repeated_values_are_read(void **state)
{
    struct cluster c;
    size_t n;
    read_cluster(&c, "x-large: &large {nodes: 16, cores: 40}\nx-tools: [&gcc gcc/12, &mpi mpich]\n"
                     "<<: *large\nnodes: 2\nmodules: [*mpi, *gcc]\n");
    assert_int_equal(cluster_count(&c, CLUSTER_nodes), 2);
    assert_int_equal(cluster_count(&c, CLUSTER_cores), 40);
    assert_string_equal(cluster_list(&c, CLUSTER_modules, &n)[0].text, "mpich");
    cluster_free(&c);
}

static void what_is_not_said_is_one(void **state)
{
    struct cluster c;
    read_cluster(&c, "account: physics\n");
    assert_int_equal(cluster_count(&c, CLUSTER_nodes), 1);
    assert_int_equal(cluster_machine(&c).usable_cores, 1);
    cluster_free(&c);
}

static void the_example_is_one_to_copy(void **state)
{
    struct cluster c;
    struct error e = {.status = OK};
    assert_int_equal(cluster_read(&c, "example", "/nowhere", &e), OK);
    assert_string_equal(c.path, "configs/sites/example.yaml");
    assert_int_equal(c.root.n, CLUSTER_KEYS);
    cluster_free(&c);
    assert_int_equal(cluster_read(&c, "nowhere", "/nowhere", &e), ERR_ARGUMENT);
    assert_non_null(
        strstr(e.text,
               "--site nowhere: found neither a file of this name nor configs/sites/nowhere.yaml"));
    cluster_free(&c);
}

static enum status read_bad(const char *path, struct error *e)
{
    struct cluster c;
    enum status status = cluster_read(&c, path, "/nowhere", e);
    cluster_free(&c);
    return status;
}

static void bad_clusters_are_refused(void **state)
{
    corpus_check("bench/tests/bad/cluster", 5, read_bad);
}

static void times_of_sbatch_are_read(void **state)
{
    static const char *const times[] = {"\"\"",     "2",         "60",    "02:00", "90:30",
                                        "00:02:00", "1:00:00",   "10:00", "0-01",  "0-01:00",
                                        "0-00:10",  "0-1:00:00", "7-00"};
    for (size_t i = 0; i < sizeof times / sizeof *times; i++) {
        char text[64];
        struct cluster c;
        snprintf(text, sizeof text, "time: %s\n", times[i]);
        read_cluster(&c, text);
        cluster_free(&c);
    }
}

/* ---- The script ---- */

/* Returns the script; free with free. */
static char *write_script(const char *cluster, const char *set, long nodes)
{
    struct cluster c;
    struct error e = {.status = OK};
    char *text;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    read_cluster(&c, cluster);
    const struct script script = {.cluster = &c,
                                  .template = TEMPLATE,
                                  .name = "small",
                                  .spec = "my specs/small.yaml",
                                  .set = set,
                                  .out = "results",
                                  .nodes = nodes};
    assert_int_equal(script_write(out, &script, &e), OK);
    assert_int_equal(fclose(out), 0);
    cluster_free(&c);
    return text;
}

static int count_lines(const char *script, const char *line)
{
    int n = 0;
    size_t length = strlen(line);
    for (const char *at = script; *at; at += strcspn(at, "\n") + 1)
        n += strncmp(at, line, length) == 0 && at[length] == '\n';
    return n;
}

static void assert_line(const char *script, const char *line)
{
    if (count_lines(script, line) != 1)
        fail_msg("%d lines '%s' in\n%s", count_lines(script, line), line, script);
}

static void a_script_says_what_the_cluster_does(void **state)
{
    char *script = write_script("account: physics\ntime: 10\nnodes: 4\ncores: 32\n"
                                "sbatch: [--qos=short, --mail-type=END]\nmodules: [gcc, mpich]\n"
                                "setup: [\"export UCX_TLS=rc\"]\n",
                                "train.epochs=1 matrix.ranks=[1,2]", 2);
    static const char *const lines[] = {
        "#!/bin/bash",
        "#SBATCH --account=physics",
        "##SBATCH --partition=PARTITION",
        "#SBATCH --time=10",
        "#SBATCH --job-name=scalebench-small",
        "#SBATCH --dependency=singleton",
        "#SBATCH --nodes=2",
        "#SBATCH --qos=short",
        "#SBATCH --mail-type=END",
        "#SBATCH --exclusive",
        "modules=\"gcc mpich \"",
        "export UCX_TLS=rc",
        "export SCALEBENCH_NODES=4 SCALEBENCH_CORES=32",
        "exec \"$build/scalebench\" run 'my specs/small.yaml' --out results --set "
        "'train.epochs=1 matrix.ranks=[1,2]'",
    };
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        assert_line(script, lines[i]);
    assert_int_equal(count_lines(script, "##SBATCH --account=ACCOUNT"), 0);
    free(script);
}

/* sbatch reads options only up to the first command. */
static void a_scripts_options_stand_before_its_commands(void **state)
{
    char *script = write_script("sbatch: [--qos=short]\n", "", 1);
    const char *command = strstr(script, "\nmodules=");
    assert_non_null(command);
    assert_null(strstr(command, "#SBATCH"));
    assert_non_null(strstr(script, "\n#SBATCH --qos=short\n"));
    assert_line(script, "modules=\"\"");
    assert_line(script, "#SBATCH --time=01:00:00");
    assert_line(script, "exec \"$build/scalebench\" run 'my specs/small.yaml' --out results");
    free(script);
}

/* ---- Missing launches ---- */

#define FOUR_NODES                                                                                 \
    BODY "sync.strategy: allreduce\nmatrix: {nodes: [1, 2, 3, 4]}\nranks_per_node: 1\n"
#define TWO_LAUNCHES "measure: {time: {launches: 2..2}, accuracy: {seeds: []}}\n"

static char results[] = "/tmp/test_batch.XXXXXX";

static int make_both(void **state)
{
    return mkdtemp(results) == NULL || make_file(state) != 0 ? -1 : 0;
}

static int remove_entry(const char *path, const struct stat *info, int type, struct FTW *place)
{
    return remove(path);
}

static int remove_both(void **state)
{
    return remove_file(state) | nftw(results, remove_entry, 8, FTW_DEPTH | FTW_PHYS);
}

/* Writes a journal of two blocks without the last launch of the point on `lacking` nodes (0:
 * complete). */
static void write_journal(const struct spec *spec, long lacking)
{
    char path[256];
    snprintf(path, sizeof path, "mkdir -p %s/test/latest", results);
    assert_int_equal(system(path), 0);
    snprintf(path, sizeof path, "%s/test/latest/journal.jsonl", results);
    FILE *out = fopen(path, "w");
    assert_non_null(out);
    for (int block = 0; block < 2; block++)
        for (size_t i = 0; i < spec->n_points; i++) {
            const struct point *p = &spec->points[i];
            if (block == 1 && config_int(&p->config, OPT_NODES) == lacking)
                continue;
            fprintf(out,
                    "{\"event\":\"running\",\"launch\":\"launches/%s/time-00%d\",\"point\":\"%s\","
                    "\"run\":\"time\",\"block\":%d,\"seed\":1}\n"
                    "{\"event\":\"done\",\"launch\":\"launches/%s/time-00%d\",\"status\":\"ok\","
                    "\"reason\":\"\",\"wall_s\":5.0,\"step_ms\":10.0,\"images\":64}\n",
                    p->id, block, p->id, block, p->id, block);
        }
    assert_int_equal(fclose(out), 0);
}

/* `expected` lists numbers of nodes: "2 3 4". */
static void assert_missing(const struct spec *spec, const char *expected)
{
    struct missing m;
    struct error e = {.status = OK};
    char text[256] = "";
    const struct spec_machine machine = {.usable_cores = 1, .nodes = 4};
    if (missing_find(&m, spec, &machine, results, &e) != OK)
        fail_msg("%s:%d: %s", e.file, e.line, e.text);
    for (size_t i = 0; i < m.n; i++)
        sprintf(text + strlen(text), "%s%ld", i > 0 ? " " : "", m.nodes[i]);
    missing_free(&m);
    assert_string_equal(text, expected);
}

/* The base needs no job, since it runs beside each of the others. */
static void what_comes_with_others_wants_no_job(void **state)
{
    struct spec spec;
    load(&spec, FOUR_NODES TWO_LAUNCHES, NULL);
    assert_missing(&spec, "2 3 4");
    spec_free(&spec);
    load(&spec, FOUR_NODES "measure: {time: {launches: 2..2}, accuracy: {seeds: [1]}}\n", NULL);
    assert_missing(&spec, "1 2 3 4");
    spec_free(&spec);
    load(&spec, BODY "ranks: 1\n" TWO_LAUNCHES, NULL);
    assert_missing(&spec, "1");
    spec_free(&spec);
}

static void what_is_done_is_not_missing(void **state)
{
    struct spec spec;
    load(&spec, FOUR_NODES TWO_LAUNCHES, NULL);
    write_journal(&spec, 0);
    assert_missing(&spec, "");
    write_journal(&spec, 3);
    assert_missing(&spec, "3");
    spec_free(&spec);
}

/* A base runs alone if no other point fits a node; a point that does not fit needs no job. */
static void what_no_node_holds_wants_no_job(void **state)
{
    struct spec spec;
    load(&spec, BODY "sync.strategy: allreduce\nmatrix: {ranks: [1, 6]}\nnodes: 1\n" TWO_LAUNCHES,
         NULL);
    assert_missing(&spec, "1");
    spec_free(&spec);
    load(&spec, BODY "ranks: 1\nplace.threads_per_rank: 2\n" TWO_LAUNCHES, NULL);
    assert_missing(&spec, "");
    spec_free(&spec);
}

/* If a launch of the base is lost, all others lack a partner. */
static void a_lost_base_is_missing_beside_the_others(void **state)
{
    struct spec spec;
    load(&spec, FOUR_NODES TWO_LAUNCHES, NULL);
    write_journal(&spec, 1);
    assert_missing(&spec, "2 3 4");
    spec_free(&spec);
}

/* ---- Leftovers of a launch on nodes ---- */

/* Writes Slurm programs that log their calls, and a clock that advances 9 s at each reading. */
static void write_slurm(const char *state, const char *steps)
{
    static const char format[] =
        "mkdir -p %1$s/bin && cd %1$s/bin && echo 0 >now && rm -f calls &&\n"
        "for name in scancel srun; do echo 'echo '$name' >>%1$s/bin/calls' >$name; done\n"
        "echo 'n=$(cat %1$s/bin/now); echo $((n + 9)) | tee %1$s/bin/now' >date\n"
        "echo 'case \"$*\" in *-s*) echo \"%3$s\" ;; *) %2$s ;; esac' >squeue\n"
        "for name in scancel srun date squeue; do sed -i '1i #!/bin/sh' $name; done; chmod +x *\n";
    char script[1024];
    snprintf(script, sizeof script, format, results, state, steps);
    assert_int_equal(system(script), 0);
}

static int count_calls(const char *name)
{
    char path[256], line[64];
    int n = 0;
    snprintf(path, sizeof path, "%s/bin/calls", results);
    FILE *in = fopen(path, "r");
    while (in != NULL && fgets(line, sizeof line, in) != NULL)
        n += strncmp(line, name, strlen(name)) == 0;
    if (in != NULL)
        fclose(in);
    return n;
}

/* A crashed node keeps its step. A job that has ended has no steps, and cleaning stops. */
static void cleaning_ends_with_the_job(void **state)
{
    static const struct {
        const char *state, *steps;
        int scancels_least, scancels_most, sruns;
        bool gone;
    } rows[] = {
        {"echo R", "", 0, 0, 1, false},
        {"echo PD; echo R", "", 0, 0, 1, false}, /* of an array */
        {"echo R", "7.1 steps", 1, 3, 1, false},
        {"true", "7.1 steps", 0, 0, 0, true},
        {"echo CG", "7.1 steps", 0, 0, 0, true},
        {"echo slurm_load_jobs error: Invalid job id specified; exit 1", "", 0, 0, 0, true},
        {"echo slurm_load_jobs error: Unable to contact slurm controller; exit 1", "", 0, 0, 1,
         false},
    };
    struct spec spec;
    struct error e = {.status = OK};
    struct site_launch launch;
    char *names[] = {"n0", "n1"}, path[4096];
    const struct allocation allocation = {.names = names, .n = 2, .steps = "steps"};
    const struct launcher launcher = {.path = "srun"};
    load(&spec, FOUR_NODES TWO_LAUNCHES, NULL);
    const struct site_job job = {.point = &spec.points[0],
                                 .allocation = &allocation,
                                 .launcher = &launcher,
                                 .program = "true",
                                 .pin = "pin"};
    assert_int_equal(slurm_prepare_trial(&job, LAUNCHER_pmi2, 0, &launch, &e), OK);
    snprintf(path, sizeof path, "%s/bin:%.3900s", results, getenv("PATH"));
    setenv("PATH", path, 1);
    setenv("SLURM_JOB_ID", "7", 1);
    setenv("SLURM_JOB_NUM_NODES", "2", 1);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        write_slurm(rows[i].state, rows[i].steps);
        assert_int_equal(launch_clean(launch.cleanup), rows[i].gone);
        assert_in_range(count_calls("scancel"), rows[i].scancels_least, rows[i].scancels_most);
        assert_int_equal(count_calls("srun"), rows[i].sruns);
    }
    site_launch_free(&launch);
    spec_free(&spec);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_cluster_is_read),
        cmocka_unit_test(repeated_values_are_read),
        cmocka_unit_test(what_is_not_said_is_one),
        cmocka_unit_test(the_example_is_one_to_copy),
        cmocka_unit_test(bad_clusters_are_refused),
        cmocka_unit_test(times_of_sbatch_are_read),
        cmocka_unit_test(a_script_says_what_the_cluster_does),
        cmocka_unit_test(a_scripts_options_stand_before_its_commands),
        cmocka_unit_test(what_comes_with_others_wants_no_job),
        cmocka_unit_test(what_is_done_is_not_missing),
        cmocka_unit_test(a_lost_base_is_missing_beside_the_others),
        cmocka_unit_test(what_no_node_holds_wants_no_job),
        cmocka_unit_test(cleaning_ends_with_the_job),
    };
    return cmocka_run_group_tests_name("batch", tests, make_both, remove_both);
}
