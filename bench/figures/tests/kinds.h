/* One run with points of every status, drawn as every kind of figure, for a group of tests. */
#pragma once

#include "bench/collect/tests/fake_run.h"

#include "bench/figures/figures.h"
#include "bench/record/csv_reader.h"

static const char spec_text[] =
    "name: kinds\n"
    "scaling: strong\n"
    "model: lenet_21k\n"
    "train: {global_batch: 256, epochs: 3}\n"
    "place: {oversubscribe: allow}\n"
    "matrix:\n"
    "  ranks: [1, 2, 4, 8]\n"
    "  sync.strategy: [none, allreduce]\n"
    "exclude:\n"
    "  - {ranks: 1, sync.strategy: allreduce}\n"
    "baseline: {ranks: 1, sync.strategy: none}\n"
    "measure: {replay: 5, accuracy: {seeds: [1, 2, 3]}}\n"
    "bars: total_s\n"
    "link: LINK\n"
    "published: {file: FILE, keys: [ranks], values: [test_acc_pct = accuracy, "
    "total_s_median = minutes * 60, step_ms_median = ms, efficiency = share]}\n"
    "differs: [\"Their net was another, \\\"larger\\\" one.\"]\n"
    "figures: [time, speedup, efficiency, breakdown, overlap, bars, accuracy, epochs, "
    "epoch_time, total_time, memory, {kind: line, name: forward, y: forward_ms},\n"
    "{kind: bars, name: shares, y: efficiency},\n"
    "{kind: line, name: calls, y: comm_replay_ms, where: ranks = 2},\n"
    "{kind: line, name: backward, y: backward_ms, where: ranks = 2},\n"
    "{kind: line, name: both, y: forward_ms + backward_ms,\n"
    "published: {file: FILE, name: theirs, keys: [ranks], values: [forward_ms+backward_ms = ms * "
    "2]}}]\n";

static const char published_text[] = "# a report\n"
                                     "ranks,accuracy,minutes,ms,share\n"
                                     "1,98.8,0.05,110,1\n"
                                     "2,98.5,0.04,60.5,0.9\n"
                                     "4,,0.03,35,\n"
                                     "8,97.2,0.02,20,\n"
                                     "64,90,0.01,10,\n";

/* Coefficients are powers of ten, so that each shows in a sum. */
static const char link_text[] = "coefficient,value,lo,hi\n"
                                "alpha_us,1000,900,1100\n"
                                "beta_ns_per_byte,10,9,11\n"
                                "gamma_ns_per_byte,100,90,110\n"
                                "ranks,2,,\nnodes,1,,\nhost,somewhere,,\ndate,2026-11-21,,\n";

static const char *const figures[] = {"time",       "speedup",    "efficiency", "breakdown",
                                      "overlap",    "bars",       "accuracy",   "epochs",
                                      "epoch_time", "total_time", "memory"};
enum { FIGURES = sizeof figures / sizeof *figures };

struct run {
    struct fake_run fake;
    char published[64]; /* folder of the published file */
    struct summary s;
};

/* Inserts the names of the coefficients file and the published file into the spec. */
static inline char *spec_with(const char *link, const char *file)
{
    const char *first = strstr(spec_text, "LINK"), *second = strstr(spec_text, "FILE"),
               *third = strstr(second + 1, "FILE");
    char *text = NULL;
    assert_true(asprintf(&text, "%.*s%s%.*s%s%.*s%s%s", (int)(first - spec_text), spec_text, link,
                         (int)(second - first - 4), first + 4, file, (int)(third - second - 4),
                         second + 4, file, third + 4) > 0);
    return text;
}

/* Communication alone takes 10 ms; model states take 0.27 MiB. */
static inline void add_times(struct fake_run *run, long ranks, const char *strategy, double step_ms,
                             bool differ)
{
    static const char replay[] = "\"replays\":5,\"replay_ns\":10000000,\"params_mib\":0.09,"
                                 "\"grads_mib\":0.08,\"state_mib\":0.1,";
    for (int block = 0; block < 4; block++)
        fake_add(run, &(struct fake_launch){.ranks = ranks,
                                            .strategy = strategy,
                                            .block = block,
                                            .step_ms = step_ms * (1 + 0.01 * block),
                                            .seed = 1,
                                            .memory = strcmp(strategy, "none") == 0 ? NULL : replay,
                                            .weights_differ = differ});
}

static inline void add_accuracy(struct fake_run *run, long ranks, const char *strategy,
                                double accuracy)
{
    for (uint64_t seed = 1; seed <= 3; seed++)
        fake_add(run, &(struct fake_launch){.ranks = ranks,
                                            .strategy = strategy,
                                            .epochs = 3,
                                            .seed = seed,
                                            .test_acc_pct = accuracy + 0.25 * (double)seed})
            ->wall_s = (double)(10 - ranks) + 0.5 * (double)seed;
}

/* Adds points: ranks 1 and 2 are ok. 4 is unverified with allreduce and failed without. 8 is
 * oversubscribed with allreduce and skipped without. */
static inline void fill(struct fake_run *run)
{
    add_times(run, 1, "none", 100, false);
    add_times(run, 2, "none", 51, false);
    add_times(run, 2, "allreduce", 56, false);
    add_times(run, 4, "allreduce", 30, true);
    add_times(run, 8, "allreduce", 25, false);
    fake_fail(run, 4, "none", LAUNCH_FAILED, "signal 9, \"killed\"");
    fake_skip(run, 8, "none", "8 ranks, 4 cores");
    add_accuracy(run, 1, "none", 98);
    add_accuracy(run, 2, "allreduce", 97.5);
    add_accuracy(run, 8, "allreduce", 96);
}

static inline void open_run(struct run *run)
{
    char path[128], link[128];
    struct error e = {.status = OK};
    strcpy(run->published, "/tmp/published.XXXXXX");
    assert_non_null(mkdtemp(run->published));
    snprintf(path, sizeof path, "%s/table.csv", run->published);
    fake_write(path, published_text);
    snprintf(link, sizeof link, "%s/link.csv", run->published);
    fake_write(link, link_text);
    char *text = spec_with(link, path);
    fake_open(&run->fake, text);
    free(text);
    snprintf(path, sizeof path, "%s/manifest.json", run->fake.dir);
    fake_write(path,
               "{\"machine\": {\"usable_cores\": 4, \"machine_cores\": 4, \"numa_nodes\": 1}}");
    fill(&run->fake);
    if (summary_collect(&run->s, &run->fake.spec, run->fake.dir, &run->fake.journal, &e) != OK ||
        summary_write(&run->s, run->fake.dir, &e) != OK ||
        figures_draw(&(struct figures_run){&run->s, run->fake.dir, NULL}, 1, run->fake.dir, "plots",
                     FIGURES_PICTURES, &e) != OK)
        fail_msg("%s:%d: %s", e.file, e.line, e.text);
}

static inline void close_run(struct run *run)
{
    summary_free(&run->s);
    fake_close(&run->fake);
    fake_remove_folder(run->published);
}

static inline int in_one_run(void **state)
{
    static struct run run;
    open_run(&run);
    *state = &run;
    return 0;
}

static inline int after_the_run(void **state)
{
    close_run(*state);
    return 0;
}

static inline struct csv_table table_of(const struct run *run, const char *kind, const char *figure)
{
    char path[256];
    struct csv_table table;
    struct error e = {.status = OK};
    snprintf(path, sizeof path, "%s/%s_%s.csv", run->fake.dir, kind, figure);
    if (csv_table_read(&table, path, &e) != OK)
        fail_msg("%s:%d: %s", e.file, e.line, e.text);
    return table;
}

static inline struct csv_table series_of(const struct run *run, const char *figure)
{
    return table_of(run, "series", figure);
}

/* Returns a number of the row whose columns `key` and `second` have these texts. */
static inline double number_at(const struct csv_table *table, const char *key, const char *text,
                               const char *second, const char *second_text, const char *column)
{
    struct error e;
    int a = csv_table_find(table, key), b = csv_table_find(table, second),
        c = csv_table_find(table, column);
    assert_true(a >= 0 && b >= 0 && c >= 0);
    for (size_t row = 0; row < table->rows; row++) {
        double x;
        if (strcmp(csv_table_cell(table, row, (size_t)a), text) != 0 ||
            strcmp(csv_table_cell(table, row, (size_t)b), second_text) != 0)
            continue;
        assert_int_equal(csv_table_number(table, row, (size_t)c, &x, &e), OK);
        return x;
    }
    fail_msg("%s: no row with %s = %s and %s = %s", table->path, key, text, second, second_text);
    return NAN;
}

static inline double point_number(const struct csv_table *table, const char *label,
                                  const char *column)
{
    return number_at(table, "label", label, "label", label, column);
}

static inline void assert_says(const struct run *run, const char *file, const char *const *texts)
{
    char path[256];
    snprintf(path, sizeof path, "%s/%s", run->fake.dir, file);
    char *words = fake_read(path);
    for (; *texts; texts++)
        if (!strstr(words, *texts))
            fail_msg("%s does not say '%s' but: %s", file, *texts, words);
    free(words);
}

static inline const char *name_of(char name[64], const char *figure, const char *ending)
{
    snprintf(name, 64, "%s.%s", figure, ending);
    return name;
}
