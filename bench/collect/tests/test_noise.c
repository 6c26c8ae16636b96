/* Tests of disturbed launches, outliers, modes and trends on synthetic records. Each is flagged
 * where present and only there; all launches count. */
#include "bench/collect/tests/collected.h"

enum { LAUNCHES = 12 };

/* step times of a quiet hour */
static const double quiet_ms[LAUNCHES] = {100.4, 99.8, 100.9, 99.3,  100.1, 99.6,
                                          100.2, 99.1, 101.0, 100.6, 99.9,  100.0};

static const char noise_spec[] = "name: synthetic\n"
                                 "scaling: strong\n"
                                 "model: lenet_21k\n"
                                 "data: {set: mnist}\n"
                                 "train: {global_batch: 256}\n"
                                 "matrix: {ranks: [1, 2]}\n"
                                 "measure: {time: {steps: 4, launches: 12}}\n";

/* Properties of a launch; 1 everywhere is a quiet launch. */
struct scene {
    double step, foreign_pct, steal_pct, work_before_us, work_after_us;
    const char *memory; /* counts of switches and faults */
    double drift;
};

static const char calm[] = "\"switches_voluntary\":9,\"switches_involuntary\":1,"
                           "\"faults_minor\":3,\"faults_major\":0,";

static struct scene quiet(int i)
{
    return (struct scene){.step = quiet_ms[i],
                          .foreign_pct = 0.5 + 0.3 * (i % 4),
                          .steal_pct = 0.1 * (i % 3),
                          .work_before_us = 20,
                          .work_after_us = 20 + 0.1 * (i % 5),
                          .memory = calm};
}

static void add(struct fake_run *run, int i, long ranks, const struct scene *scene)
{
    struct fake_launch l = {.ranks = ranks,
                            .strategy = "allreduce",
                            .block = i,
                            .seed = 1,
                            .step_ms = scene->step / (double)ranks,
                            .memory = scene->memory,
                            .drift = scene->drift};
    struct journal_launch *launch = fake_add(run, &l);
    strcpy(launch->at, "2026-11-20T19:05:03Z");
    launch->foreign_pct = scene->foreign_pct;
    launch->noise.steal_pct = scene->steal_pct;
    launch->noise.work_before_us = scene->work_before_us;
    launch->noise.work_after_us = scene->work_after_us;
}

/* Collects a campaign whose 5th launch at 2 ranks is changed by `change`. */
static struct summary campaign(struct fake_run *run, void (*change)(struct scene *scene, int i))
{
    fake_open(run, noise_spec);
    for (int i = 0; i < LAUNCHES; i++)
        for (long ranks = 1; ranks <= 2; ranks++) {
            struct scene scene = quiet(i);
            if (ranks == 2 && change != NULL)
                change(&scene, i);
            add(run, i, ranks, &scene);
        }
    return collect(run);
}

static void nothing_is_flagged_in_a_quiet_hour(void **state)
{
    struct fake_run run;
    struct summary s = campaign(&run, NULL);
    for (size_t i = 0; i < s.n_launches; i++)
        assert_string_equal(s.launches[i].result.disturbed, "");
    for (size_t i = 0; i < s.n; i++) {
        assert_string_equal(s.points[i].flags, "");
        assert_string_equal(s.points[i].cells[column_find("disturbed_launches")], "0");
        assert_string_equal(s.points[i].cells[column_find("modes")], "1");
        assert_string_equal(s.points[i].cells[column_find("outliers")], "0");
    }
    char *text = print(&s);
    assert_null(strstr(text, "disturbed"));
    free(text);
    summary_free(&s);
    fake_close(&run);
}

static void of_others(struct scene *scene, int i)
{
    scene->foreign_pct = i == 5 ? 14 : scene->foreign_pct;
}

static void of_a_hypervisor(struct scene *scene, int i)
{
    scene->steal_pct = i == 5 ? 5 : scene->steal_pct;
}

static void of_a_slow_core(struct scene *scene, int i)
{
    scene->work_before_us = i == 5 ? 23 : scene->work_before_us;
    scene->work_after_us = i == 5 ? 22 : scene->work_after_us;
}

static void of_a_slow_moment(struct scene *scene, int i)
{
    scene->work_before_us = i == 5 ? 30 : scene->work_before_us;
}

static void of_faults(struct scene *scene, int i)
{
    if (i == 5)
        scene->memory = "\"switches_voluntary\":9,\"switches_involuntary\":1,"
                        "\"faults_minor\":900,\"faults_major\":80,";
}

static void of_switches(struct scene *scene, int i)
{
    if (i == 5)
        scene->memory = "\"switches_voluntary\":9,\"switches_involuntary\":20,"
                        "\"faults_minor\":3,\"faults_major\":0,";
}

/* The fixed computation was slow before the launch only; its steps need not have been slow. */
static void a_slow_moment_before_a_launch_is_none(void **state)
{
    struct fake_run run;
    struct summary s = campaign(&run, of_a_slow_moment);
    for (size_t i = 0; i < s.n_launches; i++)
        assert_string_equal(s.launches[i].result.disturbed, "");
    summary_free(&s);
    fake_close(&run);
}

/* One of 12 launches is disturbed: it is reported, counts, and the line below the table says so. */
static void a_disturbed_launch_is_told_and_counts(void **state)
{
    static const struct {
        void (*change)(struct scene *scene, int i);
        const char *told, *by;
    } rows[] = {
        {of_others, "foreign 14.0 % (limit 7.10)", "foreign"},
        {of_a_hypervisor, "steal 5.00 % (limit 3.10)", "steal"},
        {of_a_slow_core, "work 10.0 % slower (limit 5.00)", "work"},
        {of_faults, "faults 4.47 % of its steps (limit 1.00)", "faults"},
        {of_switches, "switches 100 a second (limit 35.0)", "switches"},
    };
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
        struct fake_run run;
        char line[128];
        struct summary s = campaign(&run, rows[r].change);
        const struct point_summary *p = find(&s, &run, 2, "allreduce");
        for (size_t i = 0; i < s.n_launches; i++)
            assert_string_equal(s.launches[i].result.disturbed, i == 11 ? rows[r].told : "");
        assert_string_equal(p->flags, "disturbed");
        assert_string_equal(p->noise.disturbed_by, rows[r].by);
        assert_int_equal(p->noise.disturbed, 1);
        assert_int_equal(p->launches, LAUNCHES);
        assert_string_equal(find(&s, &run, 1, "allreduce")->flags, "");
        snprintf(line, sizeof line,
                 "Disturbed (%s): 1 of 24 timed launches. The results include them.\n", rows[r].by);
        char *text = print(&s);
        assert_line(text, line);
        free(text);
        summary_free(&s);
        fake_close(&run);
    }
}

static void everywhere(struct scene *scene, int i)
{
    scene->foreign_pct = 40;
}

/* If most launches are disturbed, the campaign's median is no reference. */
static void a_busy_machine_disturbs_every_launch(void **state)
{
    struct fake_run run;
    struct summary s = campaign(&run, everywhere);
    const struct point_summary *p = find(&s, &run, 2, "allreduce");
    assert_int_equal(p->noise.disturbed, LAUNCHES);
    assert_string_equal(p->flags, "busy disturbed");
    summary_free(&s);
    fake_close(&run);
}

static void alone(struct scene *scene, int i)
{
    scene->step *= i == 7 ? 1.3 : 1;
}

static void by_turns(struct scene *scene, int i)
{
    scene->step *= i % 3 == 0 ? 1.1 : 1;
}

static void faster(struct scene *scene, int i)
{
    scene->drift = -0.08;
}

static void slower(struct scene *scene, int i)
{
    scene->drift = i % 6 == 0 ? 0.01 : 0.05;
}

static void hardly(struct scene *scene, int i)
{
    scene->drift = -0.008;
}

static void now_and_then(struct scene *scene, int i)
{
    scene->drift = i % 2 ? -0.08 : 0.08;
}

static void what_launches_say_of_each_other_is_flagged(void **state)
{
    static const struct {
        void (*change)(struct scene *scene, int i);
        const char *flags, *remark;
    } rows[] = {
        {alone, "outliers", "  (1 outlier)"},
        {by_turns, "modes", "  (launch times have two modes)"},
        {faster, "warming", "  (steps get 6.3 % faster within a launch)"},
        {slower, "slowing", "  (steps get 3.6 % slower within a launch)"},
        {hardly, "", ""},
        {now_and_then, "", ""},
    };
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
        struct fake_run run;
        struct summary s = campaign(&run, rows[r].change);
        const struct point_summary *p = find(&s, &run, 2, "allreduce");
        const char *ci = strstr(p->flags, "ci_not_met ") == p->flags ? "ci_not_met " : "";
        assert_string_equal(p->flags + strlen(ci), rows[r].flags);
        assert_int_equal(p->launches, LAUNCHES);
        char *text = print(&s);
        assert_line(text, rows[r].remark);
        free(text);
        summary_free(&s);
        fake_close(&run);
    }
}

/* The values read back from summary.csv are equal, and raw.csv has the causes. */
static void the_files_keep_it(void **state)
{
    struct fake_run run;
    struct error e = {0};
    struct summary s = campaign(&run, of_others), again;
    write_both(&s, &run);
    assert_int_equal(summary_read(&again, &run.spec, run.dir, &e), OK);
    const struct point_summary *p = find(&again, &run, 2, "allreduce");
    assert_int_equal(p->noise.disturbed, 1);
    assert_string_equal(p->noise.disturbed_by, "foreign");
    assert_int_equal(p->noise.modes, 1);
    char path[128];
    snprintf(path, sizeof path, "%s/raw.csv", run.dir);
    char *text = fake_read(path);
    assert_line(text, ",2026-11-20T19:05:03Z,9,1,3,0,foreign 14.0 % (limit 7.10),");
    free(text);
    summary_free(&again);
    summary_free(&s);
    fake_close(&run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_is_flagged_in_a_quiet_hour),
        cmocka_unit_test(a_disturbed_launch_is_told_and_counts),
        cmocka_unit_test(a_slow_moment_before_a_launch_is_none),
        cmocka_unit_test(a_busy_machine_disturbs_every_launch),
        cmocka_unit_test(what_launches_say_of_each_other_is_flagged),
        cmocka_unit_test(the_files_keep_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
