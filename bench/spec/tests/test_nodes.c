/* Ranks, nodes and ranks_per_node: two determine the third; words depend on the site. */
#include "bench/spec/tests/spec_file.h"

/* Compares ranks and nodes of each point, as "4/2 8/4". */
static void assert_counts_on(const struct spec_machine *machine, const char *text, const char *set,
                             const char *expected)
{
    struct spec spec;
    char counts[1024] = "";
    load_on(&spec, text, set, machine);
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

static void assert_counts(const char *text, const char *set, const char *expected)
{
    assert_counts_on(&eight, text, set, expected);
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

/* Loads a spec in a job of four nodes with two cores each. */
static void assert_job(const char *text, const char *set, enum site_kind site, const char *expected)
{
    const struct spec_machine job = {.usable_cores = 2, .nodes = 4};
    struct spec spec;
    assert_counts_on(&job, text, set, expected);
    load_on(&spec, text, set, &job);
    assert_int_equal(config_int(&spec.points[0].config, OPT_SITE), site);
    spec_free(&spec);
}

static void test_a_job_of_several_nodes_is_used(void **state)
{
    assert_job(BODY "matrix: {ranks: auto}\n", NULL, SITE_slurm, "1/1 2/1 3/2 4/2 6/3 8/4");
    assert_job(BODY "matrix: {ranks: auto}\n", "ranks_per_node=1", SITE_slurm, "1/1 2/2 3/3 4/4");
    assert_job(BODY "matrix: {ranks: [2, 16]}\n", NULL, SITE_slurm, "2/1 16/8");
    assert_job(BODY "matrix: {ranks: [2, 16]}\nplace.oversubscribe: allow\n", NULL, SITE_slurm,
               "2/1 16/4");
    assert_job(BODY "ranks: 3\nnodes: 3\n", NULL, SITE_slurm, "3/3");
    assert_job(BODY "matrix: {nodes: auto}\n", NULL, SITE_slurm, "2/1 4/2 6/3 8/4");
    assert_job(BODY "nodes: auto\nranks_per_node: half\n", NULL, SITE_slurm, "4/4");
    assert_job(BODY "cases: [{label: a}, {label: b, ranks: 4, nodes: 4}]\n", NULL, SITE_slurm,
               "1/1 4/4");
    assert_job(BODY "site: local\nmatrix: {ranks: auto}\n", NULL, SITE_local, "1/1 2/1");
    assert_job(BODY "site: local\nnodes: auto\n", NULL, SITE_local, "1/1");
}

static void test_jobs_are_submitted_elsewhere(void **state)
{
    const struct spec_machine login = {.usable_cores = 8, .batch = true};
    static const char *const several[] = {BODY "nodes: 4\nranks: 4\n",
                                          BODY "matrix: {nodes: auto}\nranks_per_node: 1\n",
                                          BODY "cases: [{label: a, nodes: 2, ranks: 2}]\n"};
    struct spec spec;
    for (size_t i = 0; i < sizeof several / sizeof *several; i++) {
        load_on(&spec, several[i], NULL, &login);
        assert_int_equal(config_int(&spec.points[0].config, OPT_SITE), SITE_slurm);
        spec_free(&spec);
    }
    load_on(&spec, BODY "ranks: 4\n", NULL, &login);
    assert_int_equal(config_int(&spec.points[0].config, OPT_SITE), SITE_local);
    spec_free(&spec);
}

static void test_machines_count_as_nodes(void **state)
{
    static const char three[] = BODY "site: {kind: ssh, machines: [a, b, c]}\n";
    char text[512];
    snprintf(text, sizeof text, "%smatrix: {nodes: auto}\nranks_per_node: 2\n", three);
    assert_counts(text, NULL, "2/1 4/2 6/3");
    snprintf(text, sizeof text, "%snodes: auto\nranks_per_node: full\n", three);
    assert_counts(text, NULL, "24/3");
    assert_counts(text, "site.machines=[a,b]", "16/2");
}

static void test_what_does_not_go_together(void **state)
{
    refuse(BODY "ranks: 8\nnodes: 2\nranks_per_node: 2\n", NULL,
           "6:17: ranks_per_node = 2 and ranks = 8 (...");
    refuse(BODY "ranks: 1\nnodes: 2\n", NULL,
           "5:8: nodes = 2, but ranks = 1: expected at least one rank per node");
    refuse(BODY "nodes: half\n", NULL, "4:8: nodes: 'half' is neither a whole number nor auto");
    refuse(BODY "ranks_per_node: 70000\n", NULL, "4:17: ranks_per_node = 70000 ranks: allowed ...");
}

static void test_words_go_by_the_site(void **state)
{
    static const char hosts[] = BODY "site: {kind: emulated, hosts: 4}\n";
    char text[512];
    assert_counts(BODY "matrix: {ranks_per_node: [1, half, full]}\n", NULL, "1/1 4/1 8/1");
    assert_counts(BODY "ranks_per_node: full\n", "place.threads_per_rank=2", "4/1");
    assert_counts(BODY "nodes: auto\n", NULL, "1/1");
    snprintf(text, sizeof text, "%snodes: 2\nmatrix: {ranks_per_node: [1, half, full]}\n", hosts);
    assert_counts(text, NULL, "2/2 4/2");
    snprintf(text, sizeof text, "%smatrix: {nodes: auto}\nranks_per_node: 2\n", hosts);
    assert_counts(text, NULL, "2/1 4/2 6/3 8/4");
    snprintf(text, sizeof text, "%smatrix: {ranks: auto}\nranks_per_node: 1\n", hosts);
    assert_counts(text, NULL, "1/1 2/2 3/3 4/4");
    snprintf(text, sizeof text, "%snodes: auto\nranks_per_node: full\n", hosts);
    assert_counts(text, NULL, "8/4");
    refuse(BODY "site: emulated\nnodes: auto\n", NULL,
           "5:8: nodes: 'auto' depends on site.hosts, which is not given. Use a number");
    refuse(BODY "matrix: {site: [local, emulated]}\nranks_per_node: full\n", NULL,
           "5:17: ranks_per_node: 'full' depends on site, which varies. Use a number");
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

/* Identities ignore how ranks were given, and hosts that are not used. */
static void test_identity(void **state)
{
    static const char *const sets[] = {
        "ranks=4 nodes=2", "nodes=2 ranks_per_node=2", "ranks=4 ranks_per_node=2",
        "ranks=4 nodes=2 matrix.site=[local,emulated] site.rate=1mbit",
        "ranks=4 nodes=2 matrix.site=[local,emulated] site.hosts=3"};
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

static void assert_links(const char *text, const char *expected)
{
    struct spec spec;
    char links[512] = "", link[LINK_BYTES];
    load(&spec, text, NULL);
    for (size_t i = 0; i < spec.n_points; i++) {
        config_link(link, &spec.points[i].config);
        sprintf(links + strlen(links), "%s%s%s", i > 0 ? ", " : "", link,
                config_has_usual_link(&spec.points[i].config) ? " (usual)" : "");
    }
    assert_string_equal(links, expected);
    spec_free(&spec);
}

static void test_links(void **state)
{
    assert_links(BODY "ranks: 2\nnodes: 2\nsite: emulated\n", "1gbit delay none (usual)");
    assert_links(BODY "ranks: 2\nnodes: 2\nsite: emulated\n"
                      "matrix: {site.rate: [1gbit, 2.5mbit, none], site.delay: [none, 0.1ms]}\n",
                 "1gbit delay none (usual), 1gbit delay 0.1ms, 2.5mbit delay none, "
                 "2.5mbit delay 0.1ms, none delay none, none delay 0.1ms");
    assert_links(BODY "ranks: 2\nnodes: 2\nsite: {kind: simulated, link: infiniband_edr}\n",
                 "infiniband_edr, 1gbit delay none (usual)");
    static const char *const wrong[] = {"fast",   "1",      "gbit",      "0mbit", "-1mbit",
                                        ".5gbit", "1.gbit", "1.2.3gbit", "1Gbit", "1mbit "};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        char text[512], message[256];
        snprintf(text, sizeof text, BODY "site: {kind: emulated, rate: '%s'}\n", wrong[i]);
        snprintf(message, sizeof message,
                 "4:30: site.rate: '%s' is not supported: expected none or a rate in kbit, mbit or "
                 "gbit, such as 2.5gbit",
                 wrong[i]);
        refuse(text, NULL, message);
    }
    refuse(BODY "site: {kind: emulated, delay: 1m}\n", NULL,
           "4:31: site.delay: '1m' is not supported: expected none or a time in us, ms or s, such "
           "as 0.1ms");
}

/* Labels show the link of emulated hosts only if it varies. */
static void test_labels_show_links_that_vary(void **state)
{
    static const char zip[] = BODY "site.rate: 10gbit\nzip: {site: [local, emulated, emulated], "
                                   "nodes: [1, 2, 2], ranks: [1, 2, 4]%s}\n";
    char text[512];
    struct spec spec;
    snprintf(text, sizeof text, zip, "");
    load(&spec, text, NULL);
    assert_labels(&spec, "ranks=1 site=local nodes=1|ranks=2 site=emulated nodes=2|"
                         "ranks=4 site=emulated nodes=2");
    spec_free(&spec);
    snprintf(text, sizeof text, zip, ", site.delay: [none, none, 1ms]");
    load(&spec, text, NULL);
    assert_labels(&spec, "ranks=1 site=local nodes=1|ranks=2 site=emulated delay=none nodes=2|"
                         "ranks=4 site=emulated delay=1ms nodes=2");
    spec_free(&spec);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_two_say_the_third),
                                       cmocka_unit_test(test_machines_count_as_nodes),
                                       cmocka_unit_test(test_what_does_not_go_together),
                                       cmocka_unit_test(test_a_job_of_several_nodes_is_used),
                                       cmocka_unit_test(test_jobs_are_submitted_elsewhere),
                                       cmocka_unit_test(test_labels_show_links_that_vary),
                                       cmocka_unit_test(test_words_go_by_the_site),
                                       cmocka_unit_test(test_bases),
                                       cmocka_unit_test(test_identity),
                                       cmocka_unit_test(test_links)};
    return cmocka_run_group_tests(tests, make_file, remove_file);
}
