/* Ranks, nodes and ranks a node: two of them say the third, words go by the site. */
#include "bench/spec/tests/spec_file.h"

/* "4/2 8/4": ranks and nodes of each point. */
static void assert_counts(const char *text, const char *set, const char *expected)
{
    struct spec spec;
    char counts[1024] = "";
    load(&spec, text, set);
    for (size_t i = 0; i < spec.n_points; i++) {
        const struct config *c = &spec.points[i].config;
        sprintf(counts + strlen(counts), "%s%ld/%ld", i > 0 ? " " : "", config_int(c, OPT_RANKS),
                config_int(c, OPT_NODES));
        long all = 0, fullest = config_node_ranks(c, 0);
        for (int node = 0; node < config_int(c, OPT_NODES); node++)
            all += config_node_ranks(c, node);
        assert_int_equal(all, config_int(c, OPT_RANKS));
        assert_int_equal(fullest, config_int(c, OPT_RANKS_PER_NODE));
    }
    assert_string_equal(counts, expected);
    spec_free(&spec);
}

static void test_two_say_the_third(void **state)
{
    assert_counts(BODY, NULL, "1/1");
    assert_counts(BODY "ranks: 4\n", NULL, "4/1");
    assert_counts(BODY "ranks: 4\nnodes: 2\n", NULL, "4/2");
    assert_counts(BODY "nodes: 2\nranks_per_node: 3\n", NULL, "6/2");
    assert_counts(BODY "ranks: 3\nranks_per_node: 2\n", NULL, "3/2");
    assert_counts(BODY "ranks: 3\nnodes: 2\nranks_per_node: 2\n", NULL, "3/2");
    assert_counts(BODY "ranks_per_node: 4\n", NULL, "4/1");
    assert_counts(BODY "matrix: {nodes: [1, 2], ranks_per_node: [1, 2]}\n", NULL,
                  "1/1 2/1 2/2 4/2");
    assert_counts(BODY "matrix: {ranks: [1, 4]}\n", "ranks_per_node=2", "1/1 4/2");
}

static void test_what_does_not_go_together(void **state)
{
    refuse(BODY "ranks: 8\nnodes: 2\nranks_per_node: 2\n", NULL,
           "6:17: ranks_per_node = 2, but ranks = 8 (...");
    refuse(BODY "ranks: 1\nnodes: 2\n", NULL, "5:8: nodes = 2, but ranks = 1: a node needs a rank");
    refuse(BODY "nodes: half\n", NULL, "4:8: nodes: 'half' is not a number");
    refuse(BODY "ranks_per_node: 70000\n", NULL, "4:17: ranks_per_node = 70000 ranks: allowed ...");
}

static void test_words_go_by_the_site(void **state)
{
    static const char hosts[] = BODY "site: {kind: emulated, hosts: 4, rate: 100mbit}\n";
    char text[512];
    assert_counts(BODY "matrix: {ranks_per_node: [1, half, full]}\n", NULL, "1/1 4/1 8/1");
    assert_counts(BODY "ranks_per_node: full\n", "place.threads_per_rank=2", "4/1");
    assert_counts(BODY "nodes: auto\n", NULL, "1/1");
    snprintf(text, sizeof text, "%smatrix: {ranks_per_node: [1, half, full]}\n", hosts);
    assert_counts(text, NULL, "1/1 2/1");
    snprintf(text, sizeof text, "%smatrix: {nodes: auto}\nranks_per_node: 2\n", hosts);
    assert_counts(text, NULL, "2/1 4/2 6/3 8/4");
    snprintf(text, sizeof text, "%smatrix: {ranks: auto}\nranks_per_node: 1\n", hosts);
    assert_counts(text, NULL, "1/1 2/2 3/3 4/4");
    snprintf(text, sizeof text, "%snodes: auto\nranks_per_node: full\n", hosts);
    assert_counts(text, NULL, "8/4");
    refuse(BODY "site: emulated\nnodes: auto\n", NULL,
           "5:8: nodes: 'auto' goes by site.hosts, which is not given: a number is wanted");
    refuse(BODY "matrix: {site: [local, emulated]}\nranks_per_node: full\n", NULL,
           "5:17: ranks_per_node: 'full' goes by site, which varies: a number is wanted");
}

static void test_bases(void **state)
{
    static const char grid[] = BODY "matrix: {nodes: [2, 4], ranks_per_node: [2, 4]}\n";
    char text[512];
    assert_counts(grid, NULL, "4/2 8/2 8/4 16/4");
    snprintf(text, sizeof text, "%sbaseline: {ranks: 1}\n", grid);
    assert_counts(text, NULL, "1/1 4/2 8/2 8/4 16/4");
    snprintf(text, sizeof text, "%sbaseline: {nodes: 1}\n", grid);
    assert_counts(text, NULL, "2/1 4/1 4/2 8/2 8/4 16/4");
    snprintf(text, sizeof text, "%sbaseline: {nodes: 1}\n",
             BODY "matrix: {nodes: [2, 4]}\nranks: 4\n");
    assert_counts(text, NULL, "4/1 4/2 4/4");
}

/* Identities know nothing of how ranks were asked for, nor of hosts that nothing runs on. */
static void test_identity(void **state)
{
    static const char *const sets[] = {
        "ranks=4 nodes=2", "nodes=2 ranks_per_node=2", "ranks=4 ranks_per_node=2",
        "ranks=4 nodes=2 site.rate=1mbit", "ranks=4 nodes=2 site.hosts=3"};
    char id[16] = "";
    for (size_t i = 0; i < sizeof sets / sizeof *sets; i++) {
        struct spec spec;
        load(&spec, BODY, sets[i]);
        if (i > 0)
            assert_string_equal(spec.points[0].id, id);
        strcpy(id, spec.points[0].id);
        spec_free(&spec);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_two_say_the_third), cmocka_unit_test(test_what_does_not_go_together),
        cmocka_unit_test(test_words_go_by_the_site), cmocka_unit_test(test_bases),
        cmocka_unit_test(test_identity)};
    return cmocka_run_group_tests(tests, make_file, remove_file);
}
