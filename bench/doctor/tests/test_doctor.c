#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "bench/doctor/diagnosis.h"
#include "bench/doctor/facts.h"

enum { ROUNDS = 11, NODES_MOST = 8 };

/* ---- Made-up nodes ---- */

/* Returns noise in [-1, 1] that differs between rounds. */
static double noise(int i, int t)
{
    return sin(12.9898 * (i + 1) + 78.233 * (t + 1));
}

/* Equal nodes of one rank each, with 1 % noise. */
struct fixture {
    struct examination x;
    struct doctor_node nodes[NODES_MOST];
    struct doctor_burst bursts[NODES_MOST * ROUNDS];
    struct doctor_message messages[NODES_MOST * NODES_MOST * ROUNDS];
};

static void add_burst(struct fixture *f, int node, int t)
{
    struct doctor_burst *b = &f->bursts[f->x.n_bursts++];
    doctor_clear(&doctor_bursts, b);
    b->rank = b->node = node;
    b->round = t;
    snprintf(b->cpus, DOCTOR_TEXT, "%d", node);
    b->gemm_gflop_per_s = 50 * (1 + 0.01 * noise(node, t));
    b->on_core_pct = 99.8;
    b->ready_pct = 0.1;
    b->steal_pct = 0;
    b->memory_gbyte_per_s = 10 * (1 + 0.01 * noise(node + 50, t));
    b->latency_ns = 90 * (1 + 0.01 * noise(node + 90, t));
}

static void add_message(struct fixture *f, int from, int to, int t)
{
    struct doctor_message *m = &f->messages[f->x.n_messages++];
    doctor_clear(&doctor_messages, m);
    m->from_node = from;
    m->to_node = to;
    m->round = t;
    m->message_bytes = 1e6;
    m->gbyte_per_s = 0.12 * (1 + 0.01 * noise(10 * from + to, t));
    m->latency_us = 30 * (1 + 0.1 * noise(to, t + from));
    snprintf(m->interface, DOCTOR_TEXT, "eth0");
}

static struct fixture *make(int nodes)
{
    struct fixture *f = calloc(1, sizeof *f);
    assert_non_null(f);
    f->x = (struct examination){
        .nodes = f->nodes, .bursts = f->bursts, .messages = f->messages, .n_nodes = (size_t)nodes};
    for (int i = 0; i < nodes; i++) {
        doctor_clear(&doctor_nodes, &f->nodes[i]);
        f->nodes[i].node = i;
        f->nodes[i].ranks = 1;
        f->nodes[i].clock_read_ns = 20;
        f->nodes[i].memory_gib = 16;
        snprintf(f->nodes[i].name, DOCTOR_TEXT, "node%d", i);
        snprintf(f->nodes[i].machine, DOCTOR_TEXT, "machine%d", i);
        snprintf(f->nodes[i].program, DOCTOR_TEXT, "0123");
    }
    for (int t = 0; t < ROUNDS; t++)
        for (int i = 0; i < nodes; i++) {
            add_burst(f, i, t);
            for (int k = 0; k < nodes; k++)
                if (k != i)
                    add_message(f, i, k, t);
        }
    return f;
}

/* Expects these findings: "kind subject, kind subject". */
static void expect_with(struct fixture *f, const char *stale, const char *wanted)
{
    char text[2048] = "";
    struct diagnosis d;
    struct error e = {.status = OK};
    assert_int_equal(diagnosis_make(&d, &f->x, stale, &e), OK);
    for (size_t i = 0; i < d.n_findings; i++) {
        size_t used = strlen(text);
        snprintf(text + used, sizeof text - used, "%s%s %s", used > 0 ? ", " : "",
                 d.findings[i].finding, d.findings[i].subject);
        assert_true(d.findings[i].text[0] != '\0' && d.findings[i].advice[0] != '\0');
    }
    diagnosis_free(&d);
    free(f);
    assert_string_equal(text, wanted);
}

static void expect_findings(struct fixture *f, const char *wanted)
{
    expect_with(f, NULL, wanted);
}

static void nobody_is_named_of_equals(void **state)
{
    (void)state;
    for (int nodes = 1; nodes <= NODES_MOST; nodes++)
        expect_findings(make(nodes), "");
}

/* ---- Cores ---- */

static void slow_down(struct fixture *f, int node, double factor)
{
    for (size_t i = 0; i < f->x.n_bursts; i++)
        if (f->bursts[i].node == node)
            f->bursts[i].gemm_gflop_per_s *= factor;
}

static void a_core_that_is_slow_is_named(void **state)
{
    (void)state;
    for (int nodes = 2; nodes <= NODES_MOST; nodes++) {
        struct fixture *f = make(nodes);
        slow_down(f, 1, 0.9);
        expect_findings(f, "core_slow node1");
    }
}

static void what_is_hardly_slower_is_not(void **state)
{
    (void)state;
    struct fixture *f = make(4);
    slow_down(f, 2, 0.97);
    expect_findings(f, "");
    f = make(4);
    slow_down(f, 2, 0.95);
    expect_findings(f, "undecided node2");
}

static void a_core_that_is_lost_says_to_whom(void **state)
{
    (void)state;
    static const struct {
        double ready, steal;
        const char *text;
    } rows[] = {
        {9.5, 0, "other programs"}, {0, 9, "a hypervisor takes"}, {0, 0, "something stops it"}};
    for (size_t k = 0; k < 3; k++) {
        struct fixture *f = make(4);
        struct diagnosis d;
        struct error e = {.status = OK};
        slow_down(f, 2, 0.9);
        for (size_t i = 0; i < f->x.n_bursts; i++)
            if (f->bursts[i].node == 2) {
                f->bursts[i].on_core_pct = rows[k].steal > 0 ? 99 : 90 + noise(2, (int)i) / 2;
                f->bursts[i].ready_pct = rows[k].ready;
                f->bursts[i].steal_pct = rows[k].steal;
            }
        assert_int_equal(diagnosis_make(&d, &f->x, NULL, &e), OK);
        assert_int_equal(d.n_findings, 1);
        assert_int_equal(d.n_counting, 1);
        assert_string_equal(d.findings[0].finding, "core_lost");
        assert_non_null(strstr(d.findings[0].text, rows[k].text));
        diagnosis_free(&d);
        free(f);
    }
}

/* One bad round on either side has no effect, even less a round that is bad for all. */
static void bad_rounds_have_no_say(void **state)
{
    (void)state;
    struct fixture *f = make(4);
    for (size_t i = 0; i < f->x.n_bursts; i++) {
        struct doctor_burst *b = &f->bursts[i];
        b->gemm_gflop_per_s *= b->round == 3 ? 0.5 : b->node == 1 && b->round == 6 ? 0.4 : 1;
        b->on_core_pct = b->node == 1 && b->round == 6 ? 40 : b->on_core_pct;
    }
    expect_findings(f, "");
    f = make(4);
    slow_down(f, 3, 0.9);
    for (size_t i = 0; i < f->x.n_bursts; i++)
        f->bursts[i].gemm_gflop_per_s *=
            f->bursts[i].round == 3 && f->bursts[i].node != 3 ? 0.6 : 1;
    expect_findings(f, "core_slow node3");
}

/* Losses of a whole node, or of all nodes, are one finding. */
static void cores_that_are_lost_together_are_one_finding(void **state)
{
    (void)state;
    struct fixture *f = make(4);
    for (size_t i = 0; i < f->x.n_bursts; i++)
        f->bursts[i].on_core_pct = 60;
    expect_findings(f, "core_lost all 4 cores");
    f = make(4);
    f->x.n_nodes = 2;
    f->x.n_messages = 0;
    f->nodes[0].ranks = f->nodes[1].ranks = 2;
    for (size_t i = 0; i < f->x.n_bursts; i++) {
        f->bursts[i].node = f->bursts[i].rank >= 2;
        f->bursts[i].on_core_pct = f->bursts[i].rank >= 2 ? 70 : 99;
    }
    expect_findings(f, "core_lost node1");
    f = make(3);
    for (size_t i = 0; i < f->x.n_bursts; i++)
        f->bursts[i].on_core_pct = f->bursts[i].rank > 0 ? 70 : 99;
    expect_findings(f, "core_lost node1, core_lost node2");
}

static void slow_memory_is_named(void **state)
{
    (void)state;
    struct fixture *f = make(4);
    for (size_t i = 0; i < f->x.n_bursts; i++) {
        f->bursts[i].memory_gbyte_per_s *= f->bursts[i].node == 0 ? 0.88 : 1;
        f->bursts[i].latency_ns *= f->bursts[i].node == 3 ? 1.5 : 1;
    }
    expect_findings(f, "memory_slow node0, latency_slow node3");
}

static void cores_of_a_node_are_told_apart(void **state)
{
    (void)state;
    struct fixture *f = make(4);
    f->x.n_nodes = 2;
    f->x.n_messages = 0;
    f->nodes[0].ranks = f->nodes[1].ranks = 2;
    slow_down(f, 3, 0.9);
    for (size_t i = 0; i < f->x.n_bursts; i++)
        f->bursts[i].node = f->bursts[i].rank >= 2;
    expect_findings(f, "core_slow node1 processor 3");
}

/* ---- Links ---- */

/* Slows down messages between two nodes; -1: any node. */
static void slow_link(struct fixture *f, int from, int to, double factor)
{
    for (size_t i = 0; i < f->x.n_messages; i++) {
        struct doctor_message *m = &f->messages[i];
        if ((from < 0 || m->from_node == from) && (to < 0 || m->to_node == to))
            m->gbyte_per_s *= factor;
    }
}

static void who_sends_slowly_is_named(void **state)
{
    (void)state;
    for (int nodes = 3; nodes <= NODES_MOST; nodes++) {
        struct fixture *f = make(nodes);
        slow_link(f, 1, -1, 0.9);
        expect_findings(f, "sends_slow node1");
    }
}

static void who_receives_slowly_is_named(void **state)
{
    (void)state;
    struct fixture *f = make(4);
    slow_link(f, -1, 2, 0.9);
    expect_findings(f, "receives_slow node2");
    f = make(4);
    slow_link(f, -1, 2, 0.9);
    slow_link(f, 2, -1, 0.9);
    expect_findings(f, "sends_slow node2, receives_slow node2");
}

/* With two nodes, only the direction can be named. */
static void a_single_link_is_named(void **state)
{
    (void)state;
    struct fixture *f = make(4);
    slow_link(f, 1, 3, 0.9);
    expect_findings(f, "link_slow node1 -> node3");
    f = make(2);
    slow_link(f, 0, 1, 0.9);
    expect_findings(f, "link_slow node0 -> node1");
}

static void late_links_are_named(void **state)
{
    (void)state;
    struct fixture *f = make(3);
    for (size_t i = 0; i < f->x.n_messages; i++)
        if (f->messages[i].from_node == 0 && f->messages[i].to_node == 2)
            f->messages[i].latency_us *= 3;
    expect_findings(f, "link_late node0 -> node2");
}

/* ---- Transport ---- */

static void a_fall_back_to_tcp_is_named(void **state)
{
    (void)state;
    struct fixture *f = make(3);
    for (int i = 0; i < 3; i++)
        snprintf(f->nodes[i].fabric, DOCTOR_TEXT, "mlx5_0 100 Gb/sec");
    expect_findings(f, "fell_back MPI");
    f = make(3);
    for (int i = 0; i < 3; i++)
        snprintf(f->nodes[i].fabric, DOCTOR_TEXT, "mlx5_0 100 Gb/sec");
    for (size_t i = 0; i < f->x.n_messages; i++)
        snprintf(f->messages[i].interface, DOCTOR_TEXT, "mlx5_0:1");
    expect_findings(f, "");
}

static void ranks_that_share_no_memory_are_named(void **state)
{
    (void)state;
    struct fixture *f = make(1);
    for (int t = 0; t < ROUNDS; t++) {
        add_message(f, 0, 0, t);
        snprintf(f->messages[t].interface, DOCTOR_TEXT, "lo");
    }
    expect_findings(f, "no_shared_memory node0");
    f = make(1);
    for (int t = 0; t < ROUNDS; t++) {
        add_message(f, 0, 0, t);
        f->messages[t].interface[0] = '\0';
    }
    expect_findings(f, "");
}

/* ---- Facts ---- */

static void settings_are_named(void **state)
{
    (void)state;
    struct fixture *f = make(4);
    for (int i = 0; i < 4; i++)
        snprintf(f->nodes[i].governor, DOCTOR_TEXT, "powersave");
    snprintf(f->nodes[1].turbo, DOCTOR_TEXT, "on");
    f->nodes[2].quota_cores = 0.5;
    f->nodes[3].clock_read_ns = 700;
    f->nodes[0].memory_gib = 0.5;
    expect_findings(f, "governor all 4 nodes, cpu_limit node2, clock node3, turbo node1, "
                       "little_memory node0, nodes_differ node1");
}

static void other_programs_are_named(void **state)
{
    (void)state;
    struct fixture *f = make(3);
    snprintf(f->nodes[0].program, DOCTOR_TEXT, "ffff");
    snprintf(f->nodes[2].kernel, DOCTOR_TEXT, "5.14");
    expect_findings(f, "other_programs node0, nodes_differ node2");
    expect_with(make(2), "x.c has changed", "stale_build build");
}

/* ---- Files ---- */

static void rows_are_read_as_they_were_written(void **state)
{
    (void)state;
    char folder[] = "/tmp/doctor.XXXXXX", path[64];
    struct fixture *f = make(3);
    struct examination x;
    struct error e = {.status = OK};
    assert_non_null(mkdtemp(folder));
    snprintf(f->nodes[1].cpu, DOCTOR_TEXT, "a \"name\", with a comma");
    f->bursts[2].steal_pct = NAN;
    assert_int_equal(doctor_write(&doctor_nodes, folder, f->nodes, f->x.n_nodes, &e), OK);
    assert_int_equal(doctor_write(&doctor_bursts, folder, f->bursts, f->x.n_bursts, &e), OK);
    assert_int_equal(examination_read(&x, folder, &e), ERR_DATA);
    examination_free(&x);
    assert_int_equal(doctor_write(&doctor_messages, folder, f->messages, f->x.n_messages, &e), OK);
    assert_int_equal(examination_read(&x, folder, &e), OK);
    assert_int_equal(x.n_nodes, 3);
    assert_int_equal(x.n_messages, f->x.n_messages);
    assert_string_equal(x.nodes[1].cpu, f->nodes[1].cpu);
    assert_true(isnan(x.bursts[2].steal_pct) && isnan(x.nodes[0].quota_cores));
    assert_true(fabs(x.bursts[5].gemm_gflop_per_s - f->bursts[5].gemm_gflop_per_s) < 1e-6);
    examination_free(&x);
    f->bursts[0].node = 3; /* no such node */
    assert_int_equal(doctor_write(&doctor_bursts, folder, f->bursts, f->x.n_bursts, &e), OK);
    assert_int_equal(examination_read(&x, folder, &e), ERR_DATA);
    examination_free(&x);
    free(f);
    static const char *const files[] = {"nodes.csv", "bursts.csv", "messages.csv"};
    for (size_t i = 0; i < 3; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, files[i]);
        remove(path);
    }
    assert_int_equal(remove(folder), 0);
}

/* ---- A made-up system ---- */

static void put(const char *root, const char *path, const char *text)
{
    char whole[512];
    snprintf(whole, sizeof whole, "%s", root);
    for (const char *part = path; (part = strchr(part + 1, '/')) != NULL;) {
        snprintf(whole, sizeof whole, "%s%.*s", root, (int)(part - path), path);
        mkdir(whole, 0700);
    }
    snprintf(whole, sizeof whole, "%s%s", root, path);
    FILE *out = fopen(whole, "w");
    assert_non_null(out);
    fputs(text, out);
    assert_int_equal(fclose(out), 0);
}

static const char net_before[] = "Inter-| Receive | Transmit\n face |bytes packets\n"
                                 "    lo: 100 1 0 0 0 0 0 0 100 1 0 0 0 0 0 0\n"
                                 "  eth0: 500 5 0 0 0 0 0 0 1000 7 0 0 0 0 0 0\n";
static const char net_after[] = "Inter-| Receive | Transmit\n face |bytes packets\n"
                                "    lo: 100 1 0 0 0 0 0 0 100 1 0 0 0 0 0 0\n"
                                "  eth0: 500 5 0 0 0 0 0 0 2000 9 0 0 0 0 0 0\n";

static void put_system(const char *root)
{
    static const char *const files[][2] = {
        {"/proc/sys/kernel/random/boot_id", "abc-def\n"},
        {"/proc/sys/kernel/osrelease", "6.1.0\n"},
        {"/proc/cpuinfo", "processor\t: 0\nmodel name\t: AMD EPYC 9354\n"},
        {"/proc/meminfo", "MemTotal:       16777216 kB\n"},
        {"/proc/net/dev", net_before},
        {"/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "powersave\n"},
        {"/sys/devices/system/cpu/cpu1/cpufreq/scaling_governor", "performance\n"},
        {"/sys/devices/system/cpu/cpu2/cpufreq/scaling_governor", "powersave\n"},
        {"/sys/devices/system/cpu/intel_pstate/no_turbo", "0\n"},
        {"/sys/devices/system/clocksource/clocksource0/current_clocksource", "hpet\n"},
        {"/sys/kernel/mm/transparent_hugepage/enabled", "always [madvise] never\n"},
        {"/sys/fs/cgroup/memory.max", "4294967296\n"},
        {"/sys/class/infiniband/mlx5_0/ports/1/state", "4: ACTIVE\n"},
        {"/sys/class/infiniband/mlx5_0/ports/1/rate", "100 Gb/sec (4X EDR)\n"},
        {"/sys/class/infiniband/mlx5_0/ports/1/counters/port_xmit_data", "1000\n"},
        {"/sys/class/infiniband/mlx5_1/ports/1/state", "1: DOWN\n"},
    };
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        put(root, files[i][0], files[i][1]);
}

static void a_system_is_read(void **state)
{
    (void)state;
    char root[] = "/tmp/doctor.XXXXXX", command[64];
    struct doctor_node n;
    struct counted before[COUNTED_MAX], after[COUNTED_MAX];
    assert_non_null(mkdtemp(root));
    put_system(root);
    doctor_clear(&doctor_nodes, &n);
    facts_read(&n, root);
    assert_string_equal(n.machine, "abc-def");
    assert_string_equal(n.kernel, "6.1.0");
    assert_string_equal(n.cpu, "AMD EPYC 9354");
    assert_string_equal(n.governor, "powersave performance");
    assert_string_equal(n.turbo, "on");
    assert_string_equal(n.clock_source, "hpet");
    assert_string_equal(n.huge_pages, "madvise");
    assert_true(n.memory_gib == 4);
    assert_string_equal(n.fabric, "mlx5_0 100 Gb/sec (4X EDR)");
    int n_before = facts_count_sent(before, root);
    put(root, "/proc/net/dev", net_after);
    int n_after = facts_count_sent(after, root);
    assert_int_equal(n_after, 3);
    assert_string_equal(facts_carrier(before, n_before, after, n_after, 1000), "eth0");
    assert_string_equal(facts_carrier(before, n_before, after, n_after, 4000), "");
    put(root, "/sys/class/infiniband/mlx5_0/ports/1/counters/port_xmit_data", "2000\n");
    n_after = facts_count_sent(after, root);
    assert_string_equal(facts_carrier(before, n_before, after, n_after, 4000), "mlx5_0:1");
    snprintf(command, sizeof command, "rm -r %s", root);
    assert_int_equal(system(command), 0);
}

static void a_system_that_tells_nothing_is_unknown(void **state)
{
    (void)state;
    struct doctor_node n;
    struct counted counted[COUNTED_MAX];
    doctor_clear(&doctor_nodes, &n);
    facts_read(&n, "/nonexistent");
    assert_true(n.machine[0] == '\0' && n.governor[0] == '\0' && n.turbo[0] == '\0');
    assert_true(n.fabric[0] == '\0' && isnan(n.memory_gib));
    assert_int_equal(facts_count_sent(counted, "/nonexistent"), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nobody_is_named_of_equals),
        cmocka_unit_test(a_core_that_is_slow_is_named),
        cmocka_unit_test(what_is_hardly_slower_is_not),
        cmocka_unit_test(a_core_that_is_lost_says_to_whom),
        cmocka_unit_test(bad_rounds_have_no_say),
        cmocka_unit_test(cores_that_are_lost_together_are_one_finding),
        cmocka_unit_test(slow_memory_is_named),
        cmocka_unit_test(cores_of_a_node_are_told_apart),
        cmocka_unit_test(who_sends_slowly_is_named),
        cmocka_unit_test(who_receives_slowly_is_named),
        cmocka_unit_test(a_single_link_is_named),
        cmocka_unit_test(late_links_are_named),
        cmocka_unit_test(a_fall_back_to_tcp_is_named),
        cmocka_unit_test(ranks_that_share_no_memory_are_named),
        cmocka_unit_test(settings_are_named),
        cmocka_unit_test(other_programs_are_named),
        cmocka_unit_test(rows_are_read_as_they_were_written),
        cmocka_unit_test(a_system_is_read),
        cmocka_unit_test(a_system_that_tells_nothing_is_unknown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
