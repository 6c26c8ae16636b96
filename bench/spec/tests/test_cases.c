/* Points of specs with cases, zips, conditions in excludes, and extended files. */
#include "bench/spec/tests/spec_file.h"
#include "bench/spec/value.h"

/* Three cases: k epochs in one process, p ranks, and another program. */
#define THREE                                                                                      \
    HEAD "train.global_batch: 64\nmeasure.accuracy.seeds: [1]\n"                                   \
         "cases:\n"                                                                                \
         "  - {label: as published, matrix: {train.epochs: [1, 2]}}\n"                             \
         "  - label: corrected\n"                                                                  \
         "    matrix: {ranks: [1, 2]}\n"                                                           \
         "  - label: peer\n"                                                                       \
         "    workload: peer_torch\n"                                                              \
         "    matrix: {ranks: [1, 2]}\n"

static size_t find(const struct spec *spec, const char *label)
{
    for (size_t i = 0; i < spec->n_points; i++)
        if (strcmp(spec->points[i].label, label) == 0)
            return i;
    fail_msg("no point '%s'", label);
    return 0;
}

/* Options of what_if: one changed in each case, all in the last. Factors multiply values of --set. */
static void what_if_changes_one_option_per_case(void **state)
{
    (void)state;
    struct spec spec;
    const char *text = "name: test\nmodel: vgg11_bn\ndata.set: shapes\n"
                       "train.global_batch: 64\nranks: 2\nnodes: 2\n"
                       "site: {kind: simulated, rate: 1gbit}\n"
                       "sync: {strategy: bucketed, cap_mib: 20}\n"
                       "what_if: {site.rate: x2.5, sync: {cap_mib: x0.5}, ranks: 4}\n";
    load(&spec, text, "site.rate=10gbit cases.'sync.cap_mib x0.5'.sync.cap_mib=7");
    static const struct {
        const char *label, *rate, *cap, *ranks;
    } rows[] = {{"as given", "10gbit", "20", "2"},
                {"site.rate x2.5", "25gbit", "20", "2"},
                {"sync.cap_mib x0.5", "10gbit", "7", "2"},
                {"ranks 4", "10gbit", "20", "4"},
                {"all changes", "25gbit", "7", "4"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        size_t point = find(&spec, rows[i].label);
        const struct config *c = &spec.points[point].config;
        assert_string_equal(config_text(c, OPT_SITE_RATE), rows[i].rate);
        assert_string_equal(config_text(c, option_find("sync.cap_mib")->id), rows[i].cap);
        assert_string_equal(config_text(c, OPT_RANKS), rows[i].ranks);
        assert_int_equal(spec.points[point].base_index, find(&spec, "as given"));
    }
    spec_free(&spec);
}

static void test_cases(void **state)
{
    struct spec spec;
    load(&spec, THREE, NULL);
    assert_labels(&spec, "as published epochs=1|as published epochs=2|corrected ranks=1|"
                         "corrected ranks=2|peer ranks=1|peer ranks=2");
    static const size_t twins[] = {0, 1, 0, 3, 4, 5}, bases[] = {0, 1, 2, 2, 4, 4},
                        peers[] = {4, 1, 4, 5, 4, 5};
    for (size_t i = 0; i < 6; i++) {
        assert_int_equal(spec.points[i].twin, twins[i]);
        assert_int_equal(spec.points[i].base_index, bases[i]);
        assert_int_equal(spec.points[i].peers[WORKLOAD_peer_torch], peers[i]);
    }
    assert_string_equal(spec.points[0].case_name, "as published");
    assert_string_equal(spec.points[0].id, spec.points[2].id);
    assert_int_equal(spec_find_point(&spec, spec.points[2].id), 0);
    spec_free(&spec);
}

/* A case overrides the matrix: a single value removes the axis, a list replaces it. */
static void test_laid_over(void **state)
{
    struct spec spec;
    load(&spec,
         BODY "measure.steps_csv: true\n"
              "matrix: {ranks: [1, 2], train.lr: [0.1, 0.2]}\n"
              "cases:\n"
              "  - {label: all}\n"
              "  - {label: one, ranks: 1}\n"
              "  - {label: two, train.lr: 0.3, matrix: {ranks: [4], sync.strategy: [ring, tree]}}\n"
              "  - {label: rank, train.batch_per_rank: 8, matrix: {train.lr: [1]}}\n",
         NULL);
    assert_labels(&spec, "all ranks=1 lr=0.1|all ranks=1 lr=0.2|all ranks=2 lr=0.1|"
                         "all ranks=2 lr=0.2|one lr=0.1|one lr=0.2|two ring|two tree|"
                         "rank ranks=1|rank ranks=2");
    size_t i = find(&spec, "rank ranks=2");
    assert_false(spec.points[i].config.values[OPT_GLOBAL_BATCH].set);
    assert_int_equal(config_int(&spec.points[i].config, OPT_GLOBAL_BATCH), 0);
    assert_int_equal(spec.points[find(&spec, "one lr=0.1")].twin, 0);
    spec_free(&spec);
}

/* The base has the fewest ranks of the problem, in any case. A case may give another baseline. */
static void test_bases_of_cases(void **state)
{
    struct spec spec;
    load(&spec,
         BODY "cases:\n"
              "  - {label: alone, ranks: 1}\n"
              "  - {label: ring, sync.strategy: ring, matrix: {ranks: [2, 4]}}\n"
              "  - {label: tree, sync.strategy: tree, matrix: {ranks: [2, 4]},"
              " baseline: {ranks: 2}}\n"
              "  - {label: far, sync.strategy: shm, ranks: 8, baseline: {ranks: 3}}\n",
         NULL);
    assert_labels(&spec, "far ranks=3|alone|ring ranks=2|ring ranks=4|tree ranks=2|tree ranks=4|"
                         "far ranks=8");
    assert_false(spec.points[0].requested);
    static const size_t bases[] = {0, 1, 1, 1, 4, 4, 0};
    for (size_t i = 0; i < 7; i++)
        assert_int_equal(spec.points[i].base_index, bases[i]);
    spec_free(&spec);
}

/* Points on different sites solve different problems, unless a baseline names a site. */
static void test_sites(void **state)
{
    static const char sites[] = BODY "nodes: 1\nmatrix: {site: [local, emulated], ranks: [1, 2]}\n";
    struct spec spec;
    char text[512];
    load(&spec, sites, NULL);
    assert_labels(&spec, "ranks=1 site=local|ranks=2 site=local|ranks=1 site=emulated|"
                         "ranks=2 site=emulated");
    assert_int_equal(spec.points[1].base_index, 0);
    assert_int_equal(spec.points[3].base_index, 2);
    spec_free(&spec);
    snprintf(text, sizeof text, "%sscaling: strong\nbaseline: {site: local, ranks: 1}\n", sites);
    load(&spec, text, NULL);
    assert_int_equal(spec.points[3].base_index, 0);
    spec_free(&spec);
}

static void test_zip(void **state)
{
    struct spec spec;
    load(&spec,
         HEAD "matrix: {sync.strategy: [ring, tree]}\n"
              "zip: {ranks: [1, 2, 2], train.global_batch: [64, 128, 64]}\n",
         NULL);
    assert_labels(&spec, "ranks=1 global_batch=64 ring|ranks=2 global_batch=128 ring|"
                         "ranks=2 global_batch=64 ring|ranks=1 global_batch=64 tree|"
                         "ranks=2 global_batch=128 tree|ranks=2 global_batch=64 tree");
    spec_free(&spec);
    load(&spec,
         BODY
         "measure.steps_csv: true\n"
         "zip: [{ranks: [1, 2], nodes: [1, 2]}, {train.lr: [1, 2], train.momentum: [0.5, 0]}]\n"
         "cases: [{label: a}, {label: b, nodes: 1}, {label: c, zip: {ranks: [4, 8], seed: [1, "
         "2]}}]\n",
         NULL);
    assert_int_equal(spec.n_points, 4 + 4 + 8);
    assert_int_equal(config_int(&spec.points[3].config, OPT_NODES), 2);
    assert_int_equal(config_int(&spec.points[7].config, OPT_NODES), 1);
    assert_int_equal(config_int(&spec.points[7].config, OPT_RANKS), 2);
    spec_free(&spec);
}

static void test_refused(void **state)
{
    refuse(BODY "zip: {ranks: [1, 2], train.epochs: [1, 2, 3]}\n", NULL,
           "4:36: zip: train.epochs has 3 values, ranks (/tmp/...");
    refuse(BODY "matrix: {ranks: [1, 2]}\nzip: {ranks: [1, 2]}\n", NULL,
           "5:7: ranks is in a zip and also in the matrix (/tmp/...");
    refuse(BODY "zip: {ranks: [1, 1], seed: [2, 2]}\n", NULL,
           "4:18: zip: entries 1 and 2 are equal in all lists. Leave one of the two out");
    refuse(BODY "zip: {ranks: auto}\n", NULL,
           "4:14: ranks: expected a list in a zip, such as [auto]");
    refuse(BODY "cases: [{label: a}, {label: a}]\n", NULL,
           "4:29: label: another case is called 'a'");
    refuse(BODY "cases: [{ranks: 1}]\n", NULL,
           "4:9: cases: expected a map with a label, such as {label: corrected, ranks: 2}");
    refuse(BODY "cases: [{label: a}, {lable: b, ranks: 2}]\n", NULL,
           "4:22: 'lable' is unknown; nearest 'label'; known: ...");
    refuse(BODY "cases: [{label: a, name: b}]\n", NULL,
           "4:20: name applies to the whole campaign. Move it to the top of the file");
    refuse(BODY "cases: [{label: a, exclude: [\"ranks > 1\"]}]\n", NULL,
           "4:30: this exclude matches no point of the case. Correct its values, or leave it out");
    refuse(
        BODY "matrix: {ranks: [1, 2]}\nexclude: [\"ranks > 2\"]\n", NULL,
        "5:11: this exclude matches no point of the matrix. Correct its values, or leave it out");
    refuse(BODY "matrix: {ranks: [1, 2]}\nexclude: [\"rnks > 1\"]\n", NULL,
           "5:12: exclude: 'rnks' is not an option of a point; nearest 'ranks'");
    refuse(BODY "exclude: [\"ranks > 0 and sync.strategy = rign\"]\n", NULL,
           "4:42: exclude: sync.strategy: 'rign' is unknown; nearest 'ring'; known: none...");
    refuse(BODY "exclude: [\"sync.strategy > 1\"]\n", NULL,
           "4:12: exclude: sync.strategy has no order. Use = or !=");
    refuse(
        BODY "matrix: {ranks: [1, 2]}\nexclude: [\"ranks * 2 > 4\"]\n", NULL,
        "5:11: this exclude matches no point of the matrix. Correct its values, or leave it out");
    refuse(BODY "exclude: [\"ranks * rnks > 1\"]\n", NULL,
           "4:20: exclude: 'rnks' is not an option of a point; nearest 'ranks'");
    refuse(BODY "exclude: [\"ranks > 1 and\"]\n", NULL,
           "4:25: exclude: expected a name, as in ranks > 1, found the end of the condition");
}

static void test_conditions(void **state)
{
    struct spec spec;
    load(&spec,
         BODY "matrix: {ranks: [1, 2, 4], train.epochs: [1, 2, 4]}\n"
              "exclude: [\"ranks > 1 and train.epochs > 1\"]\nmeasure.accuracy.seeds: [1]\n",
         NULL);
    assert_labels(&spec, "ranks=1 epochs=1|ranks=1 epochs=2|ranks=1 epochs=4|ranks=2 epochs=1|"
                         "ranks=4 epochs=1");
    spec_free(&spec);
    load(&spec, THREE "exclude: [\"case = peer and ranks = 2\"]\n", NULL);
    assert_int_equal(spec.n_points, 5);
    spec_free(&spec);
    /* With SET, an exclude may match nothing. */
    load(&spec, BODY "matrix: {ranks: [1, 2]}\nexclude: [\"ranks > 1\"]\n", "ranks=1");
    assert_int_equal(spec.n_points, 1);
    spec_free(&spec);
}

/* SET applies to every case without a value of its own, or to the case that it names. */
static void test_set(void **state)
{
    struct spec spec;
    load(&spec, THREE, "ranks=2 seed=5");
    assert_labels(&spec, "as published epochs=1|as published epochs=2|corrected ranks=1|"
                         "corrected ranks=2|peer ranks=1|peer ranks=2");
    assert_int_equal(config_int(&spec.points[0].config, OPT_RANKS), 2);
    for (size_t i = 0; i < 6; i++)
        assert_int_equal(config_int(&spec.points[i].config, OPT_SEED), 5);
    spec_free(&spec);
    load(&spec, THREE, "cases.corrected.ranks=4 cases.'as published'.matrix.train.epochs=[3]");
    assert_labels(&spec, "as published|corrected|peer ranks=1|peer ranks=2");
    assert_int_equal(config_int(&spec.points[0].config, OPT_EPOCHS), 3);
    assert_int_equal(config_int(&spec.points[1].config, OPT_RANKS), 4);
    spec_free(&spec);
    refuse(THREE, "cases.corected.ranks=4",
           "SET:1:1: cases: 'corected' is unknown; nearest "
           "'corrected'; known: as published corrected peer");
    refuse(THREE, "cases.as published.ranks=4",
           "SET:1:1: 'cases.as' is not of the form key=value. Put a label with spaces in quotation "
           "marks: cases.'A LABEL'.KEY=VALUE");
    refuse(BODY "cases: [{label: a, ranks: 1}, {label: b, ranks: 2}]\n", "ranks=4",
           "SET:1:1: ranks: every case has its own value, so this value has no effect. Use "
           "cases.a.ranks=... to set the value of one case");
}

/* ---- Extended files ---- */

static char folder[] = "/tmp/scalebench-extends-XXXXXX";

static int make_folder(void **state)
{
    return mkdtemp(folder) == NULL || make_file(state);
}

static int remove_folder(void **state)
{
    char command[128];
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    return system(command) || remove_file(state);
}

static void write_base(const char *name, const char *text)
{
    char path[256];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *out = fopen(path, "w");
    assert_non_null(out);
    fputs(text, out);
    assert_int_equal(fclose(out), 0);
}

static void test_extends(void **state)
{
    struct spec spec;
    char text[512];
    write_base("deep.yaml", "model: lenet_21k\ntrain: {global_batch: 64, lr: 0.5}\n"
                            "matrix: {ranks: [1, 2, 4]}\n");
    write_base("base.yaml", "extends: deep.yaml\nmodel: softmax_784\n"
                            "exclude: [{ranks: 4}]\ncases: [{label: a}, {label: b, seed: 2}]\n"
                            "measure: {time: {launches: 3}, budget: 1s}\n");
    snprintf(text, sizeof text,
             "name: top\nextends: [%s/base.yaml]\ntrain.lr: 0.1\n"
             "measure: {budget: 9s, accuracy: {seeds: [1]}}\nmatrix: {train.epochs: [1, "
             "2]}\ncases: [{label: c}]\n",
             folder);
    load(&spec, text, NULL);
    assert_labels(&spec, "c ranks=1 epochs=1|c ranks=1 epochs=2|c ranks=2 epochs=1|"
                         "c ranks=2 epochs=2");
    assert_string_equal(config_text(&spec.points[0].config, OPT_MODEL), "softmax_784");
    assert_string_equal(config_text(&spec.points[0].config, OPT_LR), "0.1");
    assert_true(config_number(&spec.config, OPT_BUDGET) == 9);
    assert_true(config_number(&spec.config, OPT_TIME_LAUNCHES) == 3);
    spec_free(&spec);
    snprintf(text, sizeof text,
             "name: top\nextends: %s/base.yaml\nranks: 2\ntrain.batch_per_rank: 8\n"
             "cases: []\nexclude: []\n",
             folder);
    load(&spec, text, NULL);
    assert_labels(&spec, "ranks=2");
    spec_free(&spec);
}

/* Unread values and axes of a base are removed, as if they were absent. Unread values of the spec
 * itself are rejected, unless the command line chose points that do not read them. */
static void test_values_that_no_point_reads(void **state)
{
    struct spec spec;
    char text[512], id[16];
    write_base("base.yaml", "model: softmax_784\ntrain: {global_batch: 64, nesterov: true}\n"
                            "sync: {strategy: reduce_bcast, variant: pickled, node_ranks: 2}\n"
                            "matrix: {ranks: [1, 2], sync.cap_mib: [1, 25]}\n");
    snprintf(text, sizeof text, "name: top\nextends: %s/base.yaml\nsync.strategy: ring\n", folder);
    load(&spec, text, NULL);
    assert_labels(&spec, "ranks=1|ranks=2");
    strcpy(id, spec.points[1].id);
    spec_free(&spec);
    load(&spec, BODY "sync.strategy: ring\nranks: 2\n", NULL);
    assert_string_equal(spec.points[0].id, id);
    spec_free(&spec);

    load(&spec, BODY "sync: {strategy: bucketed, cap_mib: 2}\n", "sync.strategy=ring");
    assert_true(
        value_is_preset(option_get(OPT_sync_cap_mib), &spec.config.values[OPT_sync_cap_mib]));
    spec_free(&spec);
    load(&spec,
         BODY "sync.cap_mib: 2\n"
              "cases: [{label: a, sync.strategy: bucketed}, {label: b, sync.strategy: ring}]\n",
         NULL);
    spec_free(&spec);
    refuse(BODY "sync.strategy: ring\n", "sync.cap_mib=2",
           "SET:1:14: sync.cap_mib has no effect where sync.strategy = ring: expected ...");
    refuse(BODY "cases:\n  - {label: a, sync: {strategy: bucketed, cap_mib: 2}}\n"
                "  - {label: b, sync: {strategy: ring, cap_mib: 2}}\n",
           NULL, "6:48: sync.cap_mib has no effect where sync.strategy = ring: expected ...");
}

/* There is one point per combination of read values. The first one stays, unless it is excluded. */
static void test_axes_that_some_points_do_not_read(void **state)
{
    static const struct {
        const char *text, *labels;
    } specs[] = {
        {"matrix: {sync.strategy: [allreduce, bucketed], sync.cap_mib: [0.01, 25]}\n",
         "allreduce|bucketed cap_mib=0.01|bucketed cap_mib=25"},
        {"matrix: {sync.strategy: [allreduce, bucketed], sync.cap_mib: [0.01, 25]}\n"
         "exclude: [\"sync.strategy = allreduce and sync.cap_mib = 0.01\"]\n",
         "allreduce|bucketed cap_mib=0.01|bucketed cap_mib=25"},
        {"matrix: {sync.cap_mib: [0.01, 0.02, 4], sync.strategy: [bucketed, ring]}\n",
         "bucketed cap_mib=0.01|ring|bucketed cap_mib=0.02|bucketed cap_mib=4"},
        {"matrix: {kernels.plan: [reference, fast], kernels.tune: [fixed, start]}\n",
         "plan=reference|plan=fast tune=fixed|plan=fast tune=start"},
        {"matrix: {inject.kind: [none, fixed], inject.sleep: [0.1s, 0.2s]}\n",
         "kind=none|kind=fixed sleep=0.1s|kind=fixed sleep=0.2s"},
        {"matrix: {workload: [train_cnn, peer_torch], kernels.plan: [fast, exact]}\n",
         "train_cnn plan=fast|train_cnn plan=exact|peer_torch"},
        {"cases: [{label: a, sync.strategy: ring}, {label: b, sync.strategy: bucketed}]\n"
         "matrix: {sync.cap_mib: [0.01, 25]}\n",
         "a|b cap_mib=0.01|b cap_mib=25"},
    };
    for (size_t i = 0; i < sizeof specs / sizeof *specs; i++) {
        struct spec spec;
        char text[512];
        snprintf(text, sizeof text, "%sranks: 2\n%s", BODY, specs[i].text);
        load(&spec, text, NULL);
        assert_labels(&spec, specs[i].labels);
        spec_free(&spec);
    }
}

static void refuse_base(const char *wanted)
{
    struct spec spec;
    struct error e = {.status = OK};
    char text[512], line[2048];
    snprintf(text, sizeof text, "name: top\nextends: %s/base.yaml\n", folder);
    write_file(text, strlen(text));
    assert_int_equal(spec_load(&spec, file, NULL, &eight, &e), ERR_SPEC);
    spec_free(&spec);
    error_line(line, &e);
    const char *name = strrchr(line, '/') + 1;
    assert_non_null(strstr(line, "base.yaml") != NULL ? strstr(line, wanted) : NULL);
    assert_non_null(name);
}

static void test_refused_bases(void **state)
{
    write_base("base.yaml", "model: softmax_784\ntrain: {lr: fast}\n");
    refuse_base("/base.yaml:2:13: train.lr: 'fast' is not a number");
    write_base("base.yaml", "extends: deep.yaml\n");
    write_base("deep.yaml", "extends: base.yaml\n");
    refuse_base("/deep.yaml:1:10: extends: ");
    refuse_base(" extends itself through this file");
    write_base("base.yaml", "extends: nowhere.yaml\n");
    refuse_base("/base.yaml:1:10: extends: 'nowhere.yaml' not found in ");
    write_base("base.yaml", "extends: {a: b}\n");
    refuse_base("/base.yaml:1:10: extends: expected a file, or a list of files");
}

/* A base added for several cases belongs to none of them; a base of one case belongs to it. */
static void test_bases_shared_by_cases(void **state)
{
    struct spec spec;
    load(&spec,
         BODY "baseline: {ranks: 1}\nmatrix: {ranks: [2, 4]}\n"
              "cases:\n  - {label: a, sync.strategy: ring}\n  - {label: b, sync.strategy: ring}\n",
         NULL);
    assert_labels(&spec, "base ranks=1|a ranks=2|a ranks=4|b ranks=2|b ranks=4");
    assert_string_equal(spec.points[0].case_name, "");
    spec_free(&spec);
    load(&spec,
         BODY "baseline: {ranks: 1}\nmatrix: {ranks: [2, 4]}\n"
              "cases:\n  - {label: a, train.clip_norm: 1}\n  - {label: b, train.clip_norm: 2}\n",
         NULL);
    assert_labels(&spec, "a ranks=1|b ranks=1|a ranks=2|a ranks=4|b ranks=2|b ranks=4");
    spec_free(&spec);
}

/* ---- Options of foreign programs ---- */

#define PI "name: test\nworkload:\n  command: [./pi, \"--n={n}\", \"{method}\"]\n"

/* A program's own options work as any other: one value, axis, zip, SET, condition, case. */
static void test_own_options(void **state)
{
    struct spec spec;
    load(&spec,
         PI "  options: {method: fast}\n"
            "matrix: {workload.options.n: [500, 1e3, 64KiB], ranks: [1, 2]}\n"
            "exclude: [\"workload.options.n > 32KiB and ranks = 2\"]\n",
         "workload.options.method=slow");
    assert_labels(&spec, "ranks=1 n=500|ranks=2 n=500|ranks=1 n=1e3|ranks=2 n=1e3|"
                         "ranks=1 n=64KiB");
    const struct config *config = &spec.points[2].config;
    const struct spec_option *n = config_option_find(config, "workload.options.n");
    assert_non_null(n);
    assert_string_equal(config_text(config, n->id), "1e3");
    assert_true(config_number(config, n->id) == 1000);
    assert_null(config_option_find(config, "workload.options.m"));
    assert_null(config_option_find(config, option_get(OPT_OWN)->key));
    spec_free(&spec);
    load(&spec,
         PI "zip: {workload.options.n: [1, 2], workload.options.method: [a, b]}\n"
            "cases:\n  - {label: all}\n  - {label: one, workload: {options: {n: 3}}}\n",
         NULL);
    assert_labels(&spec, "all method=a n=1|all method=b n=2|one method=a|one method=b");
    spec_free(&spec);
    refuse(PI "  options: {n: 1, method: a}\nexclude: [\"workload.options.m = 1\"]\n", NULL,
           "5:12: exclude: 'workload.options.m' is not an option of a point; nearest "
           "'workload.options.n'");
    refuse(PI "  options: {n: [1, 2], method: a}\n", NULL,
           "4:16: workload.options.n: expected one value here. To vary the option, move the list "
           "below the key `matrix`");
}

/* The order in the file does not matter. The recorded spec is equivalent. */
static void test_own_options_in_any_order(void **state)
{
    struct spec a, b, again;
    char *text;
    size_t size;
    load(&a, PI "  options: {n: 1}\nmatrix: {workload.options.method: [x, y]}\n", NULL);
    load(&b, PI "  options: {method: z}\n",
         "matrix.workload.options.method=[x,y] workload.options.n=1");
    FILE *out = open_memstream(&text, &size);
    struct error e;
    assert_int_equal(spec_write(out, &b, &e), OK);
    fclose(out);
    load(&again, text, NULL);
    free(text);
    for (size_t i = 0; i < 2; i++) {
        assert_string_equal(a.points[i].id, b.points[i].id);
        assert_string_equal(a.points[i].id, again.points[i].id);
        assert_string_equal(a.points[i].label, again.points[i].label);
    }
    assert_string_not_equal(a.points[0].id, a.points[1].id);
    spec_free(&a);
    spec_free(&b);
    spec_free(&again);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cases),
        cmocka_unit_test(what_if_changes_one_option_per_case),
        cmocka_unit_test(test_laid_over),
        cmocka_unit_test(test_bases_of_cases),
        cmocka_unit_test(test_bases_shared_by_cases),
        cmocka_unit_test(test_sites),
        cmocka_unit_test(test_zip),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_conditions),
        cmocka_unit_test(test_set),
        cmocka_unit_test(test_extends),
        cmocka_unit_test(test_values_that_no_point_reads),
        cmocka_unit_test(test_axes_that_some_points_do_not_read),
        cmocka_unit_test(test_refused_bases),
        cmocka_unit_test(test_own_options),
        cmocka_unit_test(test_own_options_in_any_order),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
