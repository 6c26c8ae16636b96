/* Tests of fits.csv: laws and knees of synthetic curves, with launches from records and from
 * raw.csv. */
#include "bench/collect/fits.h"
#include "bench/collect/tests/collected.h"

#include "kernels/base/rng.h"

#define SPEC(scaling, batch, ranks)                                                                \
    "name: curves\n"                                                                               \
    "scaling: " scaling "\n"                                                                       \
    "model: lenet_21k\n"                                                                           \
    "data: {set: digits}\n"                                                                        \
    "train: {optimizer: adam, " batch "}\n"                                                        \
    "matrix: {ranks: " ranks ", sync.strategy: [none, allreduce]}\n"                               \
    "exclude:\n"                                                                                   \
    "  - {ranks: 1, sync.strategy: allreduce}\n"                                                   \
    "  - {ranks: [2, 3, 4, 8], sync.strategy: none}\n"                                             \
    "baseline: {ranks: 1, sync.strategy: none}\n"                                                  \
    "measure: {time: {launches: 6..6}}\n"
static const char strong[] = SPEC("strong", "global_batch: 256", "[1, 2, 4, 8]");
static const char weak[] = SPEC("weak", "batch_per_rank: 64", "[1, 2, 4, 8]");
static const char three[] = SPEC("strong", "global_batch: 256", "[1, 2, 4]");

enum { BLOCKS = 6, BASE_MS = 100 };

/* Adds a curve with the given step times (ms) on each number of ranks. Each launch takes up to
 * `noise` longer; the machine's drift affects all launches of a block alike. */
static void add_curve(struct fake_run *run, const long *ranks, const double *step_ms, size_t n,
                      double noise)
{
    for (int block = 0; block < BLOCKS; block++)
        for (size_t i = 0; i < n; i++) {
            double unit = rng_unit(rng_word(1, 0, 0, (uint32_t)block, (uint32_t)i));
            fake_add(run, &(struct fake_launch){.ranks = ranks[i],
                                                .strategy = i == 0 ? "none" : "allreduce",
                                                .block = block,
                                                .seed = 1,
                                                .step_ms = (1 + 0.1 * block) * step_ms[i] *
                                                           (1 + noise * unit)});
        }
}

static const long to_8[] = {1, 2, 4, 8};

static void add_amdahl(struct fake_run *run, double serial, double noise)
{
    double step_ms[4];
    for (int i = 0; i < 4; i++)
        step_ms[i] = BASE_MS * (serial + (1 - serial) / (double)to_8[i]);
    add_curve(run, to_8, step_ms, 4, noise);
}

static void near(double found, double expected, double tolerance)
{
    if (!(fabs(found - expected) <= tolerance))
        fail_msg("expected %.9g, found %.9g", expected, found);
}

static char *print_fits(const struct summary *s)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    assert_non_null(out);
    table_print_fits(out, s);
    assert_int_equal(fclose(out), 0);
    return text;
}

static void amdahls_curve_has_its_parameters(void **state)
{
    struct fake_run run;
    fake_open(&run, strong);
    add_amdahl(&run, 0.05, 0);
    struct summary s = collect(&run);
    assert_int_equal(s.fits->n, 2);
    const struct fits_row *amdahl = &s.fits->rows[0], *usl = &s.fits->rows[1];
    assert_string_equal(amdahl->law, "amdahl");
    assert_string_equal(amdahl->series, "allreduce");
    assert_string_equal(amdahl->kind, "measured");
    assert_true(amdahl->rank_counts == 4 && amdahl->ranks == 8 && amdahl->pairs == BLOCKS);
    near(amdahl->sigma, 0.05, 1e-6);
    near(amdahl->sigma_lo, 0.05, 1e-6);
    near(amdahl->sigma_hi, 0.05, 1e-6);
    near(amdahl->limit, 20, 1e-3);
    near(amdahl->residual_pct, 0, 1e-5);
    near(amdahl->missed, 0, 0);
    assert_true(isnan(amdahl->kappa) && isnan(amdahl->limit_ranks));
    near(amdahl->knee_ranks, 1 + (1 / 0.75 - 1) / 0.05, 1e-5); /* 1 + 0.05 (p - 1) = 1 / 0.75 */
    assert_string_equal(usl->law, "usl");
    near(usl->sigma, 0.05, 1e-6);
    near(usl->kappa, 0, 1e-6);
    char *text = print_fits(&s);
    assert_string_equal(text, "allreduce: efficiency falls below 75 % at 7.7 [7.7, 7.7] ranks; "
                              "Amdahl's law allows a speed-up of at most 20 [20, 20].\n");
    free(text);
    summary_free(&s);
    fake_close(&run);
}

/* Time per image and rank grows by contention 0.03 and coherency 0.004. */
static void weak_curves_have_gustafsons_law(void **state)
{
    struct fake_run run;
    double step_ms[4];
    fake_open(&run, weak);
    for (int i = 0; i < 4; i++) {
        double p = (double)to_8[i];
        step_ms[i] = BASE_MS * (1 + 0.03 * (p - 1) + 0.004 * p * (p - 1));
    }
    add_curve(&run, to_8, step_ms, 4, 0);
    struct summary s = collect(&run);
    assert_int_equal(s.fits->n, 2);
    assert_string_equal(s.fits->rows[0].law, "gustafson");
    assert_true(isnan(s.fits->rows[0].limit));
    assert_true(s.fits->rows[0].missed > 0);
    const struct fits_row *usl = &s.fits->rows[1];
    near(usl->sigma, 0.03, 1e-6);
    near(usl->kappa, 0.004, 1e-6);
    near(usl->limit_ranks, sqrt(0.97 / 0.004), 1e-3);
    near(usl->limit, 6.64102, 1e-3);
    near(usl->knee_ranks, 4 + 4 * (1 / 0.75 - 1.138) / (1.434 - 1.138), 1e-5);
    char *text = print_fits(&s);
    assert_non_null(strstr(text, "at most 6.6 [6.6, 6.6], on 16 ranks.\n"));
    free(text);
    summary_free(&s);
    fake_close(&run);
}

static void three_rank_counts_have_no_fit(void **state)
{
    struct fake_run run;
    static const double step_ms[] = {100, 52, 28};
    fake_open(&run, three);
    add_curve(&run, to_8, step_ms, 3, 0);
    struct summary s = collect(&run);
    assert_int_equal(s.fits->n, 0);
    char *text = print_fits(&s);
    assert_string_equal(text, "");
    free(text);
    struct error e = {.status = OK};
    assert_int_equal(summary_write(&s, run.dir, &e), OK);
    assert_int_equal(fake_count(run.dir, "losses.csv"), 1);
    assert_int_equal(fake_count(run.dir, "fits.csv"), 0);
    summary_free(&s);
    fake_close(&run);
}

/* A jump at 8 ranks follows no law; the efficiency stays high up to 4 ranks. */
static void laws_that_miss_points_show_no_limit(void **state)
{
    struct fake_run run;
    static const double step_ms[] = {100, 50.5, 25.3, 80};
    fake_open(&run, strong);
    add_curve(&run, to_8, step_ms, 4, 0);
    struct summary s = collect(&run);
    char *text = print_fits(&s);
    assert_true(s.fits->rows[0].missed == 3 && s.fits->rows[0].residual_pct > 20);
    assert_non_null(strstr(text, "; Amdahl's law misses 3 of 3 points.\n"));
    free(text);
    summary_free(&s);
    fake_close(&run);
}

static void curves_without_a_knee_have_none(void **state)
{
    struct fake_run run;
    static const double step_ms[] = {100, 50.1, 25.1, 12.6};
    fake_open(&run, strong);
    add_curve(&run, to_8, step_ms, 4, 0.1);
    struct summary s = collect(&run);
    char *text = print_fits(&s);
    assert_true(isnan(s.fits->rows[0].knee_ranks) && isnan(s.fits->rows[0].knee_ranks_hi));
    assert_non_null(strstr(text, "allreduce: efficiency stays above 75 % up to 8 ranks; "));
    free(text);
    summary_free(&s);
    fake_close(&run);
}

static char *read_file(const struct fake_run *run, const char *name)
{
    char path[128];
    snprintf(path, sizeof path, "%s/%s", run->dir, name);
    return fake_read(path);
}

/* Writes the tables, then makes fits.csv again from them, as a run without records does. */
static void tables_give_the_same_fits(void **state)
{
    struct fake_run run;
    struct error e = {.status = OK};
    char path[128];
    fake_open(&run, strong);
    add_amdahl(&run, 0.1, 0.1);
    struct summary s = collect(&run), read;
    assert_true(s.fits->rows[0].sigma_lo < s.fits->rows[0].sigma_hi);
    assert_true(s.fits->rows[0].knee_ranks_lo < s.fits->rows[0].knee_ranks);
    assert_int_equal(summary_write(&s, run.dir, &e), OK);
    char *written = read_file(&run, "fits.csv");
    snprintf(path, sizeof path, "%s/fits.csv", run.dir);
    assert_int_equal(remove(path), 0);
    assert_int_equal(summary_read(&read, &run.spec, run.dir, &e), OK);
    assert_int_equal(summary_write_fits(&read, run.dir, &e), OK);
    char *again = read_file(&run, "fits.csv");
    assert_string_equal(again, written);
    summary_free(&read);
    snprintf(path, sizeof path, "%s/raw.csv", run.dir);
    assert_int_equal(remove(path), 0);
    assert_int_equal(summary_read(&read, &run.spec, run.dir, &e), OK);
    near(read.fits->rows[0].sigma, s.fits->rows[0].sigma, 0);
    assert_true(isnan(read.fits->rows[0].sigma_lo) && read.fits->rows[0].pairs == 0);
    summary_free(&read);
    summary_free(&s);
    free(written);
    free(again);
    fake_close(&run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(amdahls_curve_has_its_parameters),
        cmocka_unit_test(weak_curves_have_gustafsons_law),
        cmocka_unit_test(three_rank_counts_have_no_fit),
        cmocka_unit_test(laws_that_miss_points_show_no_limit),
        cmocka_unit_test(curves_without_a_knee_have_none),
        cmocka_unit_test(tables_give_the_same_fits),
    };
    return cmocka_run_group_tests_name("fits", tests, NULL, NULL);
}
