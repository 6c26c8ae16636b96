/* Model files: networks of the repository, all forms of layers, malformed files. */
#include "bench/spec/tests/corpus.h"

#include <math.h>
#include <unistd.h>

#include "bench/spec/spec.h"

/* ---- Networks of the repository, against the reports' parameter tables ---- */

static void check_net(const char *name, size_t params, uint64_t flops, enum initializer initializer,
                      double mean, double std)
{
    struct net_desc net;
    struct error e;
    assert_int_equal(model_load(&net, name, &e), OK);
    assert_string_equal(net.name, name);
    assert_int_equal(net.n_params, params);
    assert_int_equal(net.flops_forward, flops);
    assert_int_equal(net.initializer, initializer);
    /* precision of the files */
    assert_true(fabs(net.mean[0] - mean) < 1e-14 && fabs(net.std[0] - std) < 1e-14);
    assert_int_equal(net.classes, 10);
    net_desc_free(&net);
}

static void test_softmax(void **state)
{
    check_net("softmax_784", 784 * 10 + 10, 2 * 784 * 10, INIT_PYTORCH, 0.1307, 0.3081);
}

static void test_lenet(void **state)
{
    size_t params = (10 * 25 + 10) + (20 * 10 * 25 + 20) + (320 * 50 + 50) + (50 * 10 + 10);
    assert_int_equal(params, 21840);
    uint64_t flops = 2 * (25 * 10 * 24 * 24 + 250 * 20 * 8 * 8 + 320 * 50 + 50 * 10);
    check_net("lenet_21k", params, flops, INIT_PYTORCH, 0.1307, 0.3081);
}

static void test_keras(void **state)
{
    size_t params = 320 + 36992 + 295168 + 257000 + 100100 + 1010; /* from the report's table */
    assert_int_equal(params, 690590);
    uint64_t flops = 2 * (9 * 32 * 26 * 26 + 9 * 32 * 128 * 11 * 11 + 9 * 128 * 256 * 3 * 3 +
                          256 * 1000 + 1000 * 100 + 100 * 10);
    check_net("keras_690k", params, flops, INIT_GLOROT, 0, 1);
}

static void test_keras_1200k(void **state)
{
    size_t params = 320 + 18496 + 1179776 + 1290;
    assert_int_equal(params, 1199882);
    uint64_t flops = 2 * (9 * 32 * 26 * 26 + 9 * 32 * 64 * 24 * 24 + 9216 * 128 + 128 * 10);
    check_net("keras_1200k", params, flops, INIT_GLOROT, 0, 1);
}

static void test_cifar(void **state)
{
    size_t params = 456 + 2416 + 48120 + 10164 + 850;
    assert_int_equal(params, 62006);
    uint64_t flops = 2 * (75 * 6 * 28 * 28 + 150 * 16 * 10 * 10 + 400 * 120 + 120 * 84 + 84 * 10);
    check_net("cifar_62k", params, flops, INIT_PYTORCH, 0.5, 0.5);
}

/* Checks a VGG. Its channels are divided by `divisor`; sides: sizes of the outputs. */
static void check_vgg(const char *name, int divisor, size_t params, uint64_t flops)
{
    static const int channels[] = {64, 128, 256, 256, 512, 512, 512, 512};
    static const int sides[] = {32, 16, 8, 8, 4, 4, 2, 2};
    struct net_desc net;
    struct error e;
    size_t counted = 0, before = 3;
    uint64_t work = 0;
    for (int i = 0; i < 8; i++) {
        size_t c = (size_t)(channels[i] / divisor);
        counted += 9 * before * c + 3 * c; /* weights, biases, two parameters of batch norm */
        work += 2 * 9 * before * c * (size_t)(sides[i] * sides[i]);
        before = c;
    }
    assert_int_equal(counted + before * 10 + 10, params);
    assert_int_equal(work + 2 * before * 10, flops);
    check_net(name, params, flops, INIT_PYTORCH, 125.3 / 255, 63.0 / 255);
    assert_int_equal(model_load(&net, name, &e), OK);
    assert_int_equal(net.n_tensors, 34);
    assert_int_equal(net.n_buffers, 16);
    assert_int_equal(net.n_buffer_values, 5504 / divisor);
    assert_true(fabs(net.mean[2] - 113.9 / 255) < 1e-14 && fabs(net.std[2] - 66.7 / 255) < 1e-14);
    net_desc_free(&net);
}

static void test_vgg(void **state)
{
    check_vgg("vgg11_bn", 1, 9231114, 305539072);
    check_vgg("vgg_mini", 16, 36954, 1401472);
}

static void test_keras_order(void **state)
{
    static const enum layer_kind kinds[] = {
        LAYER_conv2d,    LAYER_relu,   LAYER_maxpool2d, LAYER_conv2d,    LAYER_relu,
        LAYER_maxpool2d, LAYER_conv2d, LAYER_relu,      LAYER_maxpool2d, LAYER_dropout,
        LAYER_dense,     LAYER_relu,   LAYER_dense,     LAYER_relu,      LAYER_dense};
    struct net_desc net;
    struct error e;
    assert_int_equal(model_load(&net, "keras_690k", &e), OK);
    assert_int_equal(net.n_layers, sizeof kinds / sizeof *kinds);
    for (int i = 0; i < net.n_layers; i++)
        assert_int_equal(net.layers[i].kind, kinds[i]);
    assert_int_equal(net.layers[10].line, 20);
    assert_int_equal(net.layers[10].column, 5);
    net_desc_free(&net);
}

/* ---- Files written by the test ---- */

static char file[] = "/tmp/scalebench-model-XXXXXX.yaml";

static int make_file(void **state)
{
    int fd = mkstemps(file, 5);
    return fd < 0 ? -1 : close(fd);
}

static int remove_file(void **state)
{
    return unlink(file);
}

static enum status load_text(struct net_desc *net, const char *text, struct error *e)
{
    FILE *out = fopen(file, "w");
    assert_non_null(out);
    fputs(text, out);
    assert_int_equal(fclose(out), 0);
    return model_load(net, file, e);
}

static void test_forms_of_a_layer(void **state)
{
    struct net_desc net;
    struct error e;
    const char *text = "layers:\n"
                       "  - conv2d: {channels: 4, kernel: [3, 5], stride: [1, 2], pad: 1}\n"
                       "  - relu:\n"
                       "  - maxpool2d:\n"
                       "      size: 2\n"
                       "      stride: 1\n"
                       "  - 'dropout'\n"
                       "  - {dropout: {rate: 2.5e-1}}\n"
                       "  - dense: {name: last, outputs: 3}\n"
                       "input: [2, 8, 9]\n"
                       "classes: 3\n"
                       "normalize: {std: [0.5, 0.25]}\n"
                       "initializer: he\n"
                       "name: \"forms\"\n";
    assert_int_equal(load_text(&net, text, &e), OK);
    const struct layer_desc *conv = &net.layers[0];
    assert_int_equal(conv->kernel_h, 3);
    assert_int_equal(conv->kernel_w, 5);
    assert_int_equal(conv->stride_h, 1);
    assert_int_equal(conv->stride_w, 2);
    assert_int_equal(conv->pad_h, 1);
    assert_int_equal(conv->pad_w, 1);
    assert_int_equal(conv->out.h, 8);         /* (8 + 2 - 3)/1 + 1 */
    assert_int_equal(conv->out.w, 4);         /* (9 + 2 - 5)/2 + 1 */
    assert_int_equal(net.layers[2].out.h, 7); /* window 2, step 1 */
    assert_true(net.layers[3].rate == 0.5);   /* default */
    assert_true(net.layers[4].rate == 0.25);
    assert_string_equal(net.layers[5].name, "last");
    assert_true(net.mean[1] == 0 && net.std[1] == 0.25);
    assert_int_equal(net.initializer, INIT_HE);
    net_desc_free(&net);
}

static void test_zero_parameters(void **state)
{
    struct net_desc net;
    struct error e;
    const char *text = "name: none\ninput: [1, 2, 2]\nclasses: 4\nparameters: 5\n"
                       "layers: [{dropout: {rate: 0.1}}]\n";
    assert_int_equal(load_text(&net, text, &e), ERR_SHAPE);
    assert_int_equal(e.line, 5);
    assert_string_equal(e.file, file);
    assert_null(net.layers); /* nothing to free */
}

/* Repeated layers and private keys give the same network as plain layers. */
static void test_repeated_layers(void **state)
{
    struct net_desc net, plain;
    struct error e;
    const char *text = "x-conv: &conv {kernel: 3, pad: 1, channels: 4}\n"
                       "name: &name blocks\ninput: [1, 8, 8]\nclasses: &classes 3\nlayers:\n"
                       "  - conv2d: *conv\n  - &act relu\n"
                       "  - conv2d: {<<: *conv, channels: 8}\n  - *act\n"
                       "  - dense: {outputs: *classes}\n";
    const char *written = "name: blocks\ninput: [1, 8, 8]\nclasses: 3\nlayers:\n"
                          "  - conv2d: {kernel: 3, pad: 1, channels: 4}\n  - relu\n"
                          "  - conv2d: {kernel: 3, pad: 1, channels: 8}\n  - relu\n"
                          "  - dense: {outputs: 3}\n";
    char digest[2][65];
    assert_int_equal(load_text(&net, text, &e), OK);
    assert_int_equal(load_text(&plain, written, &e), OK);
    assert_int_equal(model_sha256(&net, digest[0], &e), OK);
    assert_int_equal(model_sha256(&plain, digest[1], &e), OK);
    assert_string_equal(digest[0], digest[1]);
    assert_int_equal(net.layers[2].out.c, 8);
    net_desc_free(&net);
    net_desc_free(&plain);
}

/* A layer without bias has one tensor less and another digest. With bias, the digest is
 * unchanged. */
static void test_layers_without_bias(void **state)
{
    struct net_desc net, with, without;
    struct error e;
    char digest[3][65];
#define HEAD "name: b\ninput: [1, 8, 8]\nclasses: 3\nlayers:\n  - conv2d: {channels: 4, kernel: 3"
#define TAIL "}\n  - batchnorm2d\n  - dense: {outputs: 3}\n"
    assert_int_equal(load_text(&net, HEAD TAIL, &e), OK);
    assert_int_equal(load_text(&with, HEAD ", bias: yes" TAIL, &e), OK);
    assert_int_equal(load_text(&without, HEAD ", bias: false" TAIL, &e), OK);
    assert_int_equal(net.n_params, 4 * 9 + 4 + 8 + 3 * 144 + 3);
    assert_int_equal(without.n_params, net.n_params - 4);
    assert_int_equal(without.n_tensors, net.n_tensors - 1);
    assert_string_equal(without.tensors[1].name, "batchnorm2d1.weight");
    assert_int_equal(without.flops_backward, net.flops_backward);
    struct net_desc *nets[] = {&net, &with, &without};
    for (int i = 0; i < 3; i++) {
        assert_int_equal(model_sha256(nets[i], digest[i], &e), OK);
        net_desc_free(nets[i]);
    }
    assert_string_equal(digest[0], digest[1]);
    assert_string_not_equal(digest[0], digest[2]);
}

/* ---- Errors ---- */

static enum status read_model(const char *path, struct error *e)
{
    struct net_desc net;
    enum status status = model_load(&net, path, e);
    if (status == OK)
        net_desc_free(&net);
    return status;
}

static void test_malformed(void **state)
{
    corpus_check("bench/tests/bad/models", 25, read_model);
}

static void test_unknown_name(void **state)
{
    struct error e;
    assert_int_equal(read_model("lenet_12k", &e), ERR_SPEC);
    assert_string_equal(e.text, "'lenet_12k' is unknown; nearest 'lenet_21k'; known: cifar_62k "
                                "keras_1200k keras_690k lenet_21k softmax_784 vgg11_bn vgg_mini "
                                "(in configs/models)");
    assert_int_equal(read_model("./nowhere.yaml", &e), ERR_SPEC);
    assert_string_equal(e.text,
                        "model file './nowhere.yaml' cannot be opened: No such file or directory");
}

/* From another folder, models are found below $SCALEBENCH_HOME only. */
static void test_home(void **state)
{
    char *here = getcwd(NULL, 0);
    struct error e;
    assert_int_equal(chdir("/"), 0);
    unsetenv("SCALEBENCH_HOME");
    enum status without = read_model("softmax_784", &e);
    setenv("SCALEBENCH_HOME", here, 1);
    enum status with = read_model("softmax_784", &e);
    enum status unknown = read_model("softmax", &e);
    unsetenv("SCALEBENCH_HOME");
    assert_int_equal(chdir(here), 0);
    free(here);
    assert_int_equal(without, ERR_SPEC);
    assert_int_equal(with, OK);
    assert_int_equal(unknown, ERR_SPEC);
    assert_non_null(
        strstr(e.text, "known: cifar_62k keras_1200k keras_690k lenet_21k softmax_784"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_softmax),         cmocka_unit_test(test_lenet),
        cmocka_unit_test(test_keras),           cmocka_unit_test(test_keras_1200k),
        cmocka_unit_test(test_cifar),           cmocka_unit_test(test_vgg),
        cmocka_unit_test(test_keras_order),     cmocka_unit_test(test_forms_of_a_layer),
        cmocka_unit_test(test_repeated_layers), cmocka_unit_test(test_layers_without_bias),
        cmocka_unit_test(test_zero_parameters), cmocka_unit_test(test_malformed),
        cmocka_unit_test(test_unknown_name),    cmocka_unit_test(test_home),
    };
    return cmocka_run_group_tests_name("model", tests, make_file, remove_file);
}
