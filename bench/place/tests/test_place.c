/* Core plans on artificial machines, cgroup quotas from artificial files, binding on this
 * machine. */
#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

#include "bench/place/cgroup.h"
#include "bench/place/cpu_list.h"
#include "bench/place/place.h"
#include "bench/place/slurm.h"

#define MACHINES "bench/tests/machines/"
/* Two NUMA nodes with two caches each, two cores per cache, two threads per core. Core c has
 * processors 2c and 2c+1. */
#define TWO_NODES "synthetic:numa:2 l3:2 core:2 pu:2"

static struct place *open_machine(const char *name)
{
    struct place *place;
    struct error e = {0};
    if (place_open(&place, name, &e) != OK)
        fail_msg("%s: %s", name ? name : "this machine", e.text);
    return place;
}

/* Makes a plan and compares its slots, joined as pin expects them. */
static void expect_plan(const char *machine, int ranks, int threads, enum place_bind bind,
                        enum place_order order, bool oversubscribe, const char *expected)
{
    struct place *place = open_machine(machine);
    struct place_plan plan;
    struct error e = {0};
    char joined[1024] = "";
    if (place_make_plan(place, ranks, threads, bind, order, oversubscribe, &plan, &e) != OK)
        fail_msg("%s", e.text);
    assert_int_equal(plan.ranks, ranks);
    for (int r = 0; r < ranks; r++) {
        strcat(joined, r > 0 ? "|" : "");
        strcat(joined, plan.slots[r].cpus);
    }
    assert_string_equal(joined, expected);
    place_plan_free(&plan);
    place_close(place);
}

static void test_machine_counts(void **state)
{
    struct place *place = open_machine(TWO_NODES);
    struct place_machine m = place_machine(place);
    assert_int_equal(m.cores, 8);
    assert_int_equal(m.hwthreads, 16);
    assert_int_equal(m.numa_nodes, 2);
    assert_int_equal(m.usable_cores, 8);
    assert_int_equal(m.machine_cores, 8);
    place_close(place);
}

static void test_disallowed_processors_do_not_count(void **state)
{
    struct place *place = open_machine(MACHINES "two_nodes_two_cores_taken.xml");
    struct place_machine m = place_machine(place);
    assert_int_equal(m.machine_cores, 8);
    assert_int_equal(m.cores, 6);
    assert_int_equal(m.hwthreads, 12);
    assert_int_equal(m.numa_nodes, 2);
    place_close(place);
    expect_plan(MACHINES "two_nodes_two_cores_taken.xml", 3, 1, BIND_core, ORDER_compact, false,
                "0-1|2-3|8-9");
    expect_plan(MACHINES "two_nodes_two_cores_taken.xml", 3, 1, BIND_core, ORDER_scatter, false,
                "0-1|8-9|2-3");
}

static void test_compact_fills_neighbours(void **state)
{
    expect_plan(TWO_NODES, 4, 1, BIND_core, ORDER_compact, false, "0-1|2-3|4-5|6-7");
    expect_plan(TWO_NODES, 2, 2, BIND_core, ORDER_compact, false, "0-3|4-7");
}

static void test_scatter_takes_nodes_then_caches(void **state)
{
    expect_plan(TWO_NODES, 2, 1, BIND_core, ORDER_scatter, false, "0-1|8-9");
    expect_plan(TWO_NODES, 4, 1, BIND_core, ORDER_scatter, false, "0-1|8-9|4-5|12-13");
    expect_plan(TWO_NODES, 8, 1, BIND_core, ORDER_scatter, false,
                "0-1|8-9|4-5|12-13|2-3|10-11|6-7|14-15");
    expect_plan(TWO_NODES, 3, 2, BIND_core, ORDER_scatter, false, "0-3|8-11|4-7");
    expect_plan(MACHINES "one_node_two_caches.xml", 4, 1, BIND_core, ORDER_scatter, false,
                "0|4|1|5");
}

static void test_threads_of_a_rank_share_a_cache_where_they_can(void **state)
{
    /* Two caches of four cores: with three threads per rank, the fourth core of each stays idle. */
    expect_plan(MACHINES "one_node_two_caches.xml", 2, 3, BIND_core, ORDER_compact, false,
                "0-2|4-6");
    /* Ranks cross caches if they would not fit otherwise. */
    expect_plan("synthetic:numa:1 l3:3 core:4 pu:1", 4, 3, BIND_core, ORDER_compact, false,
                "0-2|3-5|6-8|9-11");
}

static void test_every_kind_of_binding(void **state)
{
    expect_plan(TWO_NODES, 2, 2, BIND_hwthread, ORDER_compact, false, "0,2|4,6");
    expect_plan(TWO_NODES, 2, 1, BIND_numa, ORDER_compact, false, "0-7|0-7");
    expect_plan(TWO_NODES, 2, 1, BIND_numa, ORDER_scatter, false, "0-7|8-15");
    expect_plan(TWO_NODES, 3, 1, BIND_none, ORDER_compact, false, "||");
}

static void test_slots_name_core_and_node(void **state)
{
    struct place *place = open_machine(TWO_NODES);
    struct place_plan plan;
    struct error e = {0};
    assert_int_equal(place_make_plan(place, 2, 1, BIND_core, ORDER_scatter, false, &plan, &e), OK);
    assert_int_equal(plan.slots[0].core, 0);
    assert_int_equal(plan.slots[0].numa, 0);
    assert_int_equal(plan.slots[1].core, 4);
    assert_int_equal(plan.slots[1].numa, 1);
    assert_false(plan.oversubscribed);
    place_plan_free(&plan);
    place_close(place);
}

static void test_too_many_threads_are_refused_in_words(void **state)
{
    struct place *place = open_machine("synthetic:numa:1 core:2 pu:1");
    struct place_plan plan;
    struct error e = {0};
    assert_int_equal(place_make_plan(place, 4, 1, BIND_core, ORDER_compact, false, &plan, &e),
                     ERR_UNAVAILABLE);
    assert_string_equal(e.text, "4 ranks x 1 thread need 4 cores, this job may use 2. "
                                "To let ranks share cores, use place.oversubscribe: allow");
    assert_int_equal(place_make_plan(place, 1, 3, BIND_none, ORDER_compact, false, &plan, &e),
                     ERR_UNAVAILABLE);
    assert_string_equal(e.text, "1 rank x 3 threads need 3 cores, this job may use 2. "
                                "To let ranks share cores, use place.oversubscribe: allow");
    assert_int_equal(place_make_plan(place, 0, 1, BIND_none, ORDER_compact, false, &plan, &e),
                     ERR_ARGUMENT);
    place_close(place);
}

static void test_oversubscribed_ranks_share_cores_evenly(void **state)
{
    expect_plan("synthetic:numa:1 core:2 pu:1", 5, 1, BIND_core, ORDER_compact, true, "0|1|0|1|0");
    expect_plan("synthetic:numa:1 core:2 pu:1", 1, 3, BIND_core, ORDER_compact, true, "0-1");
    /* The second lap uses the second hardware thread of each core. */
    expect_plan("synthetic:numa:1 core:2 pu:2", 4, 1, BIND_hwthread, ORDER_compact, true,
                "0|2|1|3");
}

static void test_a_quota_limits_but_does_not_crowd(void **state)
{
    struct place *place = open_machine("synthetic:numa:1 core:4 pu:1");
    struct place_plan plan;
    struct error e = {0};
    place_limit(place, 2.5);
    assert_int_equal(place_machine(place).usable_cores, 2);
    assert_int_equal(place_make_plan(place, 3, 1, BIND_core, ORDER_compact, false, &plan, &e),
                     ERR_UNAVAILABLE);
    /* If oversubscription is allowed, ranks above the quota still get cores of their own. */
    assert_int_equal(place_make_plan(place, 3, 1, BIND_core, ORDER_compact, true, &plan, &e), OK);
    assert_true(plan.oversubscribed);
    assert_string_equal(plan.slots[2].cpus, "2");
    place_plan_free(&plan);
    place_limit(place, 0.5);
    assert_int_equal(place_machine(place).usable_cores, 1);
    place_limit(place, 64);
    assert_int_equal(place_machine(place).usable_cores, 4);
    place_close(place);
}

static void test_machines_that_cannot_be_read(void **state)
{
    struct place *place;
    struct error e = {0};
    assert_int_equal(place_open(&place, "synthetic:no:such machine", &e), ERR_DATA);
    assert_null(place);
    assert_int_equal(place_open(&place, MACHINES "not_there.xml", &e), ERR_DATA);
    assert_string_equal(e.file, MACHINES "not_there.xml");
}

static void test_parse_cpus(void **state)
{
    int cpus[4] = {-1, -1, -1, -1};
    assert_int_equal(cpu_list_parse("0-2,8", cpus, 4), 4);
    assert_int_equal(cpus[2], 2);
    assert_int_equal(cpus[3], 8);
    assert_int_equal(cpu_list_parse("0-9", cpus, 4), 10);
    assert_int_equal(cpu_list_parse("", cpus, 4), 0);
    static const char *const bad[] = {"x",  "-1",  "1-",    "2-1",   "1,",
                                      ",1", "1 2", "1-2-3", "99999", "1|2"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        if (cpu_list_parse(bad[i], cpus, 4) != -1)
            fail_msg("expected an error for the list '%s'", bad[i]);
    bool marks[CPUS_MAX] = {false};
    assert_true(cpu_list_mark(marks, "1-2,8191"));
    assert_true(!marks[0] && marks[1] && marks[2] && !marks[3] && marks[8191]);
    assert_false(cpu_list_mark(marks, "8192"));
    assert_true(cpu_lists_meet("0-2,8", "4,8") && !cpu_lists_meet("0-2", "3") &&
                !cpu_lists_meet("", "0"));
}

static void test_bind_and_read_back(void **state)
{
    char before[256], after[256], one[16];
    int cpus[1];
    struct error e = {0};
    assert_int_equal(place_read_back(before, sizeof before, &e), OK);
    assert_true(cpu_list_parse(before, cpus, 1) >= 1);
    snprintf(one, sizeof one, "%d", cpus[0]);
    assert_int_equal(place_bind_self(one, &e), OK);
    assert_int_equal(place_read_back(after, sizeof after, &e), OK);
    assert_string_equal(after, one);
    /* An empty list changes nothing. */
    assert_int_equal(place_bind_self("", &e), OK);
    assert_int_equal(place_read_back(after, sizeof after, &e), OK);
    assert_string_equal(after, one);
    /* A new place sees only the bound processor. */
    struct place *place = open_machine(NULL);
    assert_int_equal(place_machine(place).cores, 1);
    assert_int_equal(place_machine(place).usable_cores, 1);
    place_close(place);
    assert_int_equal(place_bind_self(before, &e), OK);
    assert_int_equal(place_read_back(after, sizeof after, &e), OK);
    assert_string_equal(after, before);
    assert_int_equal(place_read_back(after, 1, &e), ERR_ARGUMENT);
}

static void test_bind_errors(void **state)
{
    struct error e = {0};
    assert_int_equal(place_bind_self("0-", &e), ERR_ARGUMENT);
    assert_string_equal(e.text, "expected a list of processors such as 0 or 0-3,8, found '0-'");
    assert_int_equal(place_bind_self("8191", &e), ERR_UNAVAILABLE);
}

/* ---- Slurm ---- */

static const char *const slurm_names[] = {"SLURM_CPUS_ON_NODE", "SLURM_JOB_CPUS_PER_NODE",
                                          "SLURM_NODEID", "SLURM_THREADS_PER_CORE"};
enum { SLURM_NAMES = sizeof slurm_names / sizeof *slurm_names };

/* Sets the variables in the order of slurm_names; NULL: not set. */
static void set_slurm(const char *cpus, const char *list, const char *node, const char *threads)
{
    const char *const values[SLURM_NAMES] = {cpus, list, node, threads};
    for (int i = 0; i < SLURM_NAMES; i++)
        if (values[i])
            setenv(slurm_names[i], values[i], 1);
        else
            unsetenv(slurm_names[i]);
}

/* Saves the variables of a Slurm job in which these tests may run. */
static int save_slurm(void **state)
{
    char **values = calloc(SLURM_NAMES, sizeof *values);
    *state = values;
    for (int i = 0; values && i < SLURM_NAMES; i++)
        values[i] = getenv(slurm_names[i]) ? strdup(getenv(slurm_names[i])) : NULL;
    set_slurm(NULL, NULL, NULL, NULL);
    return values ? 0 : -1;
}

static int restore_slurm(void **state)
{
    char **values = *state;
    set_slurm(values[0], values[1], values[2], values[3]);
    for (int i = 0; i < SLURM_NAMES; i++)
        free(values[i]);
    free(values);
    return 0;
}

static void expect_share(int cpus, int threads_per_core)
{
    struct slurm_share share;
    struct error e = {0};
    if (slurm_share_read(&share, &e) != OK)
        fail_msg("%s", e.text);
    assert_int_equal(share.cpus, cpus);
    assert_int_equal(share.threads_per_core, threads_per_core);
}

static void test_share_of_a_job(void **state)
{
    expect_share(0, 0);
    set_slurm("16", "4(x2),8", "2", "1");
    expect_share(16, 1);
    set_slurm(NULL, "4(x2),8", NULL, NULL);
    expect_share(4, 0);
    set_slurm(NULL, "4(x2),8", "1", NULL);
    expect_share(4, 0);
    set_slurm(NULL, "4(x2),8", "2", NULL);
    expect_share(8, 0);
    set_slurm(NULL, "72", "0", NULL);
    expect_share(72, 0);
}

static void test_shares_that_cannot_be_read(void **state)
{
    static const char *const bad[][SLURM_NAMES] = {
        {"x"},
        {""},
        {"0"},
        {"-4"},
        {"4 "},
        {"99999999999"},
        {NULL, ""},
        {NULL, "4(x2"},
        {NULL, "4(y2)"},
        {NULL, "4(x0)"},
        {NULL, "4;4"},
        {NULL, "4(x2)", "2"},
        {NULL, "4", "-1"},
        {NULL, "4", "n0"},
        {"4", NULL, NULL, "two"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct slurm_share share;
        struct error e = {0};
        set_slurm(bad[i][0], bad[i][1], bad[i][2], bad[i][3]);
        if (slurm_share_read(&share, &e) != ERR_ARGUMENT)
            fail_msg("expected an error for row %zu", i);
        assert_non_null(strstr(e.text, "found '"));
    }
    struct place *place;
    struct error e = {0};
    assert_int_equal(place_open(&place, NULL, &e), ERR_ARGUMENT);
    assert_string_equal(e.text, "SLURM_THREADS_PER_CORE must be a number such as 16, found 'two'");
}

static void expect_usable(struct place *place, int cpus, int threads_per_core, int usable)
{
    place_limit_slurm(place,
                      (struct slurm_share){.cpus = cpus, .threads_per_core = threads_per_core});
    assert_int_equal(place_machine(place).slurm_cpus, cpus);
    assert_int_equal(place_machine(place).usable_cores, usable);
}

static void test_a_job_limits_cores(void **state)
{
    /* 8 cores with two threads each, all usable. */
    struct place *place = open_machine(TWO_NODES);
    expect_usable(place, 0, 0, 8);
    expect_usable(place, 8, 0, 4);
    expect_usable(place, 8, 1, 8);
    expect_usable(place, 6, 1, 6);
    expect_usable(place, 3, 0, 1);
    expect_usable(place, 1, 0, 1);
    expect_usable(place, 64, 0, 8);
    /* The smaller of quota and share counts. */
    place_limit(place, 3.5);
    expect_usable(place, 8, 0, 3);
    expect_usable(place, 4, 0, 2);
    expect_usable(place, 0, 0, 3);
    place_close(place);
}

static void test_a_job_that_is_bound_has_its_mask(void **state)
{
    /* 6 of 8 cores are left. Whether Slurm counts 6 or 12, the job has all of them. */
    struct place *place = open_machine(MACHINES "two_nodes_two_cores_taken.xml");
    expect_usable(place, 12, 0, 6);
    expect_usable(place, 6, 0, 6);
    expect_usable(place, 4, 0, 2);
    place_close(place);
}

static void test_this_machine_in_a_job(void **state)
{
    set_slurm("1", NULL, NULL, NULL);
    struct place *place = open_machine(NULL);
    assert_int_equal(place_machine(place).usable_cores, 1);
    assert_int_equal(place_machine(place).slurm_cpus, 1);
    place_close(place);
    place = open_machine(TWO_NODES);
    assert_int_equal(place_machine(place).usable_cores, 8);
    place_close(place);
}

/* ---- cgroups ---- */

struct tree {
    char root[64];
};

static int make_tree(void **state)
{
    struct tree *tree = calloc(1, sizeof *tree);
    strcpy(tree->root, "/tmp/test_place.XXXXXX");
    *state = tree;
    return mkdtemp(tree->root) ? 0 : -1;
}

static int remove_tree(void **state)
{
    struct tree *tree = *state;
    char command[128];
    snprintf(command, sizeof command, "rm -rf %s", tree->root);
    free(tree);
    return system(command);
}

static void put(const struct tree *tree, const char *name, const char *text)
{
    char path[256];
    snprintf(path, sizeof path, "%s/%s", tree->root, name);
    for (char *slash = path + strlen(tree->root) + 1; *slash; slash++)
        if (*slash == '/') {
            *slash = '\0';
            assert_true(mkdir(path, 0777) == 0 || errno == EEXIST);
            *slash = '/';
        }
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
}

static double quota(const struct tree *tree)
{
    char own[256], mounts[256];
    snprintf(own, sizeof own, "%s/cgroup", tree->root);
    snprintf(mounts, sizeof mounts, "%s/mountinfo", tree->root);
    return cgroup_quota_cores(own, mounts);
}

/* Mounts the tree's folder `mount` as a hierarchy. */
static void put_mount(const struct tree *tree, const char *root, const char *mount,
                      const char *type, const char *super)
{
    char text[512];
    snprintf(text, sizeof text,
             "22 1 8:1 / / rw - ext4 /dev/root rw\n"
             "35 25 0:30 %s %s/%s rw,nosuid shared:9 - %s cgroup %s\n",
             root, tree->root, mount, type, super);
    put(tree, "mountinfo", text);
}

static void test_quota_of_version_2(void **state)
{
    const struct tree *tree = *state;
    put_mount(tree, "/", "fs", "cgroup2", "rw");
    put(tree, "cgroup", "0::/job/step\n");
    put(tree, "fs/job/step/cpu.max", "max 100000\n");
    assert_true(quota(tree) == 0);
    put(tree, "fs/job/cpu.max", "250000 100000\n");
    assert_true(quota(tree) == 2.5);
    put(tree, "fs/job/step/cpu.max", "400000 100000\n");
    assert_true(quota(tree) == 2.5);
    put(tree, "fs/job/step/cpu.max", "100000 100000\n");
    assert_true(quota(tree) == 1);
    put(tree, "fs/cpu.max", "50000 100000\n");
    assert_true(quota(tree) == 0.5);
}

static void test_quota_of_version_1(void **state)
{
    const struct tree *tree = *state;
    put_mount(tree, "/", "fs", "cgroup", "rw,cpu,cpuacct");
    put(tree, "cgroup", "3:cpuset:/elsewhere\n5:cpu,cpuacct:/job\n0::/\n");
    put(tree, "fs/job/cpu.cfs_quota_us", "-1\n");
    put(tree, "fs/job/cpu.cfs_period_us", "100000\n");
    assert_true(quota(tree) == 0);
    put(tree, "fs/job/cpu.cfs_quota_us", "300000\n");
    assert_true(quota(tree) == 3);
}

static void test_cpuset_is_not_the_cpu_controller(void **state)
{
    const struct tree *tree = *state;
    put_mount(tree, "/", "fs", "cgroup", "rw,cpuset");
    put(tree, "cgroup", "3:cpuset:/job\n");
    put(tree, "fs/job/cpu.cfs_quota_us", "300000\n");
    put(tree, "fs/job/cpu.cfs_period_us", "100000\n");
    assert_true(quota(tree) == 0);
}

static void test_quota_in_a_container(void **state)
{
    const struct tree *tree = *state;
    /* The mount shows only the container's part of the hierarchy. */
    put_mount(tree, "/docker/abc", "fs", "cgroup2", "rw");
    put(tree, "fs/cpu.max", "200000 100000\n");
    put(tree, "fs/inner/cpu.max", "150000 100000\n");
    put(tree, "cgroup", "0::/docker/abc/inner\n");
    assert_true(quota(tree) == 1.5);
    put(tree, "cgroup", "0::/docker/abcdef\n");
    assert_true(quota(tree) == 2);
}

static double oom_kills(const struct tree *tree)
{
    char own[256], mounts[256];
    snprintf(own, sizeof own, "%s/cgroup", tree->root);
    snprintf(mounts, sizeof mounts, "%s/mountinfo", tree->root);
    return cgroup_oom_kills(own, mounts);
}

static void test_kills_for_want_of_memory(void **state)
{
    const struct tree *tree = *state;
    assert_true(isnan(oom_kills(tree)));
    put_mount(tree, "/", "fs", "cgroup2", "rw");
    put(tree, "cgroup", "0::/job/step\n");
    put(tree, "fs/job/memory.events", "oom_kill 9\n");
    assert_true(isnan(oom_kills(tree)));
    put(tree, "fs/job/step/memory.events", "low 0\nmax 7\noom 2\noom_kill 3\noom_group_kill 0\n");
    assert_true(oom_kills(tree) == 3);
    put_mount(tree, "/", "fs", "cgroup", "rw,memory");
    put(tree, "cgroup", "3:cpu:/elsewhere\n5:memory:/job\n0::/\n");
    put(tree, "fs/job/memory.oom_control", "oom_kill_disable 0\nunder_oom 0\noom_kill 4\n");
    assert_true(oom_kills(tree) == 4);
}

static void test_no_cgroups_no_quota(void **state)
{
    const struct tree *tree = *state;
    assert_true(quota(tree) == 0);
    put(tree, "mountinfo", "22 1 8:1 / / rw - ext4 /dev/root rw\nnonsense\n");
    put(tree, "cgroup", "nonsense\n");
    assert_true(quota(tree) == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_machine_counts),
        cmocka_unit_test(test_disallowed_processors_do_not_count),
        cmocka_unit_test(test_compact_fills_neighbours),
        cmocka_unit_test(test_scatter_takes_nodes_then_caches),
        cmocka_unit_test(test_threads_of_a_rank_share_a_cache_where_they_can),
        cmocka_unit_test(test_every_kind_of_binding),
        cmocka_unit_test(test_slots_name_core_and_node),
        cmocka_unit_test(test_too_many_threads_are_refused_in_words),
        cmocka_unit_test(test_oversubscribed_ranks_share_cores_evenly),
        cmocka_unit_test(test_a_quota_limits_but_does_not_crowd),
        cmocka_unit_test(test_machines_that_cannot_be_read),
        cmocka_unit_test(test_parse_cpus),
        cmocka_unit_test(test_bind_and_read_back),
        cmocka_unit_test(test_bind_errors),
        cmocka_unit_test_setup_teardown(test_share_of_a_job, save_slurm, restore_slurm),
        cmocka_unit_test_setup_teardown(test_shares_that_cannot_be_read, save_slurm, restore_slurm),
        cmocka_unit_test_setup_teardown(test_this_machine_in_a_job, save_slurm, restore_slurm),
        cmocka_unit_test(test_a_job_limits_cores),
        cmocka_unit_test(test_a_job_that_is_bound_has_its_mask),
        cmocka_unit_test_setup_teardown(test_quota_of_version_2, make_tree, remove_tree),
        cmocka_unit_test_setup_teardown(test_quota_of_version_1, make_tree, remove_tree),
        cmocka_unit_test_setup_teardown(test_cpuset_is_not_the_cpu_controller, make_tree,
                                        remove_tree),
        cmocka_unit_test_setup_teardown(test_quota_in_a_container, make_tree, remove_tree),
        cmocka_unit_test_setup_teardown(test_kills_for_want_of_memory, make_tree, remove_tree),
        cmocka_unit_test_setup_teardown(test_no_cgroups_no_quota, make_tree, remove_tree),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
