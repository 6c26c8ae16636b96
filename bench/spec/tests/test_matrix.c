/* Points of specs with matrix, exclude and baseline: order and labels. */
#include "bench/spec/points/points.h"
#include "bench/spec/tests/spec_file.h"
#include "bench/spec/value.h"

static void test_auto_ranks(void **state)
{
    static const struct {
        int cores;
        const char *labels;
    } cases[] = {{1, "ranks=1"},
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
        struct spec_machine machine = {.usable_cores = cases[i].cores};
        write_file(text, strlen(text));
        assert_int_equal(spec_load(&spec, file, NULL, &machine, &e), OK);
        assert_labels(&spec, cases[i].labels);
        spec_free(&spec);
    }
}

/* Only strategies that have a variant use it. The default variant is not part of labels. */
static void test_variants(void **state)
{
    struct spec spec;
    load(&spec,
         BODY
         "ranks: 2\nmatrix: {sync.strategy: [none, gather_scatter], sync.variant: [usual, mpich]}\n"
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
           "4:15: sync.variant of strategy allreduce: 'mpich' is unknown; known: usual. Set "
           "sync.variant only in `cases` whose strategy has several variants");
    refuse(BODY "sync.variant: linaer\n", NULL,
           "4:15: sync.variant: 'linaer' is unknown; nearest 'linear'; "
           "known: usual plain pickled linear mpich sync stale async");
}

/* Some strategies use compressors. Options of a compressor need that compressor. */
static void test_compressors(void **state)
{
    struct spec spec;
    load(&spec,
         BODY "sync.fp16_scale: 1024\nmatrix: {ranks: [1, 2], sync.compress: [none, fp16]}\n",
         NULL);
    assert_labels(&spec, "ranks=1|ranks=1 fp16|ranks=2|ranks=2 fp16");
    spec_free(&spec);
    refuse(BODY "sync: {strategy: tree}\nmatrix: {sync.compress: [none, bf16]}\n", NULL,
           "5:32: sync.compress: bf16 is not supported by strategy tree; strategies that compress: "
           "allreduce allreduce_layer bucketed");
    refuse(BODY "sync: {compress: bf16, fp16_scale: 2}\n", NULL,
           "4:36: sync.fp16_scale has no effect where sync.compress = bf16: expected fp16; leave "
           "it out");
    refuse(BODY "sync: {compress: fp16, fp16_scale: 3}\n", NULL,
           "4:36: sync.fp16_scale = 3 is no power of two; the nearest powers are 2 and 4");
}

/* 16-bit gradients are sent as by the compressor of that name. Other strategies are rejected, or
 * send nothing. */
static void test_precisions(void **state)
{
    struct config config;
    struct error e;
    const struct mark mark = mark_in("here", 1, 1);
    assert_int_equal(config_init(&config, &e), OK);
    assert_int_equal(config_set(&config, option_get(OPT_PRECISION), "bf16", mark, &e), OK);
    for (int s = 0; s < STRATEGIES; s++) {
        struct strategy_config strategy;
        enum option_id at;
        char named[64];
        unsigned flags = strategy_flags((enum strategy_kind)s);
        const char *name = strategy_names()[s];
        snprintf(named, sizeof named, "is not supported by strategy %s,", name);
        assert_int_equal(config_set(&config, option_get(OPT_STRATEGY), name, mark, &e), OK);
        enum status status = config_strategy(&config, &strategy, &at, &e);
        if (s != STRATEGY_none && !(flags & STRATEGY_COMPRESSES)) {
            assert_int_equal(status, ERR_ARGUMENT);
            assert_int_equal(at, OPT_PRECISION);
            assert_non_null(strstr(e.text, named));
            continue;
        }
        assert_int_equal(status, OK);
        assert_int_equal(strategy.precision, PRECISION_bf16);
        assert_int_equal(strategy.compressor,
                         s == STRATEGY_none ? COMPRESSOR_none : COMPRESSOR_bf16);
        assert_int_equal(config_compressor(&config), strategy.compressor);
    }
    config_free(&config);
}

static void test_matrix_order(void **state)
{
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
    struct spec spec;
    load(&spec,
         "name: labels\ntrain: {global_batch: 8}\nmeasure.steps_csv: true\n"
         "matrix: {place.bind: [core], model: [softmax_784, lenet_21k], train.lr: [1e-3, 1]}\n",
         NULL);
    assert_labels(&spec, "softmax_784 lr=0.001|softmax_784 lr=1|lenet_21k lr=0.001|lenet_21k lr=1");
    spec_free(&spec);
}

/* A list in an exclude matches each of its values, several lists each combination. */
static void test_exclude_lists(void **state)
{
    static const char matrix[] =
        BODY "matrix: {ranks: [1, 2, 4], sync.strategy: [none, ring, tree]}\n";
    struct spec spec;
    char text[512];
    snprintf(text, sizeof text, "%sexclude: [{ranks: [1, 2], sync.strategy: ring}]\n", matrix);
    load(&spec, text, NULL);
    assert_labels(&spec, "ranks=1 none|ranks=1 tree|ranks=2 none|ranks=2 tree|ranks=4 none|"
                         "ranks=4 ring|ranks=4 tree");
    spec_free(&spec);
    /* One combination may match no point, but not all of them. */
    snprintf(text, sizeof text,
             "%sexclude:\n- sync: {strategy: [ring, tree]}\n  ranks: [1, 8]\n- {ranks: 4}\n",
             matrix);
    load(&spec, text, NULL);
    assert_labels(&spec, "ranks=1 none|ranks=2 none|ranks=2 ring|ranks=2 tree");
    spec_free(&spec);
    snprintf(text, sizeof text, "%sexclude: [{ranks: [3, 8], sync.strategy: ring}]\n", matrix);
    refuse(
        text, NULL,
        "5:11: this exclude matches no point of the matrix. Correct its values, or leave it out");
    snprintf(text, sizeof text, "%sexclude: [{ranks: []}]\n", matrix);
    refuse(text, NULL, "5:19: ranks: an empty list excludes nothing");
    snprintf(text, sizeof text, "%sexclude: [{ranks: [1, two]}]\n", matrix);
    refuse(text, NULL, "5:23: ranks: 'two' is not a number");
}

static void test_exclude(void **state)
{
    struct spec spec;
    const char *text = BODY "matrix: {ranks: [1, 2], sync.strategy: [none, allreduce]}\n"
                            "exclude:\n  - {ranks: 1, sync: {strategy: allreduce}}\n";
    load(&spec, text, NULL);
    assert_labels(&spec, "ranks=1 none|ranks=2 none|ranks=2 allreduce");
    spec_free(&spec);
    /* An exclude may match nothing if SET gives the values. */
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
    struct spec spec;
    load(&spec,
         BODY "scaling: strong\nmatrix: {ranks: [2, 4]}\n"
              "baseline: {ranks: 1, sync.strategy: none}\n",
         NULL);
    assert_labels(&spec, "ranks=1 none|ranks=2 allreduce|ranks=4 allreduce");
    assert_true(spec.points[0].base && !spec.points[0].requested);
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(spec.points[i].base_index, 0);
    assert_int_equal(spec.n_varying, 1); /* strategy differs only in the base */
    assert_int_equal(spec.varying[0], OPT_RANKS);
    spec_free(&spec);
}

/* The base does not use sync.cap_mib, so one base serves both bucket sizes. */
static void test_base_of_unused_axis(void **state)
{
    (void)state;
    struct spec spec;
    static const char *const strategies[] = {"[none, bucketed]", "[bucketed]"};
    for (size_t i = 0; i < 2; i++) {
        char text[512];
        snprintf(text, sizeof text,
                 "name: test\nmodel: keras_690k\ntrain: {global_batch: 64}\n"
                 "matrix: {ranks: [1, 2], sync.strategy: %s, sync.cap_mib: [1, 2]}\n"
                 "exclude: [\"ranks = 1 and not sync.strategy = none\"]\n"
                 "baseline: {ranks: 1, sync.strategy: none}\n",
                 strategies[i]);
        load(&spec, text, NULL);
        assert_int_equal(spec.n_points, i == 0 ? 4 : 3);
        for (size_t k = 0; k < spec.n_points; k++)
            assert_int_equal(spec.points[k].base_index, 0);
        spec_free(&spec);
    }
}

/* Each point of several ranks with measure.replay gets one silent point, which is found again. */
static void test_silent_points_added(void **state)
{
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
        assert_int_equal(spec.points[i].silent_index, several ? silent : i);
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

/* Silent points drop options that strategy none rejects. */
static void test_silent_points_are_asked_for_nothing(void **state)
{
    static const char *const asked[] = {
        "bucketed, scale: pre",          "bucketed, compress: fp16",
        "bucketed, overlap: poll_tiles", "gather_scatter, variant: mpich",
        "allreduce, algorithm: ring",    "allreduce, zero: 2"};
    for (size_t i = 0; i < sizeof asked / sizeof *asked; i++) {
        char text[256];
        struct spec spec;
        snprintf(text, sizeof text,
                 "name: a\nmodel: softmax_784\ntrain: {global_batch: 64}\nranks: 2\n"
                 "sync: {strategy: %s}\nmeasure.replay: 5\n",
                 asked[i]);
        load(&spec, text, NULL);
        assert_int_equal(spec.n_points, 2);
        assert_int_equal(config_int(&spec.points[spec.points[0].silent_index].config, OPT_STRATEGY),
                         STRATEGY_none);
        assert_int_not_equal(spec.points[0].silent_index, 0);
        spec_free(&spec);
    }
}

/* ---- Comparison with an exhaustive search ---- */

static bool equal_where(const struct point *a, const struct point *b,
                        bool (*counts)(const struct spec_option *))
{
    for (size_t i = 0; i < OPTION_COUNT; i++)
        if (counts(option_get((enum option_id)i)) &&
            !value_equal(&a->config.values[i], &b->config.values[i]))
            return false;
    return true;
}

static bool of_points(const struct spec_option *option)
{
    return !scope_is_campaign(option->scope) && !option_is_derived(option->id);
}

static bool but_sync(const struct spec_option *option)
{
    return of_points(option) && strncmp(option->key, "sync.", 5) != 0;
}

static size_t plain_base(const struct spec *spec, size_t i)
{
    size_t best = i;
    for (size_t j = 0; j < spec->n_points; j++) {
        long ranks = config_int(&spec->points[j].config, OPT_RANKS);
        long least = config_int(&spec->points[best].config, OPT_RANKS);
        if (equal_where(&spec->points[i], &spec->points[j], option_is_problem) &&
            (ranks < least || (ranks == least && j < best)))
            best = j;
    }
    return best;
}

static size_t plain_baseline(const struct spec *spec, size_t i)
{
    struct point wanted = spec->points[i];
    for (size_t k = 0; k < OPTION_COUNT; k++)
        if (spec->matrix->baseline.config.values[k].set)
            wanted.config.values[k] = spec->matrix->baseline.config.values[k];
    size_t j = 0;
    while (j < spec->n_points && !equal_where(&spec->points[j], &wanted, of_points))
        j++;
    return j;
}

static size_t plain_alone(const struct spec *spec, size_t i)
{
    const struct point *points = spec->points;
    for (size_t j = 0; j < spec->n_points; j++)
        if (config_int(&points[i].config, OPT_STRATEGY) != STRATEGY_none &&
            config_int(&points[j].config, OPT_STRATEGY) == STRATEGY_none &&
            equal_where(&points[i], &points[j], but_sync))
            return j;
    return i;
}

/* Appends a random non-empty subset of the values. */
static void add_some(char *text, const char *key, const char *const *values, size_t n)
{
    size_t used = 0;
    sprintf(text + strlen(text), "  %s: [", key);
    for (size_t i = 0; i < n; i++)
        if (rand() % 2 || (i + 1 == n && used == 0))
            sprintf(text + strlen(text), "%s%s", used++ ? ", " : "", values[i]);
    strcat(text, "]\n");
}

static void test_like_a_plain_search(void **state)
{
    static const char *const ranks[] = {"4", "1", "2", "3", "8"}, *const seeds[] = {"3", "1", "2"},
                             *const models[] = {"softmax_784", "lenet_21k"},
                             *const strategies[] = {"ring", "none", "allreduce", "tree"},
                             *const rates[] = {"0.1", "1e-2", "0.5"},
                             *const binds[] = {"core", "none"};
    srand(7);
    for (int round = 0; round < 40; round++) {
        char text[2048] = "name: a\ntrain: {global_batch: 64}\nmeasure.steps_csv: true\nmatrix:\n";
        struct spec spec;
        bool baseline = round % 3 == 2;
        add_some(text, "train.lr", rates, 3);
        add_some(text, "ranks", ranks, 5);
        char *alone = strstr(text, "ranks: [1]"); /* strategies have no effect on one rank */
        if (alone != NULL)
            alone[strlen("ranks: [")] = '2';
        add_some(text, "model", models, 2);
        add_some(text, "sync.strategy", strategies, 4);
        add_some(text, "place.bind", binds, 2);
        add_some(text, "seed", seeds, 3);
        strcat(text, "  train.shuffle: [true, false]\n");
        if (baseline)
            strcat(text, "baseline: {ranks: 1, sync.strategy: none}\n");
        bool communicates = strstr(text, "strategy: [none]") == NULL;
        bool replays = rand() % 2 && communicates;
        load(&spec, text, replays ? "measure.replay=2" : NULL);
        for (size_t i = 0; i < spec.n_points; i++) {
            const struct point *point = &spec.points[i];
            assert_int_equal(point->base_index,
                             baseline ? plain_baseline(&spec, i) : plain_base(&spec, i));
            assert_int_equal(point->silent_index, plain_alone(&spec, i));
            assert_int_equal(spec_find_point(&spec, point->id), i);
        }
        assert_int_equal(spec_find_point(&spec, "000000000000"), spec.n_points);
        spec_free(&spec);
    }
}

/* Makes thousands of points by a long list of seeds. */
static void test_thousands_of_points(void **state)
{
    struct spec spec;
    char *text = malloc(1 << 16);
    strcpy(text, "name: a\nmodel: softmax_784\ntrain: {global_batch: 64}\n"
                 "measure.steps_csv: true\n"
                 "matrix:\n  ranks: [1, 2, 3, 4, 5, 6, 7, 8]\n  seed: [1");
    for (int i = 2; i <= 1000; i++)
        sprintf(text + strlen(text), ", %d", i);
    load(&spec, strcat(text, "]\n"), NULL);
    assert_int_equal(spec.n_points, 8000);
    for (size_t i = 0; i < spec.n_points; i++)
        assert_int_equal(spec.points[i].base_index, i % 1000);
    spec_free(&spec);
    free(text);
}

/* Every problem has its own base, from the matrix if possible. */
static void test_baseline_a_problem(void **state)
{
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
    struct spec spec;
    load(&spec,
         HEAD "matrix: {train.batch_per_rank: [8, 16], ranks: [4, 2], place.bind: [core, numa]}\n",
         NULL);
    static const size_t bases[] = {2, 2, 2, 2, 6, 6, 6, 6};
    for (size_t i = 0; i < 8; i++)
        assert_int_equal(spec.points[i].base_index, bases[i]);
    spec_free(&spec);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_auto_ranks),
        cmocka_unit_test(test_variants),
        cmocka_unit_test(test_compressors),
        cmocka_unit_test(test_precisions),
        cmocka_unit_test(test_matrix_order),
        cmocka_unit_test(test_labels),
        cmocka_unit_test(test_exclude_lists),
        cmocka_unit_test(test_exclude),
        cmocka_unit_test(test_baseline_added),
        cmocka_unit_test(test_base_of_unused_axis),
        cmocka_unit_test(test_silent_points_added),
        cmocka_unit_test(test_silent_points_are_asked_for_nothing),
        cmocka_unit_test(test_like_a_plain_search),
        cmocka_unit_test(test_thousands_of_points),
        cmocka_unit_test(test_baseline_a_problem),
        cmocka_unit_test(test_default_base_a_problem),
    };
    return cmocka_run_group_tests_name("matrix", tests, make_file, remove_file);
}
