/* Measures the time to choose a campaign's next launch, for 10,000 points with a common base and a
 * journal of 200,000 lines (`make bench-order`). Each line is a quantity with its median, 99.9 %
 * quantile and maximum, in milliseconds of processor time, which other programs disturb little.
 * Opening the journal and resuming are timed once. */
#include "bench/order/tests/order_fixture.h"

#include <time.h>

#include "kernels/base/rng.h"
#include "kernels/base/stats.h"

enum { POINTS = 10000, LAUNCHES = 100000 };

#define MEASURE "measure: {time: {launches: 6..20, precision: 5%}, budget: 1000h}"

static int64_t own_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static double ms_since(int64_t begin)
{
    return (double)(own_ns() - begin) / 1e6;
}

static void print_row(const char *what, const double *ms, size_t n)
{
    printf("%s,%.4f,%.4f,%.4f\n", what, stats_median(ms, n), stats_quantile(ms, n, 0.999),
           stats_quantile(ms, n, 1));
}

static void write_text(char **text)
{
    size_t size;
    FILE *out = open_memstream(text, &size);
    assert_non_null(out);
    fprintf(out, BODY "baseline: {ranks: 1, seed: 1, train.lr: 0.1}\n"
                      "matrix: {ranks: [1, 2], train.lr: [0.1, 0.2, 0.3, 0.4, 0.5], seed: [");
    for (int i = 1; i <= POINTS / 10; i++)
        fprintf(out, "%d%s", i, i < POINTS / 10 ? ", " : "");
    fputs("]}\n" MEASURE "\n", out);
    assert_int_equal(fclose(out), 0);
}

/* Writes the journal as the runner does, but without waiting for the disk after each line. */
static void write_journal(const struct journal *j, const char *path)
{
    FILE *out = fopen(path, "w");
    size_t block = 0;
    assert_non_null(out);
    for (size_t i = 0; i < j->n_launches; i++) {
        const struct journal_launch *l = &j->launches[i];
        for (; block < j->n_blocks && j->blocks[block].first_launch <= i; block++) {
            const struct journal_block *b = &j->blocks[block];
            fprintf(out, "{\"event\":\"block\",\"block\":%d,\"points\":[", b->block);
            for (size_t k = 0; k < b->n_points; k++)
                fprintf(out, "%s\"%s\"", k > 0 ? "," : "", b->points[k]);
            fprintf(out, "]}\n");
        }
        fprintf(out,
                "{\"event\":\"running\",\"launch\":\"launches/%s/time-%03d\",\"point\":\"%s\","
                "\"run\":\"time\",\"block\":%d,\"seed\":1,\"at\":\"2026-11-20T19:05:03Z\"}\n"
                "{\"event\":\"done\",\"launch\":\"launches/%s/time-%03d\",\"status\":\"ok\","
                "\"reason\":\"\",\"wall_s\":5.0,\"step_ms\":%.17g,\"images\":64.0}\n",
                l->point, l->block, l->point, l->block, l->point, l->block, l->step_ms);
    }
    assert_int_equal(fclose(out), 0);
}

static void time_resume(struct campaign_fixture *f)
{
    char dir[] = "/tmp/speed_order.XXXXXX", path[64];
    struct journal read;
    struct error e = {.status = OK};
    assert_non_null(mkdtemp(dir));
    snprintf(path, sizeof path, "%s/journal.jsonl", dir);
    write_journal(&f->journal, path);
    int64_t begin = own_ns();
    assert_int_equal(journal_open(&read, dir, false, &e), OK);
    double ms = ms_since(begin);
    print_row("journal_open", &ms, 1);
    assert_int_equal(read.n_launches, f->journal.n_launches);
    journal_close(&read);
    unlink(path);
    rmdir(dir);
    launch_order_close(&f->order);
    begin = own_ns();
    fixture_open(f);
    ms = ms_since(begin);
    print_row("launch_order_open", &ms, 1);
}

static void choose(void **state)
{
    struct campaign_fixture f = {.journal = {.fd = -1}};
    struct next_launch next;
    char *text;
    static double next_ms[LAUNCHES], learn_ms[LAUNCHES], forecast_ms[LAUNCHES];
    write_text(&text);
    load(&f.spec, text, NULL);
    free(text);
    assert_int_equal(f.spec.n_points, POINTS);
    fixture_open(&f);
    printf("what,median_ms,p99.9_ms,worst_ms\n");
    for (size_t i = 0; i < LAUNCHES; i++) {
        int64_t begin = own_ns();
        assert_true(fixture_next(&f, &next));
        next_ms[i] = ms_since(begin);
        uint32_t noise = rng_word(1, RNG_STREAM(RNG_SCHEDULE, 1), 0, (uint32_t)i, 0);
        struct journal_launch *l = fixture_start(&f, &next);
        l->status = LAUNCH_OK;
        l->wall_s = 5;
        l->images = 64;
        l->step_ms = 100 * (1 + 0.12 * (rng_unit(noise) - 0.5));
        begin = own_ns();
        fixture_learn(&f);
        learn_ms[i] = ms_since(begin);
        begin = own_ns();
        launch_order_forecast(&f.order);
        forecast_ms[i] = ms_since(begin);
    }
    print_row("launch_order_next", next_ms, LAUNCHES);
    print_row("launch_order_learn", learn_ms, LAUNCHES);
    print_row("launch_order_forecast", forecast_ms, LAUNCHES);
    time_resume(&f);
    fixture_end(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(choose)};
    return cmocka_run_group_tests_name("speed of the order", tests, make_file, remove_file);
}
