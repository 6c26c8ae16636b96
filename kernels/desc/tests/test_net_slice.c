/* Slices of nets: which layers are split, and that slices contain every number of the net once. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "kernels/desc/net_slice.h"

static void add(struct net_desc *net, enum layer_kind kind, int channels)
{
    struct error e = {.text = ""};
    struct layer_desc layer = layer_desc_preset(kind);
    if (channels > 0)
        layer.channels = channels;
    if (kind == LAYER_conv2d)
        layer.kernel_h = layer.kernel_w = 3;
    if (net_desc_add(net, &layer, &e) != OK)
        fail_msg("%s", e.text);
}

/* Makes conv2d, relu, then dense layers with ReLU and dropout between them; the last one has ten
 * outputs. */
static void make_net(struct net_desc *net, const int *outputs, int n)
{
    assert_int_equal(net_desc_begin(net, "net", (struct shape){1, 6, 6}, 10, NULL), OK);
    add(net, LAYER_conv2d, 3);
    add(net, LAYER_relu, 0);
    for (int i = 0; i < n; i++) {
        add(net, LAYER_dense, outputs[i]);
        add(net, LAYER_relu, 0);
        add(net, LAYER_dropout, 0);
    }
    add(net, LAYER_dense, 10);
    assert_int_equal(net_desc_end(net, NULL), OK);
}

/* ---- Pairs ---- */

static void assert_pairs(const struct net_desc *net, const struct net_pair *wanted, int n, int most)
{
    struct net_pair pair = NET_PAIR_NONE;
    int found = 0;
    while (net_pair_next(net, &pair)) {
        assert_true(found < n);
        assert_int_equal(pair.columns, wanted[found].columns);
        assert_int_equal(pair.rows, wanted[found].rows);
        found++;
    }
    assert_int_equal(found, n);
    assert_int_equal(net_slice_most(net), most);
}

static void pairs_begin_with_the_first_dense_layer(void **state)
{
    struct net_desc net;
    make_net(&net, (const int[]){20}, 1);
    assert_pairs(&net, (const struct net_pair[]){{2, 5}}, 1, 20);
    net_desc_free(&net);
    make_net(&net, (const int[]){20, 7}, 2); /* the third stays whole */
    assert_pairs(&net, (const struct net_pair[]){{2, 5}}, 1, 20);
    net_desc_free(&net);
    make_net(&net, (const int[]){20, 7, 12}, 3);
    assert_pairs(&net, (const struct net_pair[]){{2, 5}, {8, 11}}, 2, 12);
    assert_true(net_slice_is_even(&net, 4) && !net_slice_is_even(&net, 3));
    net_desc_free(&net);
    make_net(&net, NULL, 0);
    assert_pairs(&net, NULL, 0, 1);
    net_desc_free(&net);
}

/* Pooling is not element-wise. */
static void other_layers_prevent_a_pair(void **state)
{
    struct net_desc net;
    struct layer_desc pool = layer_desc_preset(LAYER_maxpool2d);
    pool.kernel_h = pool.kernel_w = 1;
    pool.stride_h = pool.stride_w = 2;
    assert_int_equal(net_desc_begin(&net, "net", (struct shape){1, 6, 6}, 10, NULL), OK);
    add(&net, LAYER_dense, 8);
    assert_int_equal(net_desc_add(&net, &pool, NULL), OK);
    add(&net, LAYER_dense, 10);
    assert_int_equal(net_desc_end(&net, NULL), OK);
    assert_pairs(&net, NULL, 0, 1);
    net_desc_free(&net);
}

/* ---- Slices ---- */

static void count_elements(int *seen, const struct net_desc *net, const struct net_desc *slice,
                           int tensor)
{
    const struct tensor_desc *all = &net->tensors[tensor], *own = &slice->tensors[tensor];
    assert_string_equal(own->name, all->name);
    for (size_t i = 0; i < own->count; i++) {
        size_t element = net_slice_element(net, slice, tensor, i);
        assert_true(element < all->count);
        seen[all->offset + element]++;
    }
}

/* Each number of a split tensor is in one slice; numbers of other tensors are in every slice. */
static void assert_seen(const int *seen, const struct net_desc *net, const struct net_desc *slice,
                        int slices)
{
    for (int t = 0; t < net->n_tensors; t++)
        for (size_t i = 0; i < net->tensors[t].count; i++)
            assert_int_equal(seen[net->tensors[t].offset + i],
                             net_slice_has_whole(net, slice, t) ? slices : 1);
}

static void slices_have_every_number_once(void **state)
{
    struct net_desc net, slice;
    make_net(&net, (const int[]){20, 7, 12}, 3);
    for (int slices = 2; slices <= 5; slices++) {
        int *seen = calloc(net.n_params, sizeof *seen);
        for (int i = 0; i < slices; i++) {
            if (i > 0)
                net_desc_free(&slice);
            assert_int_equal(net_desc_slice(&slice, &net, i, slices, NULL), OK);
            assert_int_equal(slice.n_layers, net.n_layers);
            assert_int_equal(slice.n_tensors, net.n_tensors);
            for (int t = 0; t < net.n_tensors; t++)
                count_elements(seen, &net, &slice, t);
        }
        assert_seen(seen, &net, &slice, slices);
        net_desc_free(&slice);
        free(seen);
    }
    net_desc_free(&net);
}

/* 20 outputs over 3 slices: 7, 7 and 6. The second slice begins at output 7. */
static void a_slice_describes_its_part(void **state)
{
    struct net_desc net, slice;
    make_net(&net, (const int[]){20, 7}, 2);
    assert_int_equal(net_desc_slice(&slice, &net, 1, 3, NULL), OK);
    const struct layer_desc *l = slice.layers;
    assert_true(l[2].channels == 7 && l[2].first_unit == 7 && !l[2].addend);
    assert_true(l[4].kind == LAYER_dropout && l[4].out.c == 7 && l[4].first_unit == 7);
    assert_true(l[5].channels == 7 && l[5].in.c == 7 && l[5].addend && l[5].unbiased);
    assert_true(l[8].first_unit == 0 && !l[8].addend && l[8].in.c == 7); /* the third dense layer */
    assert_int_equal(l[2].flops_forward, net.layers[2].flops_forward / 20 * 7);
    net_desc_free(&slice);
    assert_int_equal(net_desc_slice(&slice, &net, 0, 3, NULL), OK);
    assert_true(slice.layers[5].addend && !slice.layers[5].unbiased);
    net_desc_free(&slice);
    net_desc_free(&net);
}

static void one_slice_is_the_net(void **state)
{
    struct net_desc net, slice;
    make_net(&net, (const int[]){20, 7}, 2);
    assert_int_equal(net_desc_slice(&slice, &net, 0, 1, NULL), OK);
    assert_int_equal(slice.n_params, net.n_params);
    for (int i = 0; i < net.n_layers; i++)
        assert_false(slice.layers[i].addend || slice.layers[i].unbiased);
    net_desc_free(&slice);
    net_desc_free(&net);
}

static void more_slices_than_outputs_are_refused(void **state)
{
    struct net_desc net, slice;
    struct error e;
    make_net(&net, (const int[]){20, 7, 12}, 3);
    assert_int_equal(net_desc_slice(&slice, &net, 0, 13, &e), ERR_SHAPE);
    assert_string_equal(e.text, "net 'net' cannot be cut into 13 slices; use 1 to 12");
    net_desc_free(&slice);
    net_desc_free(&net);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pairs_begin_with_the_first_dense_layer),
        cmocka_unit_test(other_layers_prevent_a_pair),
        cmocka_unit_test(slices_have_every_number_once),
        cmocka_unit_test(a_slice_describes_its_part),
        cmocka_unit_test(one_slice_is_the_net),
        cmocka_unit_test(more_slices_than_outputs_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
