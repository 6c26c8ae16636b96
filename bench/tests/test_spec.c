/* Specs: values and their errors, matrix, exclude, baseline, SET, the resolved spec, arguments. */
#include "bench/tests/corpus.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bench/spec/matrix.h"
#include "bench/spec/spec.h"

/* Rows of comm/cost/strategies.def, as messages list them. */
#define STRATEGY_NAMES                                                                             \
    "none allreduce allreduce_layer bucketed fusion reduce_bcast gather_scatter ring "             \
    "recursive_doubling rabenseifner tree shm shm_zero1 fixed_order hierarchical leader delayed "  \
    "local_sgd "                                                                                   \
    "gossip adasum param_server"

static const struct spec_machine eight = {.usable_cores = 8};

#define HEAD "name: test\nmodel: softmax_784\n"
#define BODY HEAD "train: {global_batch: 64}\n"

/* --- Files written by the test ---------------------------------------------------------------- */

static char file[] = "/tmp/scalebench-spec-XXXXXX.yaml";

static int make_file(void **state)
{
    (void)state;
    int fd = mkstemps(file, 5);
    return fd < 0 ? -1 : close(fd);
}

static int remove_file(void **state)
{
    (void)state;
    return unlink(file);
}

static void write_file(const char *text, size_t size)
{
    FILE *out = fopen(file, "w");
    assert_non_null(out);
    assert_int_equal(fwrite(text, 1, size, out), size);
    assert_int_equal(fclose(out), 0);
}

/* Loads a text that must be accepted. */
static void load(struct spec *spec, const char *text, const char *set)
{
    struct error e = {.status = OK};
    write_file(text, strlen(text));
    if (spec_load(spec, file, set, &eight, &e) != OK) {
        char line[2048];
        error_line(line, &e);
        fail_msg("%s", line);
    }
}

/* Loads a text that must be refused with `expected` as "line:column: text" of the file, or with
 * "SET:..." . */
static void refuse(const char *text, const char *set, const char *expected)
{
    struct spec spec;
    struct error e = {.status = OK};
    char line[2048], wanted[2048];
    write_file(text, strlen(text));
    assert_int_equal(spec_load(&spec, file, set, &eight, &e), ERR_SPEC);
    spec_free(&spec);
    error_line(line, &e);
    bool of_set = strncmp(expected, "SET:", 4) == 0;
    snprintf(wanted, sizeof wanted, "%s%s%s", of_set ? "" : file, of_set ? "" : ":", expected);
    assert_string_equal(line, wanted);
}

static const char *value_of(const struct spec *spec, const char *key)
{
    return spec->config.values[option_find(key)->id].text;
}

/* "ranks=1 none|ranks=2 allreduce" */
static void assert_labels(const struct spec *spec, const char *expected)
{
    char labels[4096] = "";
    for (size_t i = 0; i < spec->n_points; i++) {
        strcat(labels, i > 0 ? "|" : "");
        strcat(labels, spec->points[i].label);
    }
    assert_string_equal(labels, expected);
}

/* --- The option table ------------------------------------------------------------------------- */

static void test_options(void **state)
{
    (void)state;
    for (size_t i = 0; i < OPTION_COUNT; i++) {
        const struct spec_option *option = option_get((enum option_id)i);
        assert_int_equal(option->id, i);
        assert_ptr_equal(option_find(option->key), option);
        assert_true(option->help[0] != '\0');
        assert_true(option->type != TYPE_ENUM || option->names);
    }
    assert_null(option_find("train"));
}

static void test_presets(void **state)
{
    (void)state;
    struct config config;
    struct error e;
    assert_int_equal(config_init(&config, &e), OK);
    for (size_t i = 0; i < OPTION_COUNT; i++) {
        assert_false(config.values[i].set);
        assert_non_null(config.values[i].text);
    }
    assert_true(config_number(&config, OPT_DEADLINE) == 120);
    assert_true(config_number(&config, OPT_BUDGET) == 600);
    assert_true(config.values[OPT_TIME_LAUNCHES].number_hi == 20);
    assert_int_equal(config.values[OPT_FIGURES].n, 3);
    assert_string_equal(config.values[OPT_FIGURES].texts[1], "speedup");
    config_free(&config);
}

static void test_explain(void **state)
{
    (void)state;
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    option_explain(out, option_find("train.lr"));
    option_explain(out, option_find("sync.strategy"));
    option_explain(out, option_find("name"));
    fclose(out);
    assert_non_null(strstr(text, "train.lr\n  learning rate at one rank\n"));
    assert_non_null(strstr(text, "allowed  1e-12..1000\n"));
    assert_non_null(strstr(text, "names    " STRATEGY_NAMES "\n"));
    assert_non_null(strstr(text, "preset   none: must be given\n"));
    free(text);
}

/* --- Values ----------------------------------------------------------------------------------- */

static void check_value(const char *key, const char *written, const char *canonical, double number)
{
    struct config config;
    struct error e = {.status = OK};
    const struct spec_option *option = option_find(key);
    assert_int_equal(config_init(&config, &e), OK);
    assert_int_equal(config_set(&config, option, written, (struct mark){"here", 1, 1}, &e), OK);
    const struct value *value = &config.values[option->id];
    assert_true(value->set);
    assert_string_equal(value->text, canonical);
    assert_true(value->number == number);
    /* What is canonical stays as it is. */
    char *again = strdup(value->text);
    assert_int_equal(config_set(&config, option, again, (struct mark){"here", 1, 1}, &e), OK);
    assert_string_equal(value->text, again);
    free(again);
    config_free(&config);
}

static void test_values(void **state)
{
    (void)state;
    check_value("train.epochs", "1e3", "1000", 1000);
    check_value("seed", "4294967295", "4294967295", 4294967295.0);
    check_value("train.lr", "1e-3", "0.001", 0.001);
    check_value("train.lr", "0.1", "0.1", 0.1);
    check_value("train.lr", "0.30000000000000004", "0.30000000000000004", 0.30000000000000004);
    check_value("train.shuffle", "false", "false", 0);
    check_value("sync.strategy", "allreduce", "allreduce", 1);
    check_value("sync.deadline", "250ms", "0.25s", 0.25);
    check_value("sync.deadline", "1.5min", "90s", 90);
    check_value("measure.budget", "2h", "7200s", 7200);
    check_value("measure.time.precision", "2.5%", "2.5%", 2.5);
    check_value("measure.time.launches", "6", "6..6", 6);
    check_value("measure.time.launches", "6..20", "6..20", 6);
    check_value("measure.accuracy.test_acc_pct", ">=96.5", ">= 96.5", 96.5);
    check_value("measure.accuracy.test_acc_pct", "", "", 0);
    check_value("measure.accuracy.seeds", "[3,1, 2]", "[3, 1, 2]", 0);
    check_value("figures", "[time]", "[time]", 0);
    check_value("differs", "[\"a, b\", 'the \"other\" \\\\ one', plain words]",
                "[\"a, b\", \"the \\\"other\\\" \\\\\\\\ one\", \"plain words\"]", 0);
    check_value("published.keys", "[ranks * train.epochs = ranks]",
                "[\"ranks * train.epochs = ranks\"]", 0);
    check_value("data.path", "a folder: with # signs", "a folder: with # signs", 0);
    check_value("ranks", "7", "7", 7);
}

static void refuse_value(const char *key, const char *written, const char *expected)
{
    struct config config;
    struct error e = {.status = OK};
    assert_int_equal(config_init(&config, &e), OK);
    struct mark mark = {"fig3.yaml", 9, 12};
    assert_int_equal(config_set(&config, option_find(key), written, mark, &e), ERR_SPEC);
    assert_false(config.values[option_find(key)->id].set);
    char line[2048];
    error_line(line, &e);
    assert_string_equal(line, expected);
    config_free(&config);
}

static void test_refused_values(void **state)
{
    (void)state;
    refuse_value("train.epochs", "0", "fig3.yaml:9:12: train.epochs = 0 epochs: allowed 1..100000");
    refuse_value("sync.deadline", "0s", "fig3.yaml:9:12: sync.deadline = 0s: allowed 0.1s..86400s");
    refuse_value("measure.time.precision", "200%",
                 "fig3.yaml:9:12: measure.time.precision = 200%: allowed 0.01%..100%");
    refuse_value("sync.strategy", "allreduc",
                 "fig3.yaml:9:12: sync.strategy: 'allreduc' is unknown; nearest 'allreduce'; "
                 "known: " STRATEGY_NAMES);
    refuse_value("train.epochs", "+1 ", "fig3.yaml:9:12: train.epochs: '+1 ' is not a number");
    refuse_value("train.lr", "nan", "fig3.yaml:9:12: train.lr: 'nan' is not a number");
    refuse_value("train.lr", "1e-3x", "fig3.yaml:9:12: train.lr: '1e-3x' is not a number");
    refuse_value("train.lr", "", "fig3.yaml:9:12: train.lr: has no value");
    refuse_value("seed", "-1", "fig3.yaml:9:12: seed = -1: allowed 0..4294967295");
    refuse_value("seed", "1e30", "fig3.yaml:9:12: seed: '1e30' is not a whole number");
    refuse_value("figures", "[time, time]", "fig3.yaml:9:19: figures: 'time' is listed twice");
    refuse_value("measure.accuracy.seeds", "[1, x]",
                 "fig3.yaml:9:16: measure.accuracy.seeds: 'x' is not a number");
    refuse_value("differs", "[words, '']", "fig3.yaml:9:20: differs: an empty text");
    refuse_value("data.path", "a\nb",
                 "fig3.yaml:9:12: data.path: a text with a line break or control character in it");
}

/* Sizes have no option of their own yet, so one is made up. */
static void test_sizes(void **state)
{
    (void)state;
    const struct spec_option size = {
        .id = OPT_SEED, .key = "size", .type = TYPE_SIZE, .unit = "B", .min = 0, .max = 0x1p40};
    static const struct {
        const char *written, *canonical;
        double bytes;
    } cases[] = {{"64KiB", "64KiB", 65536},
                 {"65536B", "64KiB", 65536},
                 {"1.5MiB", "1536KiB", 1572864},
                 {"1025B", "1025B", 1025},
                 {"0B", "0B", 0},
                 {"2GiB", "2GiB", 2147483648.0}};
    struct config config;
    struct error e;
    const struct mark mark = {"here", 1, 1};
    assert_int_equal(config_init(&config, &e), OK);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(config_set(&config, &size, cases[i].written, mark, &e), OK);
        assert_string_equal(config.values[OPT_SEED].text, cases[i].canonical);
        assert_true(config.values[OPT_SEED].number == cases[i].bytes);
    }
    assert_int_equal(config_set(&config, &size, "64", mark, &e), ERR_SPEC);
    assert_int_equal(config_set(&config, &size, "64KB", mark, &e), ERR_SPEC);
    assert_int_equal(config_set(&config, &size, "0.5B", mark, &e), ERR_SPEC);
    assert_int_equal(config_set(&config, &size, "2048GiB", mark, &e), ERR_SPEC);
    assert_string_equal(e.text, "size = 2048GiB: allowed 0B..1099511627776B");
    config_free(&config);
}

/* --- Files ------------------------------------------------------------------------------------ */

static void test_nested_and_dotted(void **state)
{
    (void)state;
    struct spec spec;
    load(&spec,
         HEAD "train: {global_batch: 64, lr: 1e-2}\n"
              "train.epochs: 3\n"
              "measure:\n  time.steps: 5\n  accuracy:\n    seeds:\n    - 4\n    - 5\n",
         NULL);
    assert_string_equal(value_of(&spec, "train.lr"), "0.01");
    assert_string_equal(value_of(&spec, "train.epochs"), "3");
    assert_string_equal(value_of(&spec, "measure.time.steps"), "5");
    assert_string_equal(value_of(&spec, "measure.accuracy.seeds"), "[4, 5]");
    const struct mark mark = spec.config.values[OPT_LR].mark;
    assert_string_equal(mark.file, file);
    assert_int_equal(mark.line, 3);
    assert_int_equal(mark.column, 31);
    assert_labels(&spec, "base");
    assert_true(spec.points[0].base && spec.points[0].requested);
    assert_int_equal(spec.n_varying, 0);
    spec_free(&spec);
}

static enum status read_spec(const char *path, struct error *e)
{
    struct spec spec;
    enum status status = spec_load(&spec, path, NULL, &eight, e);
    spec_free(&spec);
    return status;
}

static void test_malformed(void **state)
{
    (void)state;
    corpus_check("bench/tests/bad/spec", 50, read_spec);
}

static void test_not_a_file(void **state)
{
    (void)state;
    struct error e;
    assert_int_equal(read_spec("/nowhere/spec.yaml", &e), ERR_SPEC);
    assert_string_equal(e.file, "/nowhere/spec.yaml");
    assert_int_equal(read_spec("bench", &e), ERR_SPEC);
    assert_string_equal(e.text, "is a folder; a YAML file is expected");
    assert_int_equal(read_spec("strong_scalign.yaml", &e), ERR_SPEC);
    assert_non_null(strstr(e.text, "nearest 'strong_scaling"));
    write_file("", 0);
    assert_int_equal(read_spec(file, &e), ERR_SPEC);
    assert_string_equal(e.text, "nothing is written here");
}

static void test_too_large(void **state)
{
    (void)state;
    size_t size = (1u << 20) + 1;
    char *text = malloc(size);
    struct error e;
    memset(text, '#', size);
    write_file(text, size);
    assert_int_equal(read_spec(file, &e), ERR_SPEC);
    assert_string_equal(e.text, "is larger than 1 MiB; a YAML file is expected");
    write_file(text, size - 1); /* one comment of 1 MiB is only empty */
    free(text);
    assert_int_equal(read_spec(file, &e), ERR_SPEC);
    assert_string_equal(e.text, "nothing is written here");
}

static char *read_bytes(const char *path, size_t *size)
{
    struct stat info;
    assert_int_equal(stat(path, &info), 0);
    *size = (size_t)info.st_size;
    char *text = calloc(*size + 1, 1);
    FILE *in = fopen(path, "r");
    assert_non_null(in);
    assert_int_equal(fread(text, 1, *size, in), *size);
    fclose(in);
    return text;
}

static void assert_loads_or_explains(const char *text, size_t size)
{
    struct error e = {.status = OK};
    write_file(text, size);
    enum status status = read_spec(file, &e);
    assert_true(status == OK || status == ERR_SPEC);
    if (status == ERR_SPEC) {
        assert_string_equal(e.file, file);
        assert_true(e.line > 0 && e.column > 0 && e.text[0] != '\0');
    }
}

/* Whatever an editor or a full disk leaves of a spec is read, or refused with a place. */
static void test_torn_file(void **state)
{
    (void)state;
    size_t size;
    char *text = read_bytes("configs/strong_scaling.yaml", &size);
    for (size_t i = 0; i < size; i++)
        assert_loads_or_explains(text, i);
    for (size_t i = 0; i < size; i++) {
        char kept = text[i];
        text[i] = "{}[]:,\t\n\"'&#\x01\xff"[i % 14];
        assert_loads_or_explains(text, size);
        text[i] = kept;
    }
    free(text);
}

/* --- Matrix, exclude, baseline ---------------------------------------------------------------- */

static void test_auto_ranks(void **state)
{
    (void)state;
    static const struct {
        int cores;
        const char *labels;
    } cases[] = {{1, "base"},
                 {2, "ranks=1|ranks=2"},
                 {6, "ranks=1|ranks=2|ranks=3|ranks=4|ranks=6"},
                 {7, "ranks=1|ranks=2|ranks=3|ranks=4|ranks=6|ranks=7"},
                 {8, "ranks=1|ranks=2|ranks=3|ranks=4|ranks=6|ranks=8"},
                 {20, "ranks=1|ranks=2|ranks=3|ranks=4|ranks=6|ranks=8|ranks=12|ranks=16|"
                      "ranks=20"}};
    const char *text = BODY "matrix: {ranks: auto}\n";
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct spec spec;
        struct error e;
        struct spec_machine machine = {cases[i].cores};
        write_file(text, strlen(text));
        assert_int_equal(spec_load(&spec, file, NULL, &machine, &e), OK);
        assert_labels(&spec, cases[i].labels);
        spec_free(&spec);
    }
}

/* A strategy takes its own forms only, whoever else takes part in the matrix; the usual one goes
 * without saying. */
static void test_variants(void **state)
{
    (void)state;
    struct spec spec;
    load(&spec,
         BODY "matrix: {sync.strategy: [none, gather_scatter], sync.variant: [usual, mpich]}\n"
              "exclude:\n  - {sync.strategy: none, sync.variant: mpich}\n",
         NULL);
    assert_labels(&spec, "none|gather_scatter|gather_scatter mpich");
    spec_free(&spec);
    load(&spec, BODY "sync: {strategy: reduce_bcast, variant: pickled}\nmatrix: {ranks: [1, 2]}\n",
         NULL);
    assert_labels(&spec, "ranks=1 pickled|ranks=2 pickled");
    spec_free(&spec);
    refuse(BODY "sync:\n  strategy: reduce_bcast\n  variant: linear\n", NULL,
           "6:12: sync.variant of strategy reduce_bcast: 'linear' is unknown; "
           "known: usual plain pickled");
    refuse(BODY "sync.variant: mpich\n", NULL,
           "4:15: sync.variant of strategy allreduce: 'mpich' is unknown; known: usual");
    refuse(BODY "sync.variant: linaer\n", NULL,
           "4:15: sync.variant: 'linaer' is unknown; nearest 'linear'; "
           "known: usual plain pickled linear mpich sync stale async");
}

/* Only some strategies take compressors, and a compressor's options need it. */
static void test_compressors(void **state)
{
    (void)state;
    struct spec spec;
    load(&spec,
         BODY "sync.fp16_scale: 1024\nmatrix: {ranks: [1, 2], sync.compress: [none, fp16]}\n",
         NULL);
    assert_labels(&spec, "ranks=1|ranks=1 fp16|ranks=2|ranks=2 fp16");
    spec_free(&spec);
    refuse(BODY "sync: {strategy: tree}\nmatrix: {sync.compress: [none, bf16]}\n", NULL,
           "5:32: sync.compress: bf16 does not go with strategy tree; strategies that compress: "
           "allreduce allreduce_layer");
    refuse(BODY "sync: {compress: bf16, fp16_scale: 2}\n", NULL,
           "4:36: sync.fp16_scale is an option of fp16, which no point uses");
    refuse(BODY "sync: {compress: fp16, fp16_scale: 3}\n", NULL,
           "4:36: sync.fp16_scale = 3 is no power of two; nearest 2 and 4");
}

static void test_matrix_order(void **state)
{
    (void)state;
    struct spec spec;
    load(&spec, BODY "matrix:\n  ranks: [2, 1]\n  sync: {strategy: [none, allreduce]}\n", NULL);
    assert_labels(&spec, "ranks=2 none|ranks=2 allreduce|ranks=1 none|ranks=1 allreduce");
    assert_int_equal(spec.n_varying, 2);
    assert_int_equal(spec.varying[0], OPT_STRATEGY);
    assert_int_equal(spec.varying[1], OPT_RANKS);
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(spec.points[i].base_index, 2); /* the first with one rank */
        assert_int_equal(spec.points[i].base, i == 2);
        assert_int_equal(strlen(spec.points[i].id), 12);
    }
    spec_free(&spec);
}

static void test_labels(void **state)
{
    (void)state;
    struct spec spec;
    load(&spec,
         "name: labels\ntrain: {global_batch: 8}\n"
         "matrix: {place.bind: [core], model: [softmax_784, lenet_21k], train.lr: [1e-3, 1]}\n",
         NULL);
    assert_labels(&spec, "softmax_784 lr=0.001|softmax_784 lr=1|lenet_21k lr=0.001|lenet_21k lr=1");
    spec_free(&spec);
}

static void test_exclude(void **state)
{
    (void)state;
    struct spec spec;
    const char *text = BODY "matrix: {ranks: [1, 2], sync.strategy: [none, allreduce]}\n"
                            "exclude:\n  - {ranks: 1, sync: {strategy: allreduce}}\n";
    load(&spec, text, NULL);
    assert_labels(&spec, "ranks=1 none|ranks=2 none|ranks=2 allreduce");
    spec_free(&spec);
    /* Values that the file did not choose may leave an exclude without anything to match. */
    load(&spec, text, "matrix.ranks=[2]");
    assert_labels(&spec, "none|allreduce");
    spec_free(&spec);
    load(&spec, text, "sync.strategy=none");
    assert_labels(&spec, "ranks=1|ranks=2");
    spec_free(&spec);
    refuse(text, "ranks=1 sync.strategy=allreduce", "6:5: exclude leaves no point of the matrix");
}

static void test_baseline_added(void **state)
{
    (void)state;
    struct spec spec;
    load(&spec,
         BODY "scaling: strong\nmatrix: {ranks: [2, 4]}\n"
              "baseline: {ranks: 1, sync.strategy: none}\n",
         NULL);
    assert_labels(&spec, "ranks=1 none|ranks=2 allreduce|ranks=4 allreduce");
    assert_true(spec.points[0].base && !spec.points[0].requested);
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(spec.points[i].base_index, 0);
    assert_int_equal(spec.n_varying, 1); /* strategy varies only with the base */
    assert_int_equal(spec.varying[0], OPT_RANKS);
    spec_free(&spec);
}

/* Beside each point of several ranks, once, and found again; without replays nobody asks. */
static void test_silent_points_added(void **state)
{
    (void)state;
    static const char text[] = "name: a\nmodel: softmax_784\ntrain: {global_batch: 64}\n"
                               "matrix: {ranks: [1, 2], sync.strategy: [allreduce, ring]}\n";
    struct spec spec;
    load(&spec, text, "measure.replay=3");
    assert_int_equal(spec.n_points, 5);
    size_t silent = spec.n_points, found = 0;
    for (size_t i = 0; i < spec.n_points; i++)
        if (config_int(&spec.points[i].config, OPT_STRATEGY) == STRATEGY_none)
            silent = i;
    assert_true(silent < spec.n_points && !spec.points[silent].requested);
    for (size_t i = 0; i < spec.n_points; i++) {
        bool several = config_int(&spec.points[i].config, OPT_RANKS) == 2;
        assert_int_equal(spec_point_alone(&spec, i), several ? silent : i);
        found += several;
    }
    assert_int_equal(found, 3);
    spec_free(&spec);
    load(&spec, text, "measure.replay=3 matrix.sync.strategy=[none,ring]");
    assert_int_equal(spec.n_points, 4);
    spec_free(&spec);
    load(&spec, text, NULL);
    assert_int_equal(spec.n_points, 4);
    spec_free(&spec);
}

/* Every problem has a base of its own, from the matrix where it is there. */
static void test_baseline_a_problem(void **state)
{
    (void)state;
    struct spec spec;
    load(&spec,
         "name: test\nscaling: strong\nmodel: softmax_784\n"
         "matrix: {train.global_batch: [64, 128], ranks: [2, 1]}\n"
         "exclude: [{ranks: 1, train.global_batch: 128}]\nbaseline: {ranks: 1}\n",
         NULL);
    assert_labels(&spec, "ranks=1 global_batch=128|ranks=2 global_batch=64|"
                         "ranks=1 global_batch=64|ranks=2 global_batch=128");
    static const size_t bases[] = {0, 2, 2, 0};
    static const bool requested[] = {false, true, true, true};
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(spec.points[i].base_index, bases[i]);
        assert_int_equal(spec.points[i].base, bases[i] == i);
        assert_int_equal(spec.points[i].requested, requested[i]);
    }
    spec_free(&spec);
}

static void test_default_base_a_problem(void **state)
{
    (void)state;
    struct spec spec;
    load(&spec,
         HEAD "matrix: {train.batch_per_rank: [8, 16], ranks: [4, 2], place.bind: [core, numa]}\n",
         NULL);
    static const size_t bases[] = {2, 2, 2, 2, 6, 6, 6, 6};
    for (size_t i = 0; i < 8; i++)
        assert_int_equal(spec.points[i].base_index, bases[i]);
    spec_free(&spec);
}

/* The identity is that of the values, wherever and however they are written. */
static void test_identity(void **state)
{
    (void)state;
    struct spec a, b;
    load(&a, BODY "ranks: 2\ntrain.lr: 0.01\n", NULL);
    load(&b,
         HEAD "matrix: {ranks: [1, 2]}\ntrain: {global_batch: 6.4e1, lr: 1e-2}\nfigures: [time]\n",
         NULL);
    assert_string_equal(a.points[0].id, b.points[1].id);
    assert_string_not_equal(b.points[0].id, b.points[1].id);
    spec_free(&a);
    spec_free(&b);
}

/* --- SET -------------------------------------------------------------------------------------- */

static void test_set(void **state)
{
    (void)state;
    struct spec spec;
    const char *text = BODY "matrix: {ranks: [1, 2, 4]}\n";
    load(&spec, text,
         " train={lr: 0.5}  matrix.ranks=[1, 2]\tmatrix.sync.strategy=[none,allreduce] "
         "measure.accuracy.test_acc_pct='>= 97'");
    assert_string_equal(value_of(&spec, "train.lr"), "0.5");
    assert_string_equal(value_of(&spec, "measure.accuracy.test_acc_pct"), ">= 97");
    assert_labels(&spec, "ranks=1 none|ranks=1 allreduce|ranks=2 none|ranks=2 allreduce");
    spec_free(&spec);

    load(&spec, text, "ranks=4 name=other"); /* takes the axis away */
    assert_int_equal(spec.n_points, 1);
    assert_int_equal(config_int(&spec.points[0].config, OPT_RANKS), 4);
    assert_string_equal(value_of(&spec, "name"), "other");
    spec_free(&spec);

    load(&spec, text, "matrix.train.global_batch=[32,64] baseline={ranks: 2}");
    assert_int_equal(spec.n_points, 6);
    assert_int_equal(config_int(&spec.points[5].config, OPT_GLOBAL_BATCH), 64);
    assert_int_equal(spec.points[5].base_index, 3); /* ranks outside, batch inside: 2, 64 */
    spec_free(&spec);

    load(&spec, text, "matrix.ranks=auto");
    assert_int_equal(spec.n_points, 6);
    spec_free(&spec);
}

static void test_refused_set(void **state)
{
    (void)state;
    const char *text = BODY "matrix: {ranks: [1, 2]}\n";
    refuse(text, "train.lr=1 train.epochs",
           "SET:1:12: 'train.epochs' is not of the form key=value");
    refuse(text, "=5", "SET:1:1: '=5' is not of the form key=value");
    refuse(text, "train.lr=", "SET:1:10: nothing is written here");
    refuse(text, "  seed=x", "SET:1:8: seed: 'x' is not a number");
    refuse(text, "seed=1 seed=2", "SET:1:8: seed is given twice: here and at SET:1:6");
    refuse(
        text, "seed=1 matrix.seed=[2]",
        "SET:1:8: seed is in the matrix and has one value at SET:1:6 too: leave one of them out");
    refuse(text, "matrix.seed=[2] seed=1", "SET:1:17: seed is given twice: here and at SET:1:13");
    refuse(text, "matrix.seed=[2] matrix={seed: [3]}",
           "SET:1:25: seed is given twice: here and at SET:1:13");
    refuse(text, "baseline={ranks: 1} baseline={ranks: 2}", "SET:1:30: baseline is given twice");
    refuse(text, "exclude=[{ranks: 1}]",
           "SET:1:1: exclude cannot be set here; options, matrix and baseline can");
    refuse(text, "matrix.ranks=[1,2",
           "SET:1:18: not YAML: did not find expected ',' or ']' while "
           "parsing a flow sequence");
    refuse(text, "matrix.site=[local]",
           "SET:1:1: site holds for the whole campaign: it stands at the top of the file only");
    refuse(text, "ranks=[1,2]",
           "SET:1:7: ranks: takes one value here; to vary it, move the list below matrix:");
}

/* --- The resolved spec ------------------------------------------------------------------------ */

static void assert_same_points(const struct spec *a, const struct spec *b)
{
    assert_int_equal(a->n_points, b->n_points);
    for (size_t i = 0; i < a->n_points; i++) {
        assert_string_equal(a->points[i].id, b->points[i].id);
        assert_string_equal(a->points[i].label, b->points[i].label);
        assert_int_equal(a->points[i].base_index, b->points[i].base_index);
        assert_int_equal(a->points[i].requested, b->points[i].requested);
    }
    for (size_t i = 0; i < OPTION_COUNT; i++)
        if (!matrix_axis(a->matrix, (enum option_id)i))
            assert_string_equal(a->config.values[i].text, b->config.values[i].text);
}

static char *resolve(const struct spec *spec)
{
    char *text = NULL;
    size_t size;
    struct error e;
    FILE *out = open_memstream(&text, &size);
    assert_int_equal(spec_write(out, spec, &e), OK);
    fclose(out);
    return text;
}

/* Read back on a machine with another number of cores, it is the same campaign. */
static void check_round_trip(const char *path, const char *set)
{
    struct spec spec, again;
    struct error e = {.status = OK};
    if (spec_load(&spec, path, set, &eight, &e) != OK)
        fail_msg("%s: %s", e.file, e.text);
    char *text = resolve(&spec);
    write_file(text, strlen(text));
    if (spec_load(&again, file, NULL, &(struct spec_machine){3}, &e) != OK)
        fail_msg("%d:%d: %s", e.line, e.column, e.text);
    assert_same_points(&spec, &again);
    char *text_again = resolve(&again);
    assert_string_equal(text, text_again);
    free(text);
    free(text_again);
    spec_free(&spec);
    spec_free(&again);
}

static void test_round_trip(void **state)
{
    (void)state;
    check_round_trip("strong_scaling.yaml", NULL);
    check_round_trip("strong_scaling.yaml", "matrix.ranks=[2] data.path='a \"b\" \\c: #'");
    check_round_trip("strong_scaling.yaml", "matrix={train.lr: [0.1, 1e-7]} sync.strategy=none");
    check_round_trip("quick.yaml", NULL);
    check_round_trip("quick", "baseline={ranks: 2, place.bind: none}");
}

static void test_shipped_specs(void **state)
{
    (void)state;
    struct spec spec;
    struct error e;
    assert_int_equal(spec_load(&spec, "strong_scaling.yaml", NULL, &(struct spec_machine){2}, &e),
                     OK);
    assert_labels(&spec, "ranks=1 none|ranks=2 none|ranks=2 allreduce");
    spec_free(&spec);
    /* One core: nothing to exclude, nothing to scale, still a campaign. */
    assert_int_equal(spec_load(&spec, "strong_scaling.yaml", NULL, &(struct spec_machine){1}, &e),
                     OK);
    assert_labels(&spec, "base");
    spec_free(&spec);
    assert_int_equal(spec_load(&spec, "quick.yaml", NULL, &(struct spec_machine){1}, &e), OK);
    assert_labels(&spec, "ranks=1 none|ranks=2 none|ranks=2 allreduce");
    spec_free(&spec);
}

/* --- Arguments of a workload ------------------------------------------------------------------ */

static void test_arguments(void **state)
{
    (void)state;
    struct spec spec;
    struct error e;
    load(&spec, HEAD "data.path: \"a folder/ü\"\nranks: 2\ntrain: {batch_per_rank: 3, lr: 3e-7}\n",
         NULL);
    char **arguments = point_arguments(&spec.points[0], &e);
    assert_non_null(arguments);
    char *argv[OPTION_COUNT + 4] = {"train_cnn", "--record", "there"};
    int argc = 3;
    for (char **a = arguments; *a; a++)
        argv[argc++] = *a;
    assert_string_equal(argv[3], "--model=softmax_784");

    struct config config;
    assert_int_equal(config_init(&config, &e), OK);
    assert_int_equal(config_parse_arguments(&config, &argc, argv, &e), OK);
    assert_int_equal(argc, 3);
    assert_string_equal(argv[1], "--record");
    assert_string_equal(argv[2], "there");
    assert_null(argv[3]);
    for (size_t i = 0; i < OPTION_COUNT; i++) {
        bool workload = option_get((enum option_id)i)->scope == SCOPE_WORKLOAD;
        assert_int_equal(config.values[i].set, workload);
        if (workload)
            assert_string_equal(config.values[i].text, spec.points[0].config.values[i].text);
    }
    config_free(&config);
    free(arguments);
    spec_free(&spec);
}

static void test_argument_forms(void **state)
{
    (void)state;
    struct config config;
    struct error e;
    char *argv[] = {"train_cnn", "--seed=1",  "--seed",  "7", "--help", "--train.lrr=1",
                    "file",      "--ranks=2", "--train", "1", "--",     "--seed=9",
                    NULL};
    int argc = 12;
    assert_int_equal(config_init(&config, &e), OK);
    assert_int_equal(config_parse_arguments(&config, &argc, argv, &e), OK);
    assert_int_equal(config_int(&config, OPT_SEED), 7);
    static const char *const left[] = {"train_cnn", "--help",    "--train.lrr=1",
                                       "file",      "--ranks=2", "--train",
                                       "1",         "--",        "--seed=9"};
    assert_int_equal(argc, 9);
    for (int i = 0; i < argc; i++)
        assert_string_equal(argv[i], left[i]);
    assert_null(argv[9]);
    config_free(&config);
}

static void refuse_arguments(char *argument, const char *expected)
{
    struct config config;
    struct error e;
    char *argv[] = {"train_cnn", argument, NULL}, line[2048];
    int argc = 2;
    assert_int_equal(config_init(&config, &e), OK);
    assert_int_not_equal(config_parse_arguments(&config, &argc, argv, &e), OK);
    config_free(&config);
    error_line(line, &e);
    assert_string_equal(line, expected);
    assert_int_equal(error_exit_status(&e), 2);
}

static void test_refused_arguments(void **state)
{
    (void)state;
    refuse_arguments("--train.epochs=0",
                     "command line: train.epochs = 0 epochs: allowed 1..100000");
    refuse_arguments("--seed", "--seed has no value");
    refuse_arguments("--model=", "command line: model: has no value");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_options),
        cmocka_unit_test(test_presets),
        cmocka_unit_test(test_explain),
        cmocka_unit_test(test_values),
        cmocka_unit_test(test_refused_values),
        cmocka_unit_test(test_sizes),
        cmocka_unit_test(test_nested_and_dotted),
        cmocka_unit_test(test_malformed),
        cmocka_unit_test(test_not_a_file),
        cmocka_unit_test(test_too_large),
        cmocka_unit_test(test_torn_file),
        cmocka_unit_test(test_auto_ranks),
        cmocka_unit_test(test_variants),
        cmocka_unit_test(test_compressors),
        cmocka_unit_test(test_matrix_order),
        cmocka_unit_test(test_labels),
        cmocka_unit_test(test_exclude),
        cmocka_unit_test(test_baseline_added),
        cmocka_unit_test(test_silent_points_added),
        cmocka_unit_test(test_baseline_a_problem),
        cmocka_unit_test(test_default_base_a_problem),
        cmocka_unit_test(test_identity),
        cmocka_unit_test(test_set),
        cmocka_unit_test(test_refused_set),
        cmocka_unit_test(test_round_trip),
        cmocka_unit_test(test_shipped_specs),
        cmocka_unit_test(test_arguments),
        cmocka_unit_test(test_argument_forms),
        cmocka_unit_test(test_refused_arguments),
    };
    return cmocka_run_group_tests_name("spec", tests, make_file, remove_file);
}
