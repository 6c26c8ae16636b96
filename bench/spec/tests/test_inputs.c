/* Files of a spec: where they are searched, and which are the same input. */
#include <errno.h>

#include "bench/base/safetensors.h"
#include "bench/collect/tests/fake_folder.h"

static char home[4096]; /* current folder of all other tests */

#define NET(layers)                                                                                \
    "name: own\ninput: [1, 28, 28]\nclasses: 10\nlayers:\n" layers "  - dense: {outputs: 10}\n"

static int make_folders(void **state)
{
    return make_folder(state) == 0 && getcwd(home, sizeof home) != NULL ? 0 : -1;
}

static void make_below(const char *name)
{
    assert_true(mkdir(path_of(name), 0700) == 0 || errno == EEXIST);
}

/* Writes and loads a spec in folder/sub that ends in `rest`. */
static enum status try_load(struct spec *spec, const char *rest, const char *set, struct error *e)
{
    char text[512];
    const struct spec_machine machine = {.usable_cores = 8};
    make_below("sub");
    snprintf(text, sizeof text, "name: own\ntrain: {global_batch: 64}\n%s", rest);
    fake_write(path_of("sub/spec.yaml"), text);
    return spec_load(spec, path_of("sub/spec.yaml"), set, &machine, e);
}

static void load(struct spec *spec, const char *rest, const char *set)
{
    struct error e = {.status = OK};
    if (try_load(spec, rest, set, &e) != OK)
        fail_msg("%s:%d: %s", e.file, e.line, e.text);
}

static void identity_of(char id[16], const char *rest, const char *set)
{
    struct spec spec;
    load(&spec, rest, set);
    strcpy(id, spec.points[0].id);
    spec_free(&spec);
}

static void a_net_is_found_beside_its_spec_first(void **state)
{
    struct spec spec;
    make_below("sub");
    make_below("elsewhere");
    fake_write(path_of("sub/net.yaml"), NET(""));
    fake_write(path_of("elsewhere/net.yaml"), NET("  - dropout: {rate: 0.5}\n"));
    fake_write(path_of("elsewhere/only.yaml"), NET("  - dropout: {rate: 0.25}\n"));
    assert_int_equal(chdir(path_of("elsewhere")), 0);

    load(&spec, "model: net.yaml\n", NULL);
    assert_int_equal(spec.points[0].net->net.n_layers, 1);
    assert_string_equal(spec.points[0].net->path, path_of("sub/net.yaml"));
    assert_string_equal(config_text(&spec.points[0].config, OPT_MODEL), "net");
    spec_free(&spec);
    load(&spec, "model: only.yaml\n", NULL);
    assert_string_equal(spec.points[0].net->path, "only.yaml");
    spec_free(&spec);
    /* Paths in SET are relative to the current folder. */
    load(&spec, "model: only.yaml\n", "model=net.yaml");
    assert_int_equal(spec.points[0].net->net.n_layers, 2);
    spec_free(&spec);

    struct error e;
    assert_int_equal(try_load(&spec, "model: nets.yaml\n", NULL, &e), ERR_SPEC);
    assert_int_equal(e.line, 3);
    assert_non_null(strstr(e.text, "model: 'nets.yaml' not found in"));
    assert_non_null(strstr(e.text, "; nearest 'net.yaml'"));
    spec_free(&spec);
    assert_int_equal(chdir(home), 0);
}

/* Names, folders and spelling of a network file do not matter. */
static void the_content_of_a_net_is_its_identity(void **state)
{
    char first[16], second[16];
    fake_write(path_of("sub/net.yaml"), NET(""));
    identity_of(first, "model: net.yaml\n", NULL);
    fake_write(path_of("sub/net.yaml"), NET("  - dropout: {rate: 0.5}\n"));
    identity_of(second, "model: net.yaml\n", NULL);
    assert_string_not_equal(first, second);

    fake_write(path_of("sub/other.yaml"), "# The same.\n" NET("  - dropout: { rate: 0.50 }\n"));
    identity_of(first, "model: ./other.yaml\n", NULL);
    assert_string_equal(first, second);
    identity_of(first, "model: lenet_21k\n", NULL);
    fake_write(path_of("sub/net.yaml"), NET("  - batchnorm2d: {epsilon: 1e-4}\n"));
    identity_of(first, "model: net.yaml\n", NULL);
    fake_write(path_of("sub/net.yaml"), NET("  - batchnorm2d: {epsilon: 1e-3}\n"));
    identity_of(second, "model: net.yaml\n", NULL);
    assert_string_not_equal(first, second);
}

static void nets_of_one_name_get_names_of_their_own(void **state)
{
    struct spec spec;
    struct error e;
    make_below("sub/a");
    make_below("sub/b");
    fake_write(path_of("sub/a/net.yaml"), NET(""));
    fake_write(path_of("sub/b/net.yaml"), NET("  - dropout: {rate: 0.5}\n"));
    fake_write(path_of("sub/b/same.yaml"), NET(""));
    load(&spec,
         "matrix: {model: [a/net.yaml, b/net.yaml], ranks: [1, 2]}\n"
         "exclude: [{model: b/same.yaml, ranks: 2}]\n",
         NULL);
    assert_int_equal(spec.n_points, 3);
    assert_string_equal(spec.points[0].label, "ranks=1 net");
    assert_string_equal(spec.points[1].label, "ranks=1 net-2");
    assert_string_equal(spec.points[2].label, "ranks=2 net-2");
    assert_int_equal(spec.n_inputs, 2);
    assert_string_equal(spec.inputs[0].copy, "models/net.yaml");
    assert_string_equal(spec.inputs[1].copy, "models/net-2.yaml");
    spec_free(&spec);

    assert_int_equal(
        try_load(&spec, "matrix: {model: [a/net.yaml, b/net.yaml, b/same.yaml]}\n", NULL, &e),
        ERR_SPEC);
    assert_string_equal(e.text,
                        "model: 'b/same.yaml' is the same file as 'net'. Leave one of them out");
    spec_free(&spec);
}

static const char *path_in(const struct spec *spec, enum option_id id)
{
    return config_path(&spec->points[0].config, id);
}

/* Writes weights of softmax_784, whose header the reader of specs compares with the network. */
static void write_weights(const char *path)
{
    static const float numbers[7840];
    const struct safetensors_tensor tensors[] = {
        {.name = "fc.weight", .dtype = "F32", .n_dims = 2, .dims = {10, 784}, .data = numbers},
        {.name = "fc.bias", .dtype = "F32", .n_dims = 1, .dims = {10}, .data = numbers}};
    struct error e = {.status = OK};
    if (safetensors_write(path, tensors, 2, NULL, &e) != OK)
        fail_msg("%s: %s", e.file, e.text);
}

/* Files are searched beside the spec, then in the current folder; for SET in the opposite order. A
 * new file is placed in an existing folder. */
static void other_paths_are_seen_as_a_net_is(void **state)
{
    static const char rest[] = "model: softmax_784\ndata: {path: images}\n"
                               "checkpoint: {start: a.safetensors, every_epochs: 1, path: out/c}\n"
                               "measure.accuracy.seeds: [1]\n";
    struct spec spec;
    struct error e;
    make_below("sub");
    make_below("sub/images");
    make_below("here");
    make_below("here/images");
    make_below("here/out");
    write_weights(path_of("here/a.safetensors"));
    char models[4200];
    snprintf(models, sizeof models, "%s", home);
    setenv("SCALEBENCH_HOME", models, 1);
    assert_int_equal(chdir(path_of("here")), 0);

    load(&spec, rest, NULL);
    assert_string_equal(path_in(&spec, OPT_DATA_PATH), path_of("sub/images"));
    assert_string_equal(path_in(&spec, OPT_CHECKPOINT_START), path_of("here/a.safetensors"));
    assert_string_equal(path_in(&spec, OPT_CHECKPOINT_PATH), path_of("here/out/c"));
    assert_string_equal(config_text(&spec.points[0].config, OPT_DATA_PATH), "images");
    spec_free(&spec);
    load(&spec, rest, "data.path=images checkpoint.path=c");
    assert_string_equal(path_in(&spec, OPT_DATA_PATH), path_of("here/images"));
    assert_string_equal(path_in(&spec, OPT_CHECKPOINT_PATH), path_of("here/c"));
    spec_free(&spec);
    assert_int_equal(try_load(&spec, rest, "checkpoint.start=gone", &e), ERR_SPEC);
    assert_non_null(strstr(e.text, "checkpoint.start: 'gone' not found in"));
    spec_free(&spec);
    assert_int_equal(chdir(home), 0);
    unsetenv("SCALEBENCH_HOME");
}

/* A recorded spec finds the same files from any folder and has the same points. */
static void a_recorded_spec_finds_its_files_from_anywhere(void **state)
{
    const struct spec_machine machine = {.usable_cores = 8};
    struct spec spec, copy;
    struct error e = {.status = OK};
    make_below("sub");
    make_below("sub/images");
    make_below("run");
    make_below("run/models");
    load(&spec, "model: lenet_21k\ndata: {path: images}\n", NULL);
    FILE *out = fopen(path_of("run/spec.yaml"), "w");
    assert_non_null(out);
    assert_int_equal(spec_write(out, &spec, &e), OK);
    assert_int_equal(fclose(out), 0);
    fake_write(path_of("run/models/lenet_21k.yaml"), NET(""));
    assert_int_equal(chdir(path_of("run")), 0);
    if (spec_load(&copy, path_of("run/spec.yaml"), NULL, &machine, &e) != OK)
        fail_msg("%s:%d: %s", e.file, e.line, e.text);
    assert_string_equal(path_in(&copy, OPT_DATA_PATH), path_of("sub/images"));
    assert_string_equal(config_text(&copy.points[0].config, OPT_DATA_PATH), "images");
    spec_free(&copy);
    spec_free(&spec);
    assert_int_equal(chdir(home), 0);
}

static void a_spec_without_a_name_goes_by_its_file(void **state)
{
    const struct spec_machine machine = {.usable_cores = 8};
    struct spec spec;
    struct error e = {.status = OK};
    make_below("sub");
    fake_write(path_of("sub/my_study.yaml"), "model: lenet_21k\ntrain.global_batch: 64\n");
    assert_int_equal(spec_load(&spec, path_of("sub/my_study.yaml"), NULL, &machine, &e), OK);
    assert_string_equal(config_text(&spec.config, OPT_NAME), "my_study");
    spec_free(&spec);
    fake_write(path_of("sub/my study.yaml"), "model: lenet_21k\ntrain.global_batch: 64\n");
    assert_int_equal(spec_load(&spec, path_of("sub/my study.yaml"), NULL, &machine, &e), ERR_SPEC);
    assert_non_null(strstr(e.text, "name: 'my study' cannot name a folder"));
    spec_free(&spec);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_net_is_found_beside_its_spec_first),
        cmocka_unit_test(the_content_of_a_net_is_its_identity),
        cmocka_unit_test(nets_of_one_name_get_names_of_their_own),
        cmocka_unit_test(other_paths_are_seen_as_a_net_is),
        cmocka_unit_test(a_recorded_spec_finds_its_files_from_anywhere),
        cmocka_unit_test(a_spec_without_a_name_goes_by_its_file),
    };
    return cmocka_run_group_tests_name("inputs", tests, make_folders, remove_folder);
}
