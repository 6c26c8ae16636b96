/* Lookup of names, and messages about unknown ones. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "kernels/base/names.h"

static const char *const known[] = {"none", "allreduce", "ring"};

static void assert_near(const char *name, const char *const *names, size_t n, const char *expected)
{
    char text[NAME_NEAR_BYTES];
    assert_string_equal(name_near(text, name, names, n), expected);
}

static void nearest_name_is_found_by_edits(void **state)
{
    assert_near("rign", known, 3, "; nearest 'ring'");  /* swap of neighbours */
    assert_near("rng", known, 3, "; nearest 'ring'");   /* inserted letter */
    assert_near("rings", known, 3, "; nearest 'ring'"); /* deleted letter */
    assert_near("allredoce", known, 3, "; nearest 'allreduce'");
    assert_near("hypercube", known, 3, "");
    assert_near("", known, 3, "");
    assert_near("ring", known, 0, "");
}

/* Two letters may differ by one edit ("ab" from "ba"), not by two; eight letters by three. */
static void a_third_of_a_name_may_differ(void **state)
{
    const char *const short_names[] = {"ba", "cd"};
    assert_near("ab", short_names, 2, "; nearest 'ba'");
    assert_near("ab", short_names + 1, 1, "");
    assert_near("fusiones", (const char *const[]){"fusion"}, 1, "; nearest 'fusion'");
    assert_near("throughput", (const char *const[]){"output"}, 1, "");
    char longer[300];
    memset(longer, 'a', sizeof longer - 1);
    longer[sizeof longer - 1] = '\0';
    assert_near(longer, short_names, 2, "");
}

static void two_names_may_be_as_near(void **state)
{
    static const char *const names[] = {"cores", "nodes", "codes", "ring"};
    assert_near("cods", names, 4, "; nearest 'codes'");
    assert_near("coes", names, 4, "; nearest 'cores' or 'codes'");
    assert_near("NODES", names, 4, "; nearest 'nodes'");
    assert_near("rodes", names, 4, "; nearest 'nodes' or 'codes'");
}

/* The end of a path counts unless a whole name is as near. */
static void ends_of_paths_are_near(void **state)
{
    static const char *const paths[] = {"train.lr", "site.rate", "compute.rate",
                                        "ranks",    "sync.rank", "measure.time.steps"};
    assert_near("lr", paths, 6, "; nearest 'train.lr'");
    assert_near("rate", paths, 6, "; nearest 'site.rate' or 'compute.rate'");
    assert_near("rank", paths, 6, "; nearest 'ranks'");
    assert_near("time.steps", paths, 6, "; nearest 'measure.time.steps'");
    assert_near("steps", paths, 6, "; nearest 'measure.time.steps'");
    assert_near("train.lrr", paths, 6, "; nearest 'train.lr'");
}

static const char *const keys[] = {"ranks",
                                   "data.path",
                                   "data.set",
                                   "train.optimizer",
                                   "train.lr",
                                   "train.lr_warmup",
                                   "train.weight_decay",
                                   "train.batch_norm",
                                   "train.global_batch",
                                   "sync.algorithm",
                                   "site.delay",
                                   "site.hosts",
                                   "measure.time.steps",
                                   "place.threads_per_rank",
                                   NULL};
static const char *const columns[] = {"flags",   "unit",         "seed",       "spec",
                                      "remedy",  "output",       "step_ms",    "step_ms_median",
                                      "speedup", "images_per_s", "memory_mib", "rss_mib",
                                      "wait_ms", "gflop_per_s",  NULL};
static const char *const words[] = {"run",         "plan",           "figures",      "compare",
                                    "completion",  "lenet_21k",      "vgg_mini",     "vgg11_bn",
                                    "softmax_784", "strong_scaling", "weak_scaling", NULL};

/* Typical mistakes and the intended names. */
static const struct {
    const char *const *known;
    const char *typed, *meant;
} typed[] = {
    {keys, "lr", "'train.lr'"},
    {keys, "trian.lr", "'train.lr'"},
    {keys, "train_lr", "'train.lr'"},
    {keys, "dataset", "'data.set'"},
    {keys, "rank", "'ranks'"},
    {keys, "batch", "'train.batch_norm' or 'train.global_batch'"},
    {keys, "bach", "'train.batch_norm' or 'train.global_batch'"},
    {keys, "train.foo", NULL},
    {keys, "batch_size", "'train.batch_norm' or 'train.global_batch'"},
    {keys, "decay", "'train.weight_decay'"},
    {keys, "opt", "'train.optimizer'"},
    {keys, "optimiser", "'train.optimizer'"},
    {keys, "algo", "'sync.algorithm'"},
    {keys, "warmup", "'train.lr_warmup'"},
    {keys, "threads", "'place.threads_per_rank'"},
    {keys, "steps", "'measure.time.steps'"},
    {keys, "norm", "'train.batch_norm'"},
    {columns, "flaf", "'flags'"},
    {columns, "speed", "'speedup'"},
    {columns, "speed_up", "'speedup'"},
    {columns, "images", "'images_per_s'"},
    {columns, "memory", "'memory_mib'"},
    {columns, "rss", "'rss_mib'"},
    {columns, "wait", "'wait_ms'"},
    {columns, "gflops", "'gflop_per_s'"},
    {columns, "step_median", "'step_ms_median'"},
    {words, "figure", "'figures'"},
    {words, "fig", "'figures'"},
    {words, "comp", "'compare' or 'completion'"},
    {words, "rnu", "'run'"},
    {words, "lenet", "'lenet_21k'"},
    {words, "mini_vgg", "'vgg_mini'"},
    {words, "vgg", "'vgg_mini' or 'vgg11_bn'"},
    {words, "vgg11bn", "'vgg11_bn'"},
    {words, "softmax", "'softmax_784'"},
    {words, "scaling", "'strong_scaling' or 'weak_scaling'"},
    {words, "strongscaling", "'strong_scaling'"},
};

static void typing_errors_find_the_intended_name(void **state)
{
    for (size_t i = 0; i < sizeof typed / sizeof *typed; i++) {
        const char *const *known_names = typed[i].known;
        char expected[NAME_NEAR_BYTES];
        size_t n = 0;
        while (known_names[n] != NULL)
            n++;
        snprintf(expected, sizeof expected, "%s%s", typed[i].meant != NULL ? "; nearest " : "",
                 typed[i].meant != NULL ? typed[i].meant : "");
        assert_near(typed[i].typed, known_names, n, expected);
    }
}

static void assert_explained(const char *name, const char *beside, const char *expected)
{
    static const char *const here[] = {"ranks", "model"}, *const elsewhere[] = {
                                                              "train.lr",     "sync.rank",
                                                              "sync.zip",     "site.rate",
                                                              "compute.rate", "measure.time.steps",
                                                              "zip"};
    char text[512];
    struct name_places places = {here, 2, elsewhere, 7, beside};
    assert_string_equal(name_explain_place(text, sizeof text, name, &places), expected);
}

static void a_name_that_belongs_elsewhere_says_where(void **state)
{
    assert_explained("rank", NULL, "'rank' is unknown; nearest 'ranks'; known: ranks model");
    assert_explained("lr", NULL, "'lr' is unknown here; nearest 'train.lr', a key of 'train:'");
    assert_explained("step", NULL,
                     "'step' is unknown here; nearest 'measure.time.steps', a key of "
                     "'measure.time:'");
    assert_explained("rate", NULL,
                     "'rate' is unknown here; nearest 'site.rate', a key of 'site:', or "
                     "'compute.rate', a key of 'compute:'");
    assert_explained("zip", "matrix", "'zip' is a top-level key; move it beside 'matrix'");
    assert_explained("zip", NULL, "'zip' is a top-level key; move it to the top of the file");
    assert_explained("zipp", NULL, "'zipp' is unknown here; nearest 'zip', a top-level key");
    assert_explained("hypercube", NULL, "'hypercube' is unknown; known: ranks model");
}

static void options_are_near_without_dashes(void **state)
{
    static const char *const names[] = {"set", "out", "train.lr"};
    char text[NAME_NEAR_BYTES];
    assert_string_equal(option_near(text, "--sett=x", names, 3), "; nearest '--set'");
    assert_string_equal(option_near(text, "--lr", names, 3), "; nearest '--train.lr'");
    assert_string_equal(option_near(text, "--frobnicate", names, 3), "");
}

static void names_are_looked_up(void **state)
{
    assert_int_equal(name_index("allreduce", known, 3), 1);
    assert_int_equal(name_index("all", known, 3), -1);
}

static void rows_are_looked_up_by_name(void **state)
{
    static const struct {
        const char *name;
        double value[3];
    } rows[] = {{"text", {1}}, {"csv", {2}}};
    struct error e;
    int index;
    assert_int_equal(option_row("format", "csv", rows, 2, sizeof *rows, &index, &e), OK);
    assert_int_equal(index, 1);
    assert_int_equal(option_row("format", "cvs", rows, 2, sizeof *rows, &index, &e), ERR_ARGUMENT);
    assert_string_equal(e.text, "--format: 'cvs' is unknown; nearest 'csv'; known: text csv");
}

static void unknown_names_are_explained(void **state)
{
    char text[100], little[20];
    assert_string_equal(name_explain(text, sizeof text, "rign", known, 3),
                        "'rign' is unknown; nearest 'ring'; known: none allreduce ring");
    assert_string_equal(name_explain(text, sizeof text, "hypercube", known, 3),
                        "'hypercube' is unknown; known: none allreduce ring");
    assert_string_equal(name_explain(text, sizeof text, "x", known, 0),
                        "'x' is unknown; known: nothing");
    assert_string_equal(name_explain(little, sizeof little, "rign", known, 3), "'rign' is unknown");
    /* The list is cut after a whole name. */
    assert_string_equal(name_explain(text, 48, "hypercube", known, 3),
                        "'hypercube' is unknown; known: none ...");
    assert_string_equal(name_explain(text, 52, "hypercube", known, 3),
                        "'hypercube' is unknown; known: none allreduce ring");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nearest_name_is_found_by_edits),
        cmocka_unit_test(two_names_may_be_as_near),
        cmocka_unit_test(ends_of_paths_are_near),
        cmocka_unit_test(typing_errors_find_the_intended_name),
        cmocka_unit_test(a_name_that_belongs_elsewhere_says_where),
        cmocka_unit_test(options_are_near_without_dashes),
        cmocka_unit_test(a_third_of_a_name_may_differ),
        cmocka_unit_test(names_are_looked_up),
        cmocka_unit_test(rows_are_looked_up_by_name),
        cmocka_unit_test(unknown_names_are_explained),
    };
    return cmocka_run_group_tests_name("names", tests, NULL, NULL);
}
