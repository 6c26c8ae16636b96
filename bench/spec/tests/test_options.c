/* Table of options: defaults, forms of values, explain, arguments of a workload. */
#include "bench/spec/tests/spec_file.h"
#include "kernels/base/names.h"

/* Rows of comm/cost/strategies.def, in the order of messages. */
#define STRATEGY_NAMES                                                                             \
    "none allreduce allreduce_layer bucketed fusion reduce_bcast gather_scatter ring "             \
    "recursive_doubling rabenseifner tree shm shm_zero1 zero1 zero2 zero3 shm_zero2 shm_zero3 "    \
    "fixed_order "                                                                                 \
    "hierarchical leader "                                                                         \
    "delayed local_sgd "                                                                           \
    "gossip adasum param_server"

static void test_options(void **state)
{
    for (size_t i = 0; i < OPTION_ROWS; i++) {
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
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    option_explain(out, option_find("train.lr"));
    option_explain(out, option_find("sync.strategy"));
    option_explain(out, option_find("name"));
    fclose(out);
    assert_non_null(strstr(text, "train.lr\n  Learning rate at one rank. train.lr_rule"));
    assert_non_null(strstr(text, "allowed  1e-12..1000\n"));
    assert_non_null(strstr(text, "names    " STRATEGY_NAMES "\n"));
    assert_non_null(
        strstr(text, "    ring               Sum blocks of the gradient around a ring"));
    assert_non_null(strstr(text, "default  none: it must be given\n"));
    assert_null(strstr(text, "flaw"));
    free(text);
    out = open_memstream(&text, &size);
    option_explain(out, option_find("train.broadcast_init"));
    fclose(out);
    assert_non_null(strstr(text, "flaw     found in published programs"));
    free(text);
}

/* Defaults are valid values, within the printed range or named beside it. */
static void test_presets_are_accepted(void **state)
{
    struct config config;
    struct error e;
    char *text = NULL;
    size_t size;
    assert_int_equal(config_init(&config, &e), OK);
    for (enum option_id id = 0; id < OPT_OWN; id++) {
        const struct spec_option *option = option_get(id);
        const char *preset = option->preset != NULL && option->preset[0] ? option->preset : "none";
        if (option->preset != NULL &&
            config_set(&config, option, preset, mark_in("here", 1, 1), &e) != OK)
            fail_msg("%s", e.text);
    }
    config_free(&config);
    FILE *out = open_memstream(&text, &size);
    option_explain(out, option_find("site.hosts"));
    option_explain(out, option_find("measure.resources"));
    option_explain(out, option_find("sync.period"));
    fclose(out);
    assert_non_null(strstr(text, "allowed  2..65536 hosts, or 0\n"));
    assert_non_null(strstr(text, "allowed  0.01..60 s, or off\n"));
    assert_non_null(strstr(text, "allowed  1..1000000 steps\n"));
    free(text);
}

/* The number of a name is its index in the list. */
static void test_names_are_their_enums(void **state)
{
    size_t n;
    const struct enumeration *const *lists = enumerations(&n);
    assert_string_equal(names_lr_rules->names[LR_RULE_sqrt], "sqrt");
    assert_string_equal(names_strategies->names[STRATEGY_none], "none");
    assert_string_equal(names_compressors->names[COMPRESSOR_topk], "topk");
    assert_string_equal(names_sites->names[SITE_local], "local");
    assert_int_equal(names_remainders->n, REMAINDERS);
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < lists[i]->n; k++) {
            assert_true(lists[i]->summaries[k][0] != '\0');
            for (size_t j = 0; j < k; j++)
                assert_string_not_equal(lists[i]->names[j], lists[i]->names[k]);
        }
}

/* ---- Values ---- */

/* Strategies of workloads.def are names of strategies. */
static void test_peers_have_strategies(void **state)
{
    struct error e;
    const struct workload_row *peer = workload_find("peer_torch");
    char words[256], *rest = words;
    size_t n = 0;
    snprintf(words, sizeof words, "%s", peer->strategies);
    for (char *word = strsep(&rest, " "); word != NULL; word = strsep(&rest, " "), n++) {
        assert_true(name_index(word, strategy_names(), STRATEGIES) >= 0);
        assert_int_equal(workload_check_strategy(peer, word, &e), OK);
    }
    assert_int_equal(n, 5);
    assert_int_equal(workload_check_strategy(peer, "allreduce_", &e), ERR_ARGUMENT);
    assert_int_equal(workload_check_strategy(peer, "reduce", &e), ERR_ARGUMENT);
    assert_int_equal(workload_check_strategy(workload_find("train_cnn"), "ring", &e), OK);
    assert_null(workload_find("peer"));
}

static void check_value(const char *key, const char *written, const char *canonical, double number)
{
    struct config config;
    struct error e = {.status = OK};
    const struct spec_option *option = option_find(key);
    assert_int_equal(config_init(&config, &e), OK);
    assert_int_equal(config_set(&config, option, written, mark_in("here", 1, 1), &e), OK);
    const struct value *value = &config.values[option->id];
    assert_true(value->set);
    assert_string_equal(value->text, canonical);
    assert_true(value->number == number);
    /* Canonical texts stay unchanged. */
    char *again = strdup(value->text);
    assert_int_equal(config_set(&config, option, again, mark_in("here", 1, 1), &e), OK);
    assert_string_equal(value->text, again);
    free(again);
    config_free(&config);
}

static void test_values(void **state)
{
    check_value("train.epochs", "1e3", "1000", 1000);
    check_value("seed", "4294967295", "4294967295", 4294967295.0);
    check_value("train.lr", "1e-3", "0.001", 0.001);
    check_value("train.lr", "0.1", "0.1", 0.1);
    check_value("train.lr", "0.30000000000000004", "0.30000000000000004", 0.30000000000000004);
    check_value("train.shuffle", "false", "false", 0);
    check_value("train.shuffle", "True", "true", 1);
    check_value("train.shuffle", "YES", "true", 1);
    check_value("train.shuffle", "on", "true", 1);
    check_value("train.shuffle", "No", "false", 0);
    check_value("train.shuffle", "off", "false", 0);
    check_value("measure.resources", "off", "off", 0);
    check_value("figures", "[{kind: line, y: [\"wait_ms\"], model: yes, published: off}]",
                "[{kind: line, y: [\"wait_ms\"], model: true, published: false}]", 0);
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
    /* The written form reads back the same. */
    static const char map[] =
        "[{kind: line, y: [\"train_loss\"], x: \"epoch\", published: [{file: \"theirs.csv\", name: "
        "\"theirs\", where: \"epoch > 1\", keys: [\"epoch = epoch + 1\"], values: "
        "[\"train_loss\"]}, "
        "{file: \"b.csv\", keys: [\"epoch\"], values: [\"train_loss\"]}]}]";
    check_value("figures", map, map, 0);
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
    struct mark mark = mark_in("fig3.yaml", 9, 12);
    assert_int_equal(config_set(&config, option_find(key), written, mark, &e), ERR_SPEC);
    assert_false(config.values[option_find(key)->id].set);
    char line[2048];
    error_line(line, &e);
    assert_string_equal(line, expected);
    config_free(&config);
}

static void test_refused_values(void **state)
{
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
    refuse_value("figures", "[time, time]",
                 "fig3.yaml:9:19: figures: 'time' is listed twice. If you want two figures of this "
                 "kind, give each a `name`");
    refuse_value("measure.accuracy.seeds", "[1, x]",
                 "fig3.yaml:9:16: measure.accuracy.seeds: 'x' is not a number");
    refuse_value("differs", "[words, '']",
                 "fig3.yaml:9:20: differs: expected a text, found an empty one");
    refuse_value(
        "data.path", "a\nb",
        "fig3.yaml:9:12: data.path: expected a text without line breaks and control characters");
}

/* No option has the type SIZE yet, so the test defines one. */
static void test_sizes(void **state)
{
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
    const struct mark mark = mark_in("here", 1, 1);
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

/* ---- Arguments of a workload ---- */

static void test_arguments(void **state)
{
    struct spec spec;
    struct error e;
    load(&spec, HEAD "data.path: \"a folder/ü\"\nranks: 2\ntrain: {batch_per_rank: 3, lr: 3e-7}\n",
         NULL);
    char **arguments;
    assert_int_equal(point_arguments(&arguments, &spec.points[0], &e), OK);
    char *argv[OPTION_COUNT + 4] = {"train_cnn", "--record", "there"};
    int argc = 3;
    for (char **a = arguments; *a; a++)
        argv[argc++] = *a;
    assert_string_equal(argv[3], "--model=configs/models/softmax_784.yaml");

    struct config config;
    assert_int_equal(config_init(&config, &e), OK);
    assert_int_equal(config_parse_arguments(&config, &argc, argv, &e), OK);
    assert_int_equal(argc, 3);
    assert_string_equal(argv[1], "--record");
    assert_string_equal(argv[2], "there");
    assert_null(argv[3]);
    for (size_t i = 0; i < OPTION_COUNT; i++) {
        bool workload = scope_is_workload(option_get((enum option_id)i)->scope);
        assert_int_equal(config.values[i].set, workload);
        if (workload && i != OPT_MODEL)
            assert_string_equal(config.values[i].text, spec.points[0].config.values[i].text);
    }
    config_free(&config);
    free(arguments);
    spec_free(&spec);
}

/* inject.ranks contains only ranks of the point. */
static void test_arguments_of_stragglers(void **state)
{
    static const char *const expected[] = {"--inject.ranks=[0]", "--inject.ranks=[0]",
                                           "--inject.ranks=[2, 0, 3]"};
    struct spec spec;
    struct error e;
    load(&spec, BODY "inject: {kind: fixed, ranks: [2, 0, 3]}\nmatrix: {ranks: [1, 2, 4]}\n", NULL);
    for (size_t i = 0; i < 3; i++) {
        char **arguments, **a;
        assert_int_equal(point_arguments(&arguments, &spec.points[i], &e), OK);
        a = arguments;
        while (*a && strncmp(*a, "--inject.ranks", 14) != 0)
            a++;
        assert_non_null(*a);
        assert_string_equal(*a, expected[i]);
        free(arguments);
    }
    spec_free(&spec);
}

static void test_argument_forms(void **state)
{
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
        cmocka_unit_test(test_presets_are_accepted),
        cmocka_unit_test(test_names_are_their_enums),
        cmocka_unit_test(test_peers_have_strategies),
        cmocka_unit_test(test_values),
        cmocka_unit_test(test_refused_values),
        cmocka_unit_test(test_sizes),
        cmocka_unit_test(test_arguments),
        cmocka_unit_test(test_arguments_of_stragglers),
        cmocka_unit_test(test_argument_forms),
        cmocka_unit_test(test_refused_arguments),
    };
    return cmocka_run_group_tests_name("options", tests, make_file, remove_file);
}
