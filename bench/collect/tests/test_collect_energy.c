/* Energy of launches and points, and the price of points, with expected numbers by hand. */
#include "bench/collect/tests/collected.h"

static char dir[] = "/tmp/test_collect_energy.XXXXXX";

/* Two ranks with two timed steps of 256 images; `energy`: field of each rank's end line. */
struct pair {
    const char *host[2], *machine[2], *energy[2];
    double energy_j; /* expected energy of the launch (J) */
};

static struct launch_result read_pair(const struct pair *pair)
{
    struct launch_result result;
    struct error e = {.status = OK};
    for (int i = 0; i < 2; i++) {
        char work[128];
        snprintf(work, sizeof work, "\"train_images\":60000,\"machine\":\"%s\",", pair->machine[i]);
        const struct fake_rank rank = {.host = pair->host[i],
                                       .model = "lenet_21k",
                                       .dataset = "mnist",
                                       .strategy = "allreduce",
                                       .bound = "0",
                                       .batch = 128,
                                       .global_batch = 256,
                                       .n_steps = 2,
                                       .step_ms = 10,
                                       .work = work,
                                       .memory = pair->energy[i]};
        fake_write_rank(dir, i, 2, &rank);
    }
    if (launch_read(dir, 2, &result, &e) != OK)
        fail_msg("%s:%d: %s", e.file, e.line, e.text);
    return result;
}

#define J(number) "\"energy_j\":" #number ","

/* The first rank of each node measures its packages. */
static void each_package_counts_once(void **state)
{
    static const struct pair pairs[] = {
        {{"n1", "n1"}, {"a", "a"}, {J(30), J(null)}, 30},
        {{"n1", "n1"}, {"a", "a"}, {J(30), ""}, 30},
        {{"n1", "n2"}, {"a", "b"}, {J(30), J(10.5)}, 40.5},
        {{"n1", "n2"}, {"", ""}, {J(30), J(10)}, 40},
        {{"n1", "n2"}, {"a", "a"}, {J(30), J(31)}, 30}, /* emulated hosts */
        {{"n1", "n2"}, {"a", "b"}, {J(30), J(null)}, NAN},
        {{"n1", "n2"}, {"a", "b"}, {J(null), J(30)}, NAN},
        {{"n1", "n1"}, {"a", "a"}, {J(0), J(null)}, NAN},
        {{"n1", "n1"}, {"a", "a"}, {"", ""}, NAN},
    };
    assert_non_null(mkdtemp(dir));
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        struct launch_result r = read_pair(&pairs[i]);
        double step_j = pairs[i].energy_j / 2;
        if (isnan(step_j)) {
            assert_true(isnan(r.energy_step_j) && isnan(r.energy_epoch_j) && isnan(r.images_per_j));
            continue;
        }
        NEAR(r.energy_step_j, step_j);
        NEAR(r.energy_epoch_j, 60000 / 256.0 * step_j);
        NEAR(r.images_per_j, 256 / step_j);
    }
    fake_remove_folder(dir);
}

static void add_launches(struct fake_run *run, const char *const energy[6])
{
    for (int block = 0; block < 6; block++)
        fake_add(run, &(struct fake_launch){.ranks = 2,
                                            .strategy = "allreduce",
                                            .block = block,
                                            .seed = 1,
                                            .step_ms = 100 + block,
                                            .work = "\"train_images\":60000,",
                                            .memory = energy[block]});
}

static void a_point_has_the_median_with_its_interval(void **state)
{
    static const char *const energy[] = {J(36), J(30), J(33), J(42), J(45), J(39)};
    struct fake_run run;
    fake_open(&run, strong_spec);
    add_launches(&run, energy);
    struct summary s = collect(&run);
    const struct point_summary *p = find(&s, &run, 2, "allreduce");
    double steps = atof(cell(p, COLUMN_steps));
    NEAR(p->energy.step_j.mid, 37.5 / steps);
    NEAR(p->energy.step_j.lo, 30 / steps);
    NEAR(p->energy.step_j.hi, 45 / steps);
    NEAR(p->energy.epoch_j.hi, 60000 / 256.0 * 45 / steps);
    NEAR(p->energy.images_per_j.lo, 256 * steps / 45);
    NEAR(atof(cell(p, COLUMN_energy_step_j_lo)), 30 / steps);
    assert_string_equal(cell(p, COLUMN_epoch_price), "");
    summary_free(&s);
    fake_close(&run);
}

/* A median over the other launches could be of another kind of machine. */
static void one_unknown_launch_leaves_the_point_empty(void **state)
{
    static const char *const energy[] = {J(36), J(30), J(33), J(42), J(45), J(null)};
    struct fake_run run;
    fake_open(&run, strong_spec);
    add_launches(&run, energy);
    struct summary s = collect(&run);
    const struct point_summary *p = find(&s, &run, 2, "allreduce");
    assert_string_equal(cell(p, COLUMN_energy_step_j), "");
    assert_string_equal(cell(p, COLUMN_energy_epoch_j_hi), "");
    assert_string_equal(cell(p, COLUMN_images_per_j), "");
    summary_free(&s);
    fake_close(&run);
}

/* Two cores for 60000 / 256 steps of 102.5 ms. */
static void cores_have_a_price(void **state)
{
    static const char *const energy[6] = {"", "", "", "", "", ""};
    struct fake_run run;
    char spec[2048];
    snprintf(spec, sizeof spec, "%ssite: {price_per_core_hour: 0.36}\n", strong_spec);
    fake_open(&run, spec);
    add_launches(&run, energy);
    struct summary s = collect(&run);
    const struct point_summary *p = find(&s, &run, 2, "allreduce");
    double epoch_s = 60000 / 256.0 * 0.1025;
    NEAR(p->price.epoch, 2 * epoch_s / 3600 * 0.36);
    NEAR(p->price.images_per_unit, 60000 / p->price.epoch);
    assert_true(atof(cell(p, COLUMN_epoch_price)) > 0);
    summary_free(&s);
    fake_close(&run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_package_counts_once),
        cmocka_unit_test(a_point_has_the_median_with_its_interval),
        cmocka_unit_test(one_unknown_launch_leaves_the_point_empty),
        cmocka_unit_test(cores_have_a_price),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
