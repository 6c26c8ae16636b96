/* Loads specs with SET, and writes and reads recorded specs. */
#include "bench/spec/tests/spec_file.h"

#include <glob.h>

/* ---- Files written by the test ---- */

static const char *value_of(const struct spec *spec, const char *key)
{
    return spec->config.values[option_find(key)->id].text;
}

/* Some editors begin a file with a byte-order mark. */
static void test_byte_order_mark(void **state)
{
    struct spec spec;
    load(&spec, "\xEF\xBB\xBF" BODY, NULL);
    assert_string_equal(value_of(&spec, "name"), "test");
    assert_int_equal(spec.config.values[OPT_MODEL].mark.column, 8);
    spec_free(&spec);
    refuse("\xEF\xBB\xBFnaem: test\n", NULL,
           "1:1: 'naem' is unknown; nearest 'name'; known: name title "
           "scaling form quick workload site compute figures bars caption link published "
           "differs model data seed train sync parallel inject checkpoint elastic restart "
           "kernels ranks nodes ranks_per_node place peer measure checks extends matrix "
           "zip exclude baseline cases what_if");
}

static void test_nested_and_dotted(void **state)
{
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
    assert_labels(&spec, "ranks=1");
    assert_true(spec.points[0].base && spec.points[0].requested);
    assert_int_equal(spec.n_varying, 0);
    spec_free(&spec);
}

/* Global batch, batch per rank and accumulation may be given together. */
static void test_batches(void **state)
{
    static const char *const texts[] = {
        HEAD "ranks: 2\ntrain: {global_batch: 64, batch_per_rank: 8, accumulate: 4}\n",
        HEAD "ranks: 2\ntrain: {batch_per_rank: 8, accumulate: 4}\n",
        HEAD "ranks: 2\ntrain: {global_batch: 64, accumulate: 4}\n"};
    for (int i = 0; i < 3; i++) {
        struct spec spec;
        load(&spec, texts[i], NULL);
        assert_true(config_global_batch(&spec.points[0].config, 2) == 64);
        spec_free(&spec);
    }
    refuse(HEAD "ranks: 4\ntrain: {global_batch: 64, batch_per_rank: 8, accumulate: 4}\n", NULL,
           "4:43: train.batch_per_rank = 8 times train.accumulate = 4 times ranks = 4 is 128 "
           "images, but train.global_batch = 64: leave one out");
    refuse(HEAD "ranks: 1024\ntrain: {batch_per_rank: 65536, accumulate: 4}\n", NULL,
           "4:25: train.batch_per_rank = 65536 times train.accumulate = 4 on 1024 ranks is more "
           "than 16777216 images per step");
}

/* Only full images per rank are trained with train.remainder = drop. */
static void test_dropped_images(void **state)
{
    struct spec spec;
    load(&spec, HEAD "ranks: 4\ntrain: {global_batch: 7, remainder: drop}\n", NULL);
    const struct config *config = &spec.points[0].config;
    assert_true(config_images(config) == 4 && config_images_taken(config) == 7);
    assert_true(config_epoch_steps(config) == 60000 / 7 + 1);
    spec_free(&spec);
    load(&spec, HEAD "ranks: 4\ntrain: {global_batch: 7, remainder: pad}\n", NULL);
    assert_true(config_images(&spec.points[0].config) == 7);
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
    corpus_check("bench/tests/bad/spec", 50, read_spec);
}

static void test_not_a_file(void **state)
{
    struct error e;
    assert_int_equal(read_spec("/nowhere/spec.yaml", &e), ERR_SPEC);
    assert_string_equal(e.file, "/nowhere/spec.yaml");
    assert_int_equal(read_spec("bench", &e), ERR_SPEC);
    assert_string_equal(e.text, "cannot be opened: expected a regular file, found a folder");
    assert_int_equal(read_spec("strong_scalign.yaml", &e), ERR_SPEC);
    assert_non_null(strstr(e.text, "nearest 'strong_scaling"));
    write_file("", 0);
    assert_int_equal(read_spec(file, &e), ERR_SPEC);
    assert_string_equal(e.text, "the file is empty");
}

static void test_too_large(void **state)
{
    size_t size = (1u << 20) + 1;
    char *text = malloc(size);
    struct error e;
    memset(text, '#', size);
    write_file(text, size);
    assert_int_equal(read_spec(file, &e), ERR_SPEC);
    assert_string_equal(e.text, "expected a YAML file of at most 1 MiB");
    write_file(text, size - 1); /* a comment of 1 MiB has no content */
    free(text);
    assert_int_equal(read_spec(file, &e), ERR_SPEC);
    assert_string_equal(e.text, "the file is empty");
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

/* A truncated spec loads, or is rejected with a position. */
static void test_torn_file(void **state)
{
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

/* ---- Matrix, exclude, baseline ---- */

/* The identity depends on values, not on where or how they are written. */
static void test_identity(void **state)
{
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

/* ---- SET ---- */

static void test_set(void **state)
{
    struct spec spec;
    const char *text = BODY "matrix: {ranks: [1, 2, 4]}\n";
    load(&spec, text,
         " train={lr: 0.5}  matrix.ranks=[1, 2]\tmatrix.sync.strategy=[none,allreduce] "
         "measure.accuracy={seeds: [1], test_acc_pct: '>= 97'}");
    assert_string_equal(value_of(&spec, "train.lr"), "0.5");
    assert_string_equal(value_of(&spec, "measure.accuracy.test_acc_pct"), ">= 97");
    assert_labels(&spec, "ranks=1 none|ranks=1 allreduce|ranks=2 none|ranks=2 allreduce");
    spec_free(&spec);

    load(&spec, text, "ranks=4 name=other"); /* removes the axis */
    assert_int_equal(spec.n_points, 1);
    assert_int_equal(config_int(&spec.points[0].config, OPT_RANKS), 4);
    assert_string_equal(value_of(&spec, "name"), "other");
    spec_free(&spec);

    load(&spec, text, "matrix.train.global_batch=[32,64] baseline={ranks: 2}");
    assert_int_equal(spec.n_points, 6);
    assert_int_equal(config_int(&spec.points[5].config, OPT_GLOBAL_BATCH), 64);
    assert_int_equal(spec.points[5].base_index, 3); /* base with 2 ranks and batch 64 */
    spec_free(&spec);

    load(&spec, text, "matrix.ranks=auto");
    assert_int_equal(spec.n_points, 6);
    spec_free(&spec);

    /* Each line overrides the lines before it. */
    load(&spec, text,
         "ranks=4 name=other baseline={ranks: 2}\nmatrix.ranks=[1, 2]\nbaseline={ranks: 1} "
         "name=third");
    assert_int_equal(spec.n_points, 2);
    assert_int_equal(spec.points[1].base_index, 0);
    assert_string_equal(value_of(&spec, "name"), "third");
    spec_free(&spec);
}

static void figures_follow_what_is_measured(void **state)
{
    static const struct {
        const char *text, *figures;
    } specs[] = {{BODY, "[time, speedup, efficiency]"},
                 {BODY "measure: {time: {launches: 0}, accuracy: {seeds: [1]}}\n", "[accuracy]"},
                 {BODY
                  "measure: {time: {launches: 0}, accuracy: {seeds: [1]}}\nfigures: [speedup]\n",
                  "[speedup]"}};
    for (size_t i = 0; i < sizeof specs / sizeof *specs; i++) {
        struct spec spec;
        load(&spec, specs[i].text, NULL);
        assert_string_equal(value_of(&spec, "figures"), specs[i].figures);
        spec_free(&spec);
    }
}

static void test_refused_set(void **state)
{
    const char *text = BODY "matrix: {ranks: [1, 2]}\n";
    refuse(text, "train.lr=1 train.epochs",
           "SET:1:12: 'train.epochs' is not of the form key=value");
    refuse(text, "train.lr = 0.1",
           "SET:1:1: 'train.lr' is not of the form key=value, without spaces around =");
    refuse(text, "seed=1 train.lr= 0.1",
           "SET:1:17: train.lr= has no value; expected key=value, without spaces around =");
    refuse(text, "train.lr= seed=1", "SET:1:10: train.lr= has no value; expected key=value");
    refuse(text, "site.kind=emulated", "SET:1:1: 'site.kind' is unknown. Use site=emulated");
    refuse(text, "baseline.ranks=2",
           "SET:1:1: 'baseline.ranks' is not supported. Use baseline={ranks: VALUE}");
    refuse(text, "zip.train.lr=[1,2]",
           "SET:1:1: 'zip.train.lr' is not supported. Use zip={train.lr: VALUE}");
    refuse(text, "baseline={ranks:2}",
           "SET:1:11: 'ranks:2': expected a space after the colon. Use ranks: 2");
    refuse(text, "=5", "SET:1:1: '=5' is not of the form key=value");
    refuse(text, "train.lr=", "SET:1:10: train.lr= has no value; expected key=value");
    refuse(text, "  seed=x", "SET:1:8: seed: 'x' is not a number");
    refuse(text, "seed=1 seed=2", "SET:1:8: seed is given twice: here and at SET:1:6");
    refuse(text, "seed=1 matrix.seed=[2]",
           "SET:1:8: seed is in the matrix and also has one value at SET:1:6. Leave one of the two "
           "out");
    refuse(text, "seed=1 matrix=[{a: 1, a: 2}]",
           "SET:1:23: 'a' is given twice: here and at SET:1:17");
    refuse(text, "matrix.seed=[2] seed=1", "SET:1:17: seed is given twice: here and at SET:1:13");
    refuse(text, "matrix.seed=[2] matrix={seed: [3]}",
           "SET:1:25: seed is given twice: here and at SET:1:13");
    refuse(text, "baseline={ranks: 1} baseline={ranks: 2}", "SET:1:30: baseline is given twice");
    refuse(text, "seed=1\nseed=2  seed=3", "SET:2:9: seed is given twice: here and at SET:2:6");
    refuse(text, "exclude=[{ranks: 1}]",
           "SET:1:1: exclude cannot be set here; expected an option, matrix, zip, baseline or "
           "cases.LABEL.key");
    refuse(text, "matrix.ranks=[1,2",
           "SET:1:18: not YAML: did not find expected ',' or ']' while "
           "parsing a flow sequence");
    refuse(text, "matrix.scaling=[weak]",
           "SET:1:1: scaling applies to the whole campaign. Move it to the top of the file");
    refuse(text, "ranks=[1,2]",
           "SET:1:7: ranks: expected one value here. To vary the option, use matrix.ranks=[...]");
}

/* ---- Recorded specs ---- */

static void assert_same_points(const struct spec *a, const struct spec *b)
{
    assert_int_equal(a->n_points, b->n_points);
    for (size_t i = 0; i < a->n_points; i++) {
        assert_string_equal(a->points[i].id, b->points[i].id);
        assert_string_equal(a->points[i].label, b->points[i].label);
        assert_int_equal(a->points[i].base_index, b->points[i].base_index);
        assert_int_equal(a->points[i].requested, b->points[i].requested);
        assert_int_equal(a->points[i].twin, b->points[i].twin);
        assert_string_equal(a->points[i].case_name, b->points[i].case_name);
    }
    for (size_t i = 0; i < OPTION_COUNT; i++)
        if (!matrix_axis(a->matrix, (enum option_id)i) &&
            strstr(b->config.values[i].text, "\"published/") == NULL) /* a run's copy */
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

/* A recorded spec gives the same campaign on a machine with another number of cores. */
static void check_round_trip(const char *path, const char *set)
{
    struct spec spec, again;
    struct error e = {.status = OK};
    if (spec_load(&spec, path, set, &eight, &e) != OK)
        fail_msg("%s: %s", e.file, e.text);
    char *text = resolve(&spec);
    write_file(text, strlen(text));
    keep_copies(&spec, "/tmp", true);
    if (spec_load(&again, file, NULL, &(struct spec_machine){.usable_cores = 3}, &e) != OK)
        fail_msg("%d:%d: %s", e.line, e.column, e.text);
    assert_same_points(&spec, &again);
    char *text_again = resolve(&again);
    assert_string_equal(text, text_again);
    keep_copies(&spec, "/tmp", false);
    free(text);
    free(text_again);
    spec_free(&spec);
    spec_free(&again);
}

static void test_round_trip(void **state)
{
    check_round_trip("strong_scaling.yaml", NULL);
    check_round_trip(
        "strong_scaling.yaml",
        "figures=[time, {kind: line, name: a, y: [wait_ms, step_ms], x: sync.strategy, "
        "series: [ranks, case], where: \"ranks > 1 and not sync.strategy = 'ring'\", x_scale: log, "
        "title: \"It's: a #1\", size: page, shape: bars, published: false}]");
    check_round_trip("strong_scaling.yaml", "matrix.ranks=[2] data.path='a \"b\" \\c: #'");
    check_round_trip("strong_scaling.yaml", "matrix={train.lr: [0.1, 1e-7]} sync.strategy=none");
    check_round_trip("quick.yaml", NULL);
    check_round_trip("quick", "baseline={ranks: 2, place.bind: none}");
}

static void test_round_trip_of_every_report(void **state)
{
    glob_t found;
    assert_int_equal(glob("configs/reports/*/*.yaml", 0, NULL, &found), 0);
    for (size_t i = 0; i < found.gl_pathc; i++)
        check_round_trip(found.gl_pathv[i], NULL);
    globfree(&found);
}

/* ---- Anchors ---- */

#define SHARED                                                                                     \
    "x-small: &small {lr: 0.5, epochs: 3}\nx-axes: &axes {ranks: [1, 2], train.weight_decay: [0, " \
    "0.5]}\n"

/* A spec with aliases has the same points and recorded spec as one without. */
static void test_anchors(void **state)
{
    struct spec a, b;
    load(&a,
         SHARED BODY "measure.steps_csv: true\n"
                     "matrix: {<<: *axes, train.momentum: [0, 0.5]}\n"
                     "baseline: &first {ranks: 1, train.weight_decay: 0, train.momentum: "
                     "0}\nexclude: [*first]\n",
         NULL);
    load(&b,
         BODY "measure.steps_csv: true\n"
              "matrix: {ranks: [1, 2], train.weight_decay: [0, 0.5], train.momentum: [0, 0.5]}\n"
              "baseline: {ranks: 1, train.weight_decay: 0, train.momentum: 0}\n"
              "exclude: [{ranks: 1, train.weight_decay: 0, train.momentum: 0}]\n",
         NULL);
    assert_same_points(&a, &b);
    char *text_a = resolve(&a), *text_b = resolve(&b);
    assert_string_equal(text_a, text_b);
    assert_null(strstr(text_a, "x-"));
    assert_null(strstr(text_a, "<<"));
    free(text_a);
    free(text_b);
    spec_free(&a);
    spec_free(&b);
}

/* A case may use an anchor of its file. SET overrides merged values. */
static void test_anchors_of_cases(void **state)
{
    struct spec spec;
    const char *text = SHARED BODY "measure.accuracy.seeds: [1]\ncases:\n"
                                   "  - {label: a, train: {<<: *small, epochs: 4}}\n"
                                   "  - {label: b, train: *small, matrix: *axes}\n";
    load(&spec, text, NULL);
    assert_labels(&spec, "a|b ranks=1 weight_decay=0|b ranks=1 weight_decay=0.5|b ranks=2 "
                         "weight_decay=0|b ranks=2 weight_decay=0.5");
    assert_int_equal(config_int(&spec.points[0].config, OPT_EPOCHS), 4);
    assert_int_equal(config_int(&spec.points[1].config, OPT_EPOCHS), 3);
    assert_true(config_number(&spec.points[0].config, OPT_LR) == 0.5);
    spec_free(&spec);
    load(&spec, text, "cases.a.train.epochs=7 train.momentum=0.25");
    assert_int_equal(config_int(&spec.points[0].config, OPT_EPOCHS), 7);
    assert_true(config_number(&spec.points[1].config, OPT_MOMENTUM) == 0.25);
    spec_free(&spec);
    refuse(SHARED BODY "cases: [{label: a, train: *small, train.lr: 1}]\n", NULL,
           "6:35: train.lr is given twice: here and at ...");
    refuse(SHARED BODY "train.lr: 1\nbaseline: {train: *smal}\n", NULL,
           "7:19: *smal: no anchor &smal is defined above in this file; nearest 'small'");
    refuse(BODY, "train.lr=*small",
           "SET:1:10: *small: no anchor &small is defined above in this file");
}

/* Private keys are allowed at the top only, and are part of no identity. */
static void test_own_keys(void **state)
{
    struct spec a, b;
    load(&a, BODY "x-notes: [anything, {at: all}]\nx-: 1\n", NULL);
    load(&b, BODY, NULL);
    assert_string_equal(a.points[0].id, b.points[0].id);
    spec_free(&a);
    spec_free(&b);
    refuse(BODY "x-notes: 1\nx-notes: 2\n", NULL, "5:1: 'x-notes' is given twice: here and at ...");
    refuse(BODY "matrix: {x-notes: 1}\n", NULL,
           "4:10: 'x-notes' is a top-level key; move it beside 'matrix'");
    refuse(BODY "cases: [{label: a, x-notes: 1}]\n", NULL,
           "4:20: 'x-notes' is a top-level key; move it to the top of the file");
    refuse(BODY, "x-notes=1",
           "SET:1:1: 'x-notes' is a top-level key; move it to the top of the file");
}

/* All spellings of a boolean give the same canonical text and identity. */
static void test_booleans(void **state)
{
    static const char *const words[][3] = {{"yes", "On", "TRUE"}, {"no", "Off", "FALSE"}};
    struct spec a, b;
    for (int yes = 0; yes < 2; yes++)
        for (int i = 0; i < 3; i++) {
            char set[64];
            snprintf(set, sizeof set, "train.nesterov=%s", words[1 - yes][i]);
            load(&a, BODY "train.momentum: 0.5\n", set);
            load(&b, BODY "train.momentum: 0.5\n",
                 yes ? "train.nesterov=true" : "train.nesterov=false");
            assert_string_equal(a.points[0].id, b.points[0].id);
            spec_free(&a);
            spec_free(&b);
        }
    load(&a,
         BODY "train.momentum: 0.5\nmatrix: {train.nesterov: [yes, no], ranks: [1, 2]}\n"
              "exclude: [\"train.nesterov = on and ranks = 2\", {train.nesterov: off, ranks: 1}]\n",
         NULL);
    assert_int_equal(a.n_points, 2);
    assert_true(config_number(&a.points[0].config, OPT_NESTEROV) == 1);
    assert_int_equal(config_int(&a.points[0].config, OPT_RANKS), 1);
    spec_free(&a);
    refuse(BODY "matrix: {train.nesterov: [yes, true]}\n", NULL,
           "4:32: train.nesterov: 'true' is listed twice");
    /* words of other options stay unchanged */
    load(&a, BODY "measure.resources: off\n", NULL);
    assert_string_equal(config_text(&a.config, OPT_RESOURCES), "off");
    spec_free(&a);
}

#define WITH_QUICK                                                                                 \
    "name: long\nmodel: softmax_784\ndata.set: digits\ntrain.global_batch: 64\n"                   \
    "matrix: {ranks: [1, 2, 4]}\nexclude: [{ranks: 4}]\n"                                          \
    "quick: matrix.ranks=[1,2] data.samples=500\n"

static void assert_quick(const struct spec *spec, const char *name, long samples)
{
    assert_string_equal(config_text(&spec->config, OPT_NAME), name);
    assert_int_equal(config_int(&spec->config, OPT_DATA_SAMPLES), samples);
    assert_int_equal(spec->n_points, 2);
}

/* `quick` overrides the file, SET overrides `quick`. A recorded spec has the values already. */
static void test_quick_form(void **state)
{
    struct spec spec;
    load(&spec, WITH_QUICK, NULL);
    assert_quick(&spec, "long", 0);
    spec_free(&spec);
    load(&spec, WITH_QUICK, "form=quick");
    assert_quick(&spec, "long_quick", 500);
    char *text = resolve(&spec);
    spec_free(&spec);
    load(&spec, text, NULL);
    assert_quick(&spec, "long_quick", 500);
    free(text);
    spec_free(&spec);
    load(&spec, WITH_QUICK, "data.samples=70 form=quick name=own");
    assert_quick(&spec, "own", 70);
    spec_free(&spec);
    refuse("name: a\nmodel: softmax_784\ndata.set: digits\ntrain.global_batch: 64\n",
           "seed=2 form=quick", "SET:1:8: this spec has no quick form...");
    refuse(
        "name: a\nmodel: softmax_784\ndata.set: digits\ntrain.global_batch: 64\nquick: epochs=1\n",
        "form=quick",
        "5:8: quick: 'epochs' is unknown here; nearest 'train.epochs', a key of 'train:'");
}

/* Another kind of figure keeps no published values of the default kind. */
static void test_published_of_a_preset(void **state)
{
    struct spec spec;
    struct error e = {.status = OK};
    const char *set = "figures=[{kind: epochs, published: {file: amundkar_accuracy.csv, "
                      "keys: [index], values: [test_acc_pct]}}]";
    if (spec_load(&spec, "strong_scaling.yaml", set, &eight, &e) != OK)
        fail_msg("%s", e.text);
    char *text = resolve(&spec);
    assert_non_null(strstr(text, "amundkar_accuracy.csv"));
    free(text);
    spec_free(&spec);
}

/* Cases with all their parts; twins stay twins. */
static void test_round_trip_of_cases(void **state)
{
    static const char text[] =
        BODY "matrix: {ranks: auto, train.lr: [0.1, 0.2]}\n"
             "measure.accuracy.seeds: [1]\nzip: {train.momentum: [0, 0.5], train.epochs: [2, 1]}\n"
             "exclude: [\"ranks > 2 and train.lr = 0.1\", {ranks: 3}]\n"
             "cases:\n"
             "  - {label: \"as \\\"published\\\"\", ranks: 1, exclude: ['train.epochs = 2']}\n"
             "  - {label: all, site: local, baseline: {ranks: 2}}\n"
             "  - {label: rank, train.batch_per_rank: 8, zip: [{nodes: [1, 2], ranks: [1, 2]}]}\n"
             "  - {label: other, model: lenet_21k, matrix: {sync.strategy: [ring, tree]}}\n";
    write_file(text, strlen(text));
    check_round_trip(file, NULL);
    write_file(text, strlen(text));
    check_round_trip(file, "train.lr=1 cases.all.matrix.ranks=[1,2,4] seed=9");
}

static void test_shipped_specs(void **state)
{
    struct spec spec;
    struct error e;
    assert_int_equal(spec_load(&spec, "strong_scaling.yaml", NULL,
                               &(struct spec_machine){.usable_cores = 2}, &e),
                     OK);
    assert_labels(&spec, "ranks=1 none|ranks=2 none|ranks=2 allreduce");
    spec_free(&spec);
    /* With one core, nothing to exclude and nothing to scale, the spec is still valid. */
    assert_int_equal(spec_load(&spec, "strong_scaling.yaml", NULL,
                               &(struct spec_machine){.usable_cores = 1}, &e),
                     OK);
    assert_labels(&spec, "ranks=1");
    spec_free(&spec);
    assert_int_equal(
        spec_load(&spec, "quick.yaml", NULL, &(struct spec_machine){.usable_cores = 1}, &e), OK);
    assert_labels(&spec, "ranks=1 none|ranks=2 none|ranks=2 allreduce");
    spec_free(&spec);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_byte_order_mark),
        cmocka_unit_test(test_nested_and_dotted),
        cmocka_unit_test(test_batches),
        cmocka_unit_test(test_dropped_images),
        cmocka_unit_test(test_malformed),
        cmocka_unit_test(test_not_a_file),
        cmocka_unit_test(test_too_large),
        cmocka_unit_test(test_torn_file),
        cmocka_unit_test(test_identity),
        cmocka_unit_test(test_anchors),
        cmocka_unit_test(test_anchors_of_cases),
        cmocka_unit_test(test_own_keys),
        cmocka_unit_test(test_booleans),
        cmocka_unit_test(test_set),
        cmocka_unit_test(figures_follow_what_is_measured),
        cmocka_unit_test(test_refused_set),
        cmocka_unit_test(test_round_trip),
        cmocka_unit_test(test_round_trip_of_every_report),
        cmocka_unit_test(test_quick_form),
        cmocka_unit_test(test_published_of_a_preset),
        cmocka_unit_test(test_round_trip_of_cases),
        cmocka_unit_test(test_shipped_specs),
    };
    return cmocka_run_group_tests_name("spec", tests, make_file, remove_file);
}
