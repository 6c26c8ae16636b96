/* Collects synthetic campaigns whose summaries can be computed by hand. */
#pragma once

#include "bench/collect/collect.h"
#include "bench/collect/columns.h"
#include "bench/collect/summary.h"
#include "bench/collect/table/table.h"
#include "bench/collect/tests/fake_run.h"

static const char strong_spec[] = "name: synthetic\n"
                                  "scaling: strong\n"
                                  "model: lenet_21k\n"
                                  "data: {set: digits}\n"
                                  "train: {optimizer: adam, lr: 1e-3, global_batch: 256}\n"
                                  "matrix:\n"
                                  "  ranks: [1, 2, 4, 8]\n"
                                  "  sync.strategy: [none, allreduce]\n"
                                  "exclude:\n"
                                  "  - {ranks: 1, sync.strategy: allreduce}\n"
                                  "  - {ranks: 8, sync.strategy: none}\n"
                                  "baseline: {ranks: 1, sync.strategy: none}\n"
                                  "measure:\n"
                                  "  time: {launches: 6..12, precision: 5%}\n"
                                  "  accuracy: {seeds: [1, 2], test_acc_pct: \">= 96.5\"}\n";

static inline const struct point_summary *find(const struct summary *s, const struct fake_run *run,
                                               long ranks, const char *strategy)
{
    return &s->points[fake_point(run, ranks, strategy)];
}

static inline const char *cell(const struct point_summary *p, enum column_id id)
{
    return p->cells[id];
}

static inline struct summary collect(const struct fake_run *run)
{
    struct summary s;
    struct error e = {.status = OK};
    if (summary_collect(&s, &run->spec, run->dir, &run->journal, &e) != OK)
        fail_msg("%s:%d: %s", e.file, e.line, e.text);
    return s;
}

/* Base: 100 to 105 ms over six blocks. At two ranks the ratios within blocks are 1.5 to 2.0, out of
 * order, so that pairing matters. */
static const double base_ms[] = {100, 101, 102, 103, 104, 105};
static const double ratios[] = {1.6, 1.7, 1.78, 1.82, 2.0, 1.5};

static inline void add_block(struct fake_run *run, int block)
{
    fake_add(
        run,
        &(struct fake_launch){
            .ranks = 1, .strategy = "none", .block = block, .seed = 1, .step_ms = base_ms[block]});
    fake_add(run, &(struct fake_launch){.ranks = 2,
                                        .strategy = "allreduce",
                                        .block = block,
                                        .seed = 1,
                                        .step_ms = base_ms[block] / ratios[block]});
}

static inline void add_blocks(struct fake_run *run)
{
    for (int block = 0; block < 6; block++)
        add_block(run, block);
}

static inline void add_accuracy(struct fake_run *run, long ranks, const char *strategy,
                                uint64_t seed, double pct)
{
    fake_add(run, &(struct fake_launch){
                      .ranks = ranks, .strategy = strategy, .seed = seed, .test_acc_pct = pct});
}

/* An interrupted block has no partner: it counts for the time, not for the ratio. */
static const char peer_spec[] = "name: peers\n"
                                "model: lenet_21k\n"
                                "train: {batch_per_rank: 128}\n"
                                "matrix:\n"
                                "  ranks: [1, 2]\n"
                                "  workload: [train_cnn, peer_torch]\n"
                                "measure: {time: {launches: 6..6}}\n";

/* The peak memory is 90.5 MiB: the data set takes 40.5 MiB in our program and 10.5 MiB in the peer,
 * libraries take 20 MiB. Only our trainer records its FLOPs. */
static inline void add_peer_launch(struct fake_run *run, const char *workload, int block,
                                   double step_ms)
{
    bool ours = strcmp(workload, "train_cnn") == 0;
    fake_add(run, &(struct fake_launch){.ranks = 1,
                                        .strategy = "allreduce",
                                        .workload = workload,
                                        .work = ours ? "\"flops_done_forward\":400000,"
                                                       "\"flops_done_backward\":500000,"
                                                       "\"savings\":\"winograd dead_outputs\","
                                                     : NULL,
                                        .memory = ours ? "\"data_mib\":40.5,\"libraries_mib\":20.0,"
                                                       : "\"data_mib\":10.5,\"libraries_mib\":20,",
                                        .block = block,
                                        .seed = 1,
                                        .step_ms = step_ms});
}

/* Returns the table of a run in folder `dir`, `width` columns wide; the caller frees it. */
static inline char *print_of(const struct summary *s, const char *dir, int width)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    assert_non_null(out);
    table_print(out, s, dir, "1a2b3c4 clean", width);
    assert_int_equal(fclose(out), 0);
    return text;
}

static inline char *print_wide(const struct summary *s, int width)
{
    return print_of(s, "results/synthetic/latest", width);
}

static inline char *print(const struct summary *s)
{
    return print_wide(s, 0);
}

static inline void assert_line(const char *text, const char *wanted)
{
    if (strstr(text, wanted) == NULL)
        fail_msg("no '%s' in\n%s", wanted, text);
}

static inline void write_both(const struct summary *s, const struct fake_run *run)
{
    struct error e = {.status = OK};
    if (summary_write(s, run->dir, &e) != OK || table_write_documents(s, run->dir, &e) != OK)
        fail_msg("%s", e.text);
}

static inline char *read_of(const struct fake_run *run, const char *name)
{
    char path[128];
    snprintf(path, sizeof path, "%s/%s", run->dir, name);
    return fake_read(path);
}

static inline void fill_troubled_run(struct fake_run *run)
{
    fake_open(run, strong_spec);
    add_blocks(run);
    fake_fail(run, 4, "allreduce", LAUNCH_FAILED, "said \"no, never\",\nthen left");
    fake_skip(run, 8, "allreduce", "8 ranks, 4 cores");
}
