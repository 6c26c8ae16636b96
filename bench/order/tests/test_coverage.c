/* Measures how often intervals contain the true value, on artificial noise. With a fixed number of
 * launches, the coverage must follow from the binomial distribution. Under the stop rule it must be
 * at least 94 % of points, and 92 % of the points reported as precise. Launches are ordered as by
 * the runner, and intervals are computed as in the summary. The noise is 0.2 to 1.6 times the
 * precision; timing_asked_pct explains the limits of any stop rule. SEED (0) in the environment
 * chooses other noise. */
#include "bench/order/tests/order_fixture.h"

#include "kernels/base/rng.h"

enum { TRIALS = 10000, LARGEST_PCT = 8, MOST = 40 };

#define PRECISION_PCT 5.0

static uint64_t seed_of(int pct, bool log_normal)
{
    const char *text = getenv("SEED");
    uint64_t seed = text != NULL ? strtoull(text, NULL, 10) : 0;
    return 100 * seed + (uint64_t)(2 * pct + log_normal);
}

struct noise {
    uint64_t seed;
    uint32_t next;
    bool log_normal;
    double spread;
};

/* Draws a value with median 1. Normal numbers by Box and Muller. */
static double draw(struct noise *noise)
{
    uint32_t words[4];
    rng_words4(words, noise->seed, RNG_STREAM(RNG_SCHEDULE, 1), 0, 0, noise->next++);
    double radius = sqrt(-2 * log(((double)words[0] + 0.5) / 4294967296.0));
    double normal = radius * cos(2 * M_PI * rng_unit(words[1]));
    return noise->log_normal ? exp(noise->spread * normal) : 1 + noise->spread * normal;
}

static const char *name_of(bool log_normal)
{
    return log_normal ? "log-normal" : "normal";
}

static void fixed_numbers_cover_as_the_binomial_says(void **state)
{
    static const size_t numbers[] = {6, 9, 12, 15, 20};
    for (size_t k = 0; k < sizeof numbers / sizeof *numbers; k++)
        for (int log_normal = 0; log_normal < 2; log_normal++) {
            struct noise noise = {
                .seed = seed_of(0, log_normal), .log_normal = log_normal, .spread = 0.04};
            double values[20], level = 0;
            int held = 0;
            for (int trial = 0; trial < TRIALS; trial++) {
                for (size_t i = 0; i < numbers[k]; i++)
                    values[i] = draw(&noise);
                struct interval own = timing_interval(values, numbers[k], false);
                held += own.lo <= 1 && 1 <= own.hi;
                level = own.level;
            }
            double coverage = (double)held / TRIALS, error = sqrt(level * (1 - level) / TRIALS);
            print_message("# %zu launches, %s: %.4f, binomial %.4f\n", numbers[k],
                          name_of(log_normal), coverage, level);
            assert_true(fabs(coverage - level) <= 3 * error);
        }
}

/* Counts over all trials, and over the trials that ended as precise. */
struct tally {
    size_t all, held, precise, precise_held;
    size_t ended[MOST + 1]; /* trials by number of launches */
};

static void add(struct tally *tally, const struct interval *own, bool precise, size_t launches)
{
    bool held = own->lo <= 1 && 1 <= own->hi;
    tally->all++;
    tally->held += held;
    tally->precise += precise;
    tally->precise_held += precise && held;
    tally->ended[launches]++;
}

static size_t median_launches(const struct tally *tally)
{
    size_t n = 0, sum = tally->ended[0];
    while (2 * sum < tally->all)
        sum += tally->ended[++n];
    return n;
}

static double mean_launches(const struct tally *tally)
{
    size_t sum = 0;
    for (size_t n = 0; n <= MOST; n++)
        sum += n * tally->ended[n];
    return (double)sum / (double)tally->all;
}

static double share(size_t part, size_t whole)
{
    return (double)part / (double)whole;
}

static void print_tally(const struct tally *tally, const char *what, const struct noise *noise)
{
    print_message(
        "# %s, %s noise of %.3g %%: %.3f of all, %.3f of the %.1f %% that are precise; %zu "
        "launches in the median, %.1f in the mean\n",
        what, name_of(noise->log_normal), 100 * noise->spread, share(tally->held, tally->all),
        share(tally->precise_held, tally->precise), 100 * share(tally->precise, tally->all),
        median_launches(tally), mean_launches(tally));
}

static void check(const struct tally *tally, const char *what, const struct noise *noise)
{
    print_tally(tally, what, noise);
    assert_true(share(tally->held, tally->all) >= 0.94);
    assert_true(share(tally->precise_held, tally->precise) >= 0.92);
}

static void run_trial(struct campaign_fixture *f, struct noise *noise)
{
    struct next_launch next;
    launch_order_close(&f->order);
    for (size_t i = 0; i < f->journal.n_blocks; i++)
        free(f->journal.blocks[i].points);
    f->journal.n_blocks = f->journal.n_launches = 0;
    free(f->journal.blocks);
    free(f->journal.launches);
    f->journal.blocks = NULL;
    f->journal.launches = NULL;
    fixture_open(f);
    while (fixture_next(f, &next))
        fixture_run(f, &next, draw(noise));
}

static struct timings timings_of(const struct campaign_fixture *f, size_t point, double *values)
{
    const struct point_launches *p = &f->order.points.points[point];
    return (struct timings){
        .items = p->timings, .n = p->n_timings, .values = values, .added = true};
}

static bool is_precise(const struct interval *interval)
{
    return timing_half_width_pct(interval, false) <= PRECISION_PCT;
}

#define MEASURE(launches) "measure: {time: {launches: " launches ", precision: 5%}, budget: 10h}"

static void the_stop_rule_keeps_the_coverage(void **state)
{
    struct campaign_fixture f;
    fixture_begin(&f, MEASURE("6..20"));
    for (int pct = 1; pct <= LARGEST_PCT; pct++)
        for (int log_normal = 0; log_normal < 2; log_normal++) {
            struct noise noise = {
                .seed = seed_of(pct, log_normal), .log_normal = log_normal, .spread = pct / 100.0};
            struct tally tally = {0};
            for (int trial = 0; trial < TRIALS; trial++) {
                double values[MOST];
                run_trial(&f, &noise);
                struct timings own = timings_of(&f, 0, values);
                struct interval step = timing_step_ms(&own);
                add(&tally, &step, is_precise(&step), own.n);
            }
            check(&tally, "time of a step", &noise);
        }
    fixture_end(&f);
}

/* Runs a point and its base with this noise each; adds the intervals of their ratio and of the
 * point's step. */
static void run_pairs(struct campaign_fixture *f, struct noise *noise, struct tally *ratios,
                      struct tally *steps)
{
    for (int trial = 0; trial < TRIALS; trial++) {
        double values[MOST];
        size_t n;
        run_trial(f, noise);
        struct timings base = timings_of(f, 0, values), own = timings_of(f, 1, values);
        struct interval step = timing_step_ms(&own);
        struct interval ratio = timing_ratio(&own, &base, &n);
        bool precise = is_precise(&step) && is_precise(&ratio);
        add(ratios, &ratio, precise, own.n);
        add(steps, &step, precise, own.n);
    }
}

/* Point and base each have 1 / sqrt(2) of the spread of their ratio. */
static void the_stop_rule_keeps_the_coverage_of_speedups(void **state)
{
    struct campaign_fixture f;
    fixture_begin(&f, "matrix: {ranks: [1, 2]}\n" MEASURE("6..20"));
    for (int pct = 2; pct <= LARGEST_PCT; pct += 3)
        for (int log_normal = 0; log_normal < 2; log_normal++) {
            struct noise noise = {.seed = seed_of(pct, log_normal),
                                  .log_normal = log_normal,
                                  .spread = pct / 100.0 / sqrt(2)};
            struct tally ratios = {0}, steps = {0};
            run_pairs(&f, &noise, &ratios, &steps);
            check(&ratios, "speed-up over a base with as much", &noise);
            check(&steps, "time of a step beside it", &noise);
        }
    fixture_end(&f);
}

/* Points with 8 % noise each have ratios with 11 %. 36 launches suffice for the coverage of precise
 * ratios, 20 do not; with 20, hardly any ratio is precise. */
static void noisy_speedups_need_launches(void **state)
{
    static const char *const texts[] = {"matrix: {ranks: [1, 2]}\n" MEASURE("6..36"),
                                        "matrix: {ranks: [1, 2]}\n" MEASURE("6..20")};
    for (int few = 0; few < 2; few++)
        for (int log_normal = 0; log_normal < 2; log_normal++) {
            struct campaign_fixture f;
            struct noise noise = {.seed = seed_of(LARGEST_PCT, log_normal),
                                  .log_normal = log_normal,
                                  .spread = LARGEST_PCT / 100.0};
            struct tally ratios = {0}, steps = {0};
            fixture_begin(&f, texts[few]);
            run_pairs(&f, &noise, &ratios, &steps);
            fixture_end(&f);
            if (!few)
                check(&ratios, "speed-up, up to 36 launches", &noise);
            else
                print_tally(&ratios, "speed-up, up to 20 launches", &noise);
            assert_true(!few || share(ratios.precise - ratios.precise_held, ratios.all) <= 0.005);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fixed_numbers_cover_as_the_binomial_says),
        cmocka_unit_test(the_stop_rule_keeps_the_coverage),
        cmocka_unit_test(the_stop_rule_keeps_the_coverage_of_speedups),
        cmocka_unit_test(noisy_speedups_need_launches),
    };
    return cmocka_run_group_tests_name("coverage", tests, make_file, remove_file);
}
