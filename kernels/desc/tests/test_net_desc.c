#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/desc/net_desc.h"

/* ---- Short constructors of layers ---- */

static struct layer_desc conv(int channels, int kernel, int pad)
{
    struct layer_desc l = layer_desc_preset(LAYER_conv2d);
    l.channels = channels;
    l.kernel_h = l.kernel_w = kernel;
    l.pad_h = l.pad_w = pad;
    return l;
}

static struct layer_desc pool2(void)
{
    struct layer_desc l = layer_desc_preset(LAYER_maxpool2d);
    l.kernel_h = l.kernel_w = 2;
    return l;
}

static struct layer_desc relu(void)
{
    return layer_desc_preset(LAYER_relu);
}

static struct layer_desc dense(int outputs)
{
    struct layer_desc l = layer_desc_preset(LAYER_dense);
    l.channels = outputs;
    return l;
}

static struct layer_desc named(struct layer_desc l, const char *name)
{
    snprintf(l.name, sizeof l.name, "%s", name);
    return l;
}

static void begin(struct net_desc *net, const char *name, struct shape input)
{
    assert_int_equal(net_desc_begin(net, name, input, 10, NULL), OK);
}

static void add(struct net_desc *net, struct layer_desc layer)
{
    struct error e = {.text = ""};
    if (net_desc_add(net, &layer, &e) != OK)
        fail_msg("%s", e.text);
}

static void end(struct net_desc *net)
{
    struct error e = {.text = ""};
    if (net_desc_end(net, &e) != OK)
        fail_msg("%s", e.text);
}

/* ---- Published networks ---- */

static const struct shape mnist = {1, 28, 28}, cifar = {3, 32, 32};

static void softmax_784(struct net_desc *net)
{
    begin(net, "softmax_784", mnist);
    add(net, dense(10));
    end(net);
}

static void lenet_21k(struct net_desc *net)
{
    begin(net, "lenet_21k", mnist);
    add(net, named(conv(10, 5, 0), "conv1"));
    add(net, pool2());
    add(net, relu());
    add(net, named(conv(20, 5, 0), "conv2"));
    add(net, layer_desc_preset(LAYER_dropout2d));
    add(net, pool2());
    add(net, relu());
    add(net, named(dense(50), "fc1"));
    add(net, relu());
    add(net, layer_desc_preset(LAYER_dropout));
    add(net, named(dense(10), "fc2"));
    end(net);
}

static void keras_690k(struct net_desc *net)
{
    const int channels[] = {32, 128, 256};
    begin(net, "keras_690k", mnist);
    for (int i = 0; i < 3; i++) {
        add(net, conv(channels[i], 3, 0));
        add(net, relu());
        add(net, pool2());
    }
    add(net, layer_desc_preset(LAYER_dropout));
    add(net, dense(1000));
    add(net, relu());
    add(net, dense(100));
    add(net, relu());
    add(net, dense(10));
    end(net);
}

static void horovod_keras(struct net_desc *net)
{
    begin(net, "horovod_keras", mnist);
    add(net, conv(32, 3, 0));
    add(net, relu());
    add(net, conv(64, 3, 0));
    add(net, relu());
    add(net, pool2());
    add(net, dense(128));
    add(net, relu());
    add(net, dense(10));
    end(net);
}

static void deepspeed_cifar(struct net_desc *net)
{
    begin(net, "deepspeed_cifar", cifar);
    add(net, conv(6, 5, 0));
    add(net, pool2());
    add(net, conv(16, 5, 0));
    add(net, pool2());
    add(net, dense(120));
    add(net, dense(84));
    add(net, dense(10));
    end(net);
}

/* VGG-11 without batch normalisation, which has 5,504 of the 9,231,114 parameters of VGG-11-BN. */
static void vgg11(struct net_desc *net)
{
    static const struct {
        int channels, pooled;
    } blocks[] = {{64, 1}, {128, 1}, {256, 0}, {256, 1}, {512, 0}, {512, 1}, {512, 0}, {512, 1}};
    begin(net, "vgg11", cifar);
    for (size_t i = 0; i < sizeof blocks / sizeof blocks[0]; i++) {
        add(net, conv(blocks[i].channels, 3, 1));
        add(net, relu());
        if (blocks[i].pooled)
            add(net, pool2());
    }
    add(net, dense(10));
    end(net);
}

/* Tensors are in forward order without gaps and fill the arena. */
static void assert_tensors_fill_the_arena(const struct net_desc *net)
{
    size_t offset = 0;
    for (int t = 0; t < net->n_tensors; t++) {
        const struct tensor_desc *tensor = &net->tensors[t];
        const struct layer_desc *layer = &net->layers[tensor->layer];
        size_t count = 1;
        for (int d = 0; d < tensor->n_dims; d++)
            count *= (size_t)tensor->dims[d];
        assert_int_equal(tensor->count, count);
        assert_int_equal(tensor->offset, offset);
        assert_in_range(t, layer->first_tensor, layer->first_tensor + layer->n_tensors - 1);
        assert_memory_equal(tensor->name, layer->name, strlen(layer->name));
        offset += tensor->count;
    }
    assert_int_equal(net->n_params, offset);
}

/* Compares with millions from published tables: within half a unit of the last digit printed. */
static void assert_millions(uint64_t value, double millions, double last_digit)
{
    assert_true(fabs((double)value / 1e6 - millions) <= last_digit / 2 * (1 + 1e-9));
}

static void sizes_and_flops_equal_the_published_tables(void **state)
{
    static const struct {
        void (*build)(struct net_desc *net);
        size_t params;
        double forward, both, last_digit; /* MFLOP per image, forward and with backward */
    } rows[] = {
        {softmax_784, 7850, 0.0157, 0.0314, 1e-4},
        {lenet_21k, 21840, 0.961, 2.595, 1e-3},
        {keras_690k, 690590, 15.333, 45.609, 1e-3},
        {horovod_keras, 1199882, 23.985, 71.565, 1e-3},
        {deepspeed_cifar, 62006, 1.303, 3.205, 1e-3},
        {vgg11, 9231114 - 5504, 305.5, 913.1, 1e-1},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct net_desc net;
        rows[i].build(&net);
        assert_int_equal(net.n_params, rows[i].params);
        assert_millions(net.flops_forward, rows[i].forward, rows[i].last_digit);
        assert_millions(net.flops_forward + net.flops_backward, rows[i].both, rows[i].last_digit);
        assert_tensors_fill_the_arena(&net);
        net_desc_free(&net);
    }
}

/* By hand: 2 x (24x24x10 x 25 + 8x8x20 x 250 + 320x50 + 50x10); backward is twice that without
 * conv1's dx. */
static void lenet_is_counted_exactly(void **state)
{
    struct net_desc net;
    lenet_21k(&net);
    assert_int_equal(net.flops_forward, 288000 + 640000 + 32000 + 1000);
    assert_int_equal(net.flops_backward, 288000 + 2 * (640000 + 32000 + 1000));
    assert_int_equal(net.n_tensors, 8);
    assert_string_equal(net.tensors[2].name, "conv2.weight");
    assert_int_equal(net.tensors[2].offset, 260);
    assert_int_equal(net.tensors[2].fan_in, 250);
    assert_int_equal(net.tensors[2].fan_out, 500);
    assert_false(net.tensors[2].bias);
    assert_string_equal(net.tensors[7].name, "fc2.bias");
    assert_int_equal(net.tensors[7].fan_in, 50);
    assert_true(net.tensors[7].bias);
    assert_string_equal(net.layers[1].name, "maxpool2d1");
    assert_string_equal(net.layers[5].name, "maxpool2d2");
    net_desc_free(&net);
}

/* The first layer with parameters computes no dx, wherever it is. */
static void backward_ends_at_the_first_parameters(void **state)
{
    struct net_desc net;
    begin(&net, "late", mnist);
    add(&net, relu());
    add(&net, conv(3, 5, 0));
    add(&net, dense(10));
    end(&net);
    assert_int_equal(net.layers[0].flops_backward, 0);
    assert_int_equal(net.layers[1].flops_backward, net.layers[1].flops_forward);
    assert_int_equal(net.layers[2].flops_backward, 2 * net.layers[2].flops_forward);
    net_desc_free(&net);
}

static void table_is_aligned_and_ends_with_totals(void **state)
{
    struct net_desc net;
    begin(&net, "little", mnist);
    add(&net, named(conv(20, 5, 0), "first"));
    add(&net, pool2());
    add(&net, dense(10));
    end(&net);
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    net_desc_print(out, &net);
    fclose(out);
    assert_string_equal(text, "little: 1x28x28 in, 10 classes; FLOPs per image\n"
                              "layer       kind       output             parameters      forward "
                              "FLOPs     backward FLOPs\n"
                              "first       conv2d     20x24x24                  520            "
                              "576,000            576,000\n"
                              "maxpool2d1  maxpool2d  20x12x12                    0                "
                              "  0                  0\n"
                              "dense1      dense      10                     28,810             "
                              "57,600            115,200\n"
                              "total                                         29,330            "
                              "633,600            691,200\n"
                              "parameters in fp32: 117,320 bytes\n");
    free(text);
    net_desc_free(&net);
}

/* ---- Shapes ---- */

static void assert_output(struct shape input, struct layer_desc layer, struct shape expected)
{
    struct net_desc net;
    begin(&net, "one", input);
    add(&net, layer);
    struct shape out = net.layers[0].out;
    assert_int_equal(out.c, expected.c);
    assert_int_equal(out.h, expected.h);
    assert_int_equal(out.w, expected.w);
    net_desc_free(&net);
}

static void outputs_follow_from_windows(void **state)
{
    struct layer_desc wide = conv(7, 3, 1);
    wide.kernel_w = 5;
    wide.stride_h = 2;
    wide.pad_w = 0;
    assert_output((struct shape){3, 11, 9}, wide, (struct shape){7, 6, 5});
    assert_output((struct shape){3, 5, 5}, conv(1, 5, 0), (struct shape){1, 1, 1});
    assert_output((struct shape){6, 13, 5}, pool2(), (struct shape){6, 6, 2});
    struct layer_desc overlapping = pool2();
    overlapping.kernel_h = 3;
    overlapping.stride_h = overlapping.stride_w = 1;
    assert_output((struct shape){6, 13, 5}, overlapping, (struct shape){6, 11, 4});
    assert_output((struct shape){6, 13, 5}, relu(), (struct shape){6, 13, 5});
    assert_output((struct shape){6, 13, 5}, layer_desc_preset(LAYER_dropout2d),
                  (struct shape){6, 13, 5});
    assert_output((struct shape){6, 13, 5}, dense(3), (struct shape){3, 1, 1});
}

static void shapes_are_written_short(void **state)
{
    char text[40];
    assert_string_equal(shape_text(text, (struct shape){10, 24, 23}), "10x24x23");
    assert_string_equal(shape_text(text, (struct shape){50, 1, 1}), "50");
    assert_string_equal(shape_text(text, (struct shape){50, 1, 2}), "50x1x2");
}

/* ---- Errors ---- */

/* Adds `layer`, named and placed at 7:3, to an input. The error must be `text` and the net
 * unchanged. */
static void assert_refused(struct shape input, struct layer_desc layer, enum status status,
                           const char *text)
{
    struct net_desc net;
    struct error e;
    begin(&net, "bad", input);
    add(&net, named(relu(), "first"));
    layer.line = 7;
    layer.column = 3;
    assert_int_equal(net_desc_add(&net, &layer, &e), status);
    assert_string_equal(e.text, text);
    assert_true(e.line == 7 && e.column == 3);
    assert_true(net.n_layers == 1 && net.n_tensors == 0 && net.n_params == 0);
    net_desc_free(&net);
}

static void windows_that_do_not_fit_are_refused(void **state)
{
    const struct shape input = {20, 4, 4};
    assert_refused(input, named(conv(8, 5, 0), "conv3"), ERR_SHAPE,
                   "conv2d 'conv3': a 5x5 kernel does not fit its input of 4x4 (padded 4x4)");
    assert_refused(input, named(conv(8, 9, 2), "c"), ERR_SHAPE,
                   "conv2d 'c': a 9x9 kernel does not fit its input of 4x4 (padded 8x8)");
    struct layer_desc pool = named(pool2(), "p");
    pool.kernel_w = 5;
    assert_refused(input, pool, ERR_SHAPE,
                   "maxpool2d 'p': a 2x5 window does not fit its input of 4x4 (padded 4x4)");
}

static void options_out_of_range_are_refused(void **state)
{
    const struct shape input = {20, 4, 4};
    assert_refused(input, named(layer_desc_preset(LAYER_conv2d), "c"), ERR_SHAPE,
                   "conv2d 'c': channels is 0; it must be 1 to 4096");
    assert_refused(input, named(conv(5000, 3, 0), "c"), ERR_SHAPE,
                   "conv2d 'c': channels is 5000; it must be 1 to 4096");
    struct layer_desc still = named(conv(8, 3, 0), "c");
    still.stride_w = 0;
    assert_refused(input, still, ERR_SHAPE, "conv2d 'c': stride is 0; it must be 1 to 64");
    struct layer_desc drop = named(layer_desc_preset(LAYER_dropout), "d");
    drop.rate = 1;
    assert_refused(input, drop, ERR_SHAPE, "dropout 'd': rate is 1; it must be 0 to 0.999999");
    drop.rate = NAN;
    struct net_desc net;
    begin(&net, "nan", input);
    assert_int_equal(net_desc_add(&net, &drop, NULL), ERR_SHAPE);
    net_desc_free(&net);
}

static void nets_larger_than_an_int_are_refused(void **state)
{
    assert_refused((struct shape){128, 64, 64}, named(dense(4096), "d"), ERR_SHAPE,
                   "dense 'd': brings the net to 2147487744 parameters; at most 2147483647 are "
                   "accepted");
    assert_refused((struct shape){1, 1024, 1024}, named(conv(2048, 1, 0), "c"), ERR_SHAPE,
                   "conv2d 'c': an output of 2048x1024x1024 is 2147483648 numbers; at most "
                   "2147483647 are accepted");
    struct net_desc net;
    struct error e;
    struct layer_desc first = relu();
    begin(&net, "huge", (struct shape){4096, 4096, 4096});
    assert_int_equal(net_desc_add(&net, &first, &e), ERR_SHAPE);
    assert_string_equal(e.text, "relu 'relu1': an input of 68719476736 numbers; at most 2147483647 "
                                "are accepted");
    net_desc_free(&net);
}

static void names_must_be_unique_and_not_reserved(void **state)
{
    assert_refused((struct shape){1, 4, 4}, named(dense(3), "optimizer.0.fc"), ERR_SPEC,
                   "layer name 'optimizer.0.fc' must not begin with 'optimizer.' or 'rank.', which "
                   "checkpoints use for other data");
    assert_refused((struct shape){1, 4, 4}, named(dense(3), "rank.1"), ERR_SPEC,
                   "layer name 'rank.1' must not begin with 'optimizer.' or 'rank.', which "
                   "checkpoints use for other data");
    assert_refused((struct shape){1, 4, 4}, named(dense(3), "first"), ERR_SPEC,
                   "a second layer is called 'first'; names must differ");
    struct net_desc net;
    begin(&net, "names", mnist);
    add(&net, named(dense(4), "dense2"));
    add(&net, dense(5));
    assert_string_equal(net.layers[1].name, "dense3");
    net_desc_free(&net);
}

static void last_layers_without_class_scores_are_refused(void **state)
{
    struct net_desc net;
    struct error e;
    begin(&net, "open", mnist);
    assert_int_equal(net_desc_end(&net, &e), ERR_SHAPE);
    assert_string_equal(e.text, "net 'open' has no layers; it needs at least one");
    add(&net, named(conv(10, 5, 0), "c"));
    assert_int_equal(net_desc_end(&net, &e), ERR_SHAPE);
    assert_string_equal(e.text,
                        "conv2d 'c': the last layer gives 10x24x24; softmax over 10 classes "
                        "needs a vector of 10");
    add(&net, named(dense(9), "d"));
    assert_int_equal(net_desc_end(&net, &e), ERR_SHAPE);
    add(&net, dense(10));
    assert_int_equal(net_desc_end(&net, &e), OK);
    net_desc_free(&net);
}

static void inputs_and_classes_out_of_range_are_refused(void **state)
{
    static const struct {
        struct shape input;
        int classes;
    } rows[] = {
        {{0, 28, 28}, 10},  {{1, 0, 28}, 10},   {{1, 28, -1}, 10}, {{4097, 1, 1}, 10},
        {{1, 4097, 1}, 10}, {{1, 1, 4097}, 10}, {{1, 28, 28}, 1},  {{1, 28, 28}, 1001},
    };
    struct net_desc net;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        assert_int_equal(net_desc_begin(&net, "n", rows[i].input, rows[i].classes, NULL),
                         ERR_SHAPE);
        net_desc_free(&net);
    }
    const char *const long_name = "a_name_of_forty_eight_characters_is_one_too_many";
    assert_int_equal(strlen(long_name), NET_NAME_MAX);
    assert_int_equal(net_desc_begin(&net, long_name, mnist, 10, NULL), ERR_SPEC);
    assert_int_equal(net_desc_begin(&net, "", mnist, 10, NULL), ERR_SPEC);
    assert_int_equal(net_desc_begin(&net, long_name + 1, mnist, 10, NULL), OK);
    net_desc_free(&net);
}

/* ---- Tables ---- */

static void options_have_ranges(void **state)
{
    for (int kind = 0; kind < LAYER_KINDS; kind++) {
        const struct layer_rule *rule = layer_rule_get(kind);
        for (const struct layer_option *o = rule->options; o->key != NULL; o++) {
            assert_true(o->min < o->max);
            assert_true(isnan(o->preset) || (o->preset >= o->min && o->preset <= o->max));
        }
    }
    assert_string_equal(initializer_names()[INIT_PYTORCH], "pytorch");
    assert_string_equal(initializer_names()[INIT_GLOROT], "glorot");
    assert_string_equal(initializer_names()[INIT_HE], "he");
}

/* Buffers have a table and an arena of their own, and are not parameters. */
static void batch_norm_has_tensors_and_buffers(void **state)
{
    struct net_desc net;
    begin(&net, "norm", mnist);
    add(&net, conv(6, 5, 0));
    add(&net, named(layer_desc_preset(LAYER_batchnorm2d), "a"));
    add(&net, relu());
    add(&net, named(layer_desc_preset(LAYER_batchnorm2d), "b"));
    assert_true(net.n_tensors == 6 && net.n_params == 6 * 26 + 2 * 12);
    assert_true(net.n_buffers == 4 && net.n_buffer_values == 24);
    static const char *const names[] = {"a.running_mean", "a.running_var", "b.running_mean",
                                        "b.running_var"};
    for (int i = 0; i < 4; i++) {
        assert_string_equal(net.buffers[i].name, names[i]);
        assert_int_equal(net.buffers[i].offset, 6 * i);
        assert_int_equal(net.buffers[i].count, 6);
    }
    assert_true(net.layers[1].buffer_offset == 0 && net.layers[3].buffer_offset == 12);
    assert_true(net.layers[1].epsilon == 1e-5 && net.layers[1].momentum == 0.1);
    assert_string_equal(net.tensors[2].name, "a.weight");
    assert_string_equal(net.tensors[5].name, "b.bias");
    assert_int_equal(net.layers[3].flops_forward, 0);
    net_desc_free(&net);
}

static void presets_equal_the_options_defaults(void **state)
{
    struct layer_desc c = layer_desc_preset(LAYER_conv2d);
    assert_true(c.stride_h == 1 && c.stride_w == 1 && c.pad_h == 0 && c.channels == 0);
    struct layer_desc d = layer_desc_preset(LAYER_dropout2d);
    assert_true(d.rate == 0.5 && d.kind == LAYER_dropout2d && d.line == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sizes_and_flops_equal_the_published_tables),
        cmocka_unit_test(lenet_is_counted_exactly),
        cmocka_unit_test(backward_ends_at_the_first_parameters),
        cmocka_unit_test(table_is_aligned_and_ends_with_totals),
        cmocka_unit_test(outputs_follow_from_windows),
        cmocka_unit_test(shapes_are_written_short),
        cmocka_unit_test(windows_that_do_not_fit_are_refused),
        cmocka_unit_test(options_out_of_range_are_refused),
        cmocka_unit_test(nets_larger_than_an_int_are_refused),
        cmocka_unit_test(names_must_be_unique_and_not_reserved),
        cmocka_unit_test(last_layers_without_class_scores_are_refused),
        cmocka_unit_test(inputs_and_classes_out_of_range_are_refused),
        cmocka_unit_test(options_have_ranges),
        cmocka_unit_test(batch_norm_has_tensors_and_buffers),
        cmocka_unit_test(presets_equal_the_options_defaults),
    };
    return cmocka_run_group_tests_name("net_desc", tests, NULL, NULL);
}
