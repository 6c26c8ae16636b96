/* Synthetic runs for tests: records as a workload would write them, and the journal. */
#pragma once

#include <dirent.h>
#include <math.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <setjmp.h>

#include <cmocka.h>

#include "bench/record/journal.h"
#include "bench/spec/spec.h"

/* Equal up to whole nanoseconds, the resolution of records, in windows of 0.1 s. NAN equals
 * nothing. */
#define NEAR(a, b) assert_true(fake_near(a, b))

static inline bool fake_near(double a, double b)
{
    return fabs(a - b) <= 1e-8 * fmax(1, fabs(b));
}

/* Records of one rank. All timed steps have the same phases; arrivals are given. */
struct fake_rank {
    const char *host, *model, *dataset, *strategy, *variant, *bound;
    const char *work;   /* fields to add to the line hello, with a comma at the end; NULL: none */
    const char *memory; /* fields to add to the line end, with a comma at the end; NULL: none */
    int poll_quarters;  /* quarters of the timed window spent polling; 0: one */
    long params, batch, global_batch;
    int n_steps;
    double step_ms, compute_ms, comm_ms;
    double optimizer_ms; /* part of compute_ms; 0: a tenth of it */
    double arrive_ms[2]; /* arrivals in even and odd steps, from their begin; 0: none */
    double test_acc_pct; /* accuracy after the last epoch; 0: no epochs */
    int epochs;   /* 0: one. Each epoch has one point of accuracy more, and 0.1 loss less, than the
                   epoch before */
    double drift; /* relative growth of step time until the last timed step */
    bool weights_equal;
    long long clock_ns; /* time by which its clock is ahead (ns) */
};

#define FAKE_ROOM 64

struct fake_run {
    char dir[64];
    struct spec spec;
    struct journal journal;
    struct journal_launch launches[FAKE_ROOM];
    struct journal_skip skips[4];
};

/* A launch of a synthetic run; all ranks are alike, but the last rank arrives late. */
struct fake_launch {
    long ranks;
    const char *strategy;
    const char *variant;       /* variant of the strategy; NULL: the default */
    const char *compress;      /* compressor; NULL: none */
    const char *workload;      /* workload; NULL: train_cnn */
    const char *work, *memory; /* further fields of records, as in struct fake_rank */
    int block;                 /* block of a timed launch */
    double step_ms;            /* step time of a timed launch; 0: an accuracy run */
    double optimizer_ms;       /* time of the optimizer, as in struct fake_rank */
    double test_acc_pct;       /* accuracy that an accuracy run reaches */
    int epochs;                /* number of epochs of an accuracy run; 0: one */
    uint64_t seed;
    double drift; /* drift of step times, as in struct fake_rank */
    bool weights_differ;
};

static inline void fake_remove_folder(const char *dir)
{
    char command[256];
    snprintf(command, sizeof command, "rm -rf '%s'", dir);
    assert_int_equal(system(command), 0);
}

static inline void fake_write(const char *path, const char *text)
{
    FILE *out = fopen(path, "w");
    assert_non_null(out);
    fputs(text, out);
    assert_int_equal(fclose(out), 0);
}

/* Counts the files in a folder whose names begin with `begin`. */
static inline int fake_count(const char *dir, const char *begin)
{
    int n = 0;
    DIR *folder = opendir(dir);
    assert_non_null(folder);
    for (struct dirent *entry; (entry = readdir(folder)) != NULL;)
        n += strncmp(entry->d_name, begin, strlen(begin)) == 0;
    closedir(folder);
    return n;
}

/* Returns a file's content; the caller frees it. */
static inline char *fake_read(const char *path)
{
    char *text = calloc(1, 1 << 20);
    FILE *in = fopen(path, "r");
    assert_non_null(text);
    assert_non_null(in);
    size_t n = fread(text, 1, (1 << 20) - 1, in);
    assert_in_range(n, 0, (1 << 20) - 2);
    fclose(in);
    return text;
}

/* Replaces the first `from` in a file, which must contain it. */
static inline void fake_edit(const char *path, const char *from, const char *to)
{
    char *text = fake_read(path), *found = strstr(text, from);
    assert_non_null(found);
    FILE *out = fopen(path, "w");
    assert_non_null(out);
    fprintf(out, "%.*s%s%s", (int)(found - text), text, to, found + strlen(from));
    assert_int_equal(fclose(out), 0);
    free(text);
}

static inline void fake_write_step(FILE *out, const struct fake_rank *r, int step, bool timed)
{
    double arrive = r->arrive_ms[step % 2];
    long long begin = 1000000000LL * (step + 1) + r->clock_ns;
    double drift = r->n_steps > 0 ? 1 + r->drift * step / r->n_steps : 1;
    fprintf(out,
            "{\"type\":\"step\",\"epoch\":0,\"step\":%d,\"timed\":%s,\"samples\":%ld,"
            "\"begin_ns\":%lld,\"end_ns\":%lld,\"load_ns\":%lld,\"forward_ns\":%lld,"
            "\"backward_ns\":%lld,\"pack_ns\":0,\"comm_total_ns\":%lld,\"comm_exposed_ns\":%lld,"
            "\"progress_ns\":%lld,\"optimizer_ns\":%lld,\"arrive_ns\":%lld,\"poll_ns\":0,"
            "\"loss_sum\":1.5,"
            "\"correct\":3,\"hash\":\"00\"}\n",
            step, timed ? "true" : "false", r->batch, begin,
            begin + llround(r->step_ms * drift * 1e6), llround(r->compute_ms * 0.1e6),
            llround(r->compute_ms * 0.3e6), llround(r->compute_ms * 0.5e6),
            llround(r->comm_ms * 1.1e6), llround(r->comm_ms * 1e6), llround(r->comm_ms * 0.05e6),
            llround(r->optimizer_ms > 0 ? r->optimizer_ms * 1e6 : r->compute_ms * 0.1e6),
            arrive > 0 ? begin + llround(arrive * 1e6) : 0);
}

static inline void fake_write_hello(FILE *out, int rank, int ranks, const struct fake_rank *r)
{
    fprintf(out,
            "{\"type\":\"hello\",\"schema\":1,\"rank\":%d,\"ranks\":%d,\"host\":\"%s\",\"pid\":7,"
            "\"workload\":\"train_cnn\",\"precision\":\"f32\",\"model\":\"%s\",\"params\":%ld,"
            "\"flops_forward\":1000000,\"flops_backward\":2000000,\"dataset\":\"%s\","
            "\"data_source\":\"real\",%s\"read_s\":%.2f,\"optimizer\":\"adam\",\"lr\":0.001,"
            "\"seed\":1,\"strategy\":\"%s\",\"sync_variant\":\"%s\","
            "\"sync_algorithm\":\"auto\",\"overlap\":\"none\","
            "\"batch\":%ld,"
            "\"global_batch\":%ld,\"threads\":1,\"bound\":\"%s\",\"mpi\":\"MPICH 4.0.2\","
            "\"blas\":\"BLIS 0.9.0 skx\"}\n",
            rank, ranks, r->host, r->model, r->params, r->dataset, r->work ? r->work : "",
            0.5 + 0.25 * rank, r->strategy, r->variant ? r->variant : "usual", r->batch,
            r->global_batch, r->bound);
}

static inline void fake_write_epochs(FILE *out, const struct fake_rank *r)
{
    int epochs = r->test_acc_pct <= 0 ? 0 : r->epochs > 0 ? r->epochs : 1;
    for (int epoch = 0; epoch < epochs; epoch++)
        fprintf(out,
                "{\"type\":\"epoch\",\"epoch\":%d,\"seconds\":2.0,\"steps\":235,\"samples\":60000,"
                "\"train_loss\":%.1f,\"train_acc_pct\":91.25,\"lr\":0.001}\n"
                "{\"type\":\"eval\",\"epoch\":%d,\"seconds\":0.2,\"samples\":10000,"
                "\"test_loss\":0.09,\"test_acc_pct\":%.4f}\n",
                epoch, 0.3 + 0.1 * (epochs - 1 - epoch), epoch,
                r->test_acc_pct - (epochs - 1 - epoch));
}

static inline void fake_write_end(FILE *out, int rank, const struct fake_rank *r)
{
    long long window = llround(r->step_ms * 1e6 * r->n_steps);
    fprintf(out,
            "{\"type\":\"end\",\"status\":\"ok\",\"steps\":%d,\"timed_steps\":%d,"
            "\"window_ns\":%lld,\"window_cpu_ns\":%lld,\"poll_ns\":%lld,\"calls\":%d,"
            "\"bytes_payload\":%d,\"bytes_wire\":%d,\"messages_wire\":%d,"
            "\"wire_source\":\"formula: ring\",\"user_s\":%d.5,\"sys_s\":0.25,\"rss_mib\":%d.5,%s"
            "\"check\":\"step\",\"weights_equal\":%s,\"first_difference\":\"%s\"}\n",
            r->n_steps + 1, r->n_steps, window, window,
            window / 4 * (r->poll_quarters ? r->poll_quarters : 1), 2 * r->n_steps,
            1000 * r->n_steps, 1500 * r->n_steps, 4 * r->n_steps, 1 + rank, 90 + rank,
            r->memory ? r->memory : "", r->weights_equal ? "true" : "false",
            r->weights_equal ? "" : "step 3, rank 1");
}

/* Writes DIR/rank.N.jsonl: hello, a warm-up step, n_steps timed steps, epochs, end. */
static inline void fake_write_rank(const char *dir, int rank, int ranks, const struct fake_rank *r)
{
    char path[320];
    snprintf(path, sizeof path, "%s/rank.%d.jsonl", dir, rank);
    FILE *out = fopen(path, "w");
    assert_non_null(out);
    fake_write_hello(out, rank, ranks, r);
    for (int i = 0; i <= r->n_steps; i++)
        fake_write_step(out, r, i, i > 0);
    fake_write_epochs(out, r);
    fake_write_end(out, rank, r);
    assert_int_equal(fclose(out), 0);
}

static inline void fake_open(struct fake_run *run, const char *spec_text)
{
    char path[128];
    struct error e = {.status = OK};
    struct spec_machine machine = {.usable_cores = 8};
    memset(run, 0, sizeof *run);
    strcpy(run->dir, "/tmp/fake_run.XXXXXX");
    assert_non_null(mkdtemp(run->dir));
    snprintf(path, sizeof path, "%s/campaign.yaml", run->dir);
    fake_write(path, spec_text);
    if (spec_load(&run->spec, path, NULL, &machine, &e) != OK)
        fail_msg("%s:%d: %s", e.file, e.line, e.text);
    run->journal.fd = -1;
    run->journal.launches = run->launches;
    run->journal.skips = run->skips;
}

static inline void fake_close(struct fake_run *run)
{
    spec_free(&run->spec);
    fake_remove_folder(run->dir);
}

static inline size_t fake_point_of(const struct fake_run *run, const char *workload, long ranks,
                                   const char *strategy, const char *variant)
{
    for (size_t i = 0; i < run->spec.n_points; i++) {
        const struct config *config = &run->spec.points[i].config;
        if (config_int(config, OPT_RANKS) == ranks &&
            strcmp(config_text(config, OPT_STRATEGY), strategy) == 0 &&
            strcmp(config_text(config, OPT_VARIANT), variant) == 0 &&
            strcmp(config_text(config, OPT_WORKLOAD), workload) == 0)
            return i;
    }
    fail_msg("no point of %s with %ld ranks and %s, variant %s", workload, ranks, strategy,
             variant);
    return 0;
}

static inline size_t fake_point_in_form(const struct fake_run *run, long ranks,
                                        const char *strategy, const char *variant)
{
    return fake_point_of(run, "train_cnn", ranks, strategy, variant);
}

static inline size_t fake_point(const struct fake_run *run, long ranks, const char *strategy)
{
    return fake_point_in_form(run, ranks, strategy, "usual");
}

static inline struct journal_launch *fake_journal(struct fake_run *run, const char *point,
                                                  enum launch_run kind)
{
    assert_in_range(run->journal.n_launches, 0, FAKE_ROOM - 1);
    struct journal_launch *launch = &run->launches[run->journal.n_launches];
    snprintf(launch->launch, sizeof launch->launch, "launch-%zu", run->journal.n_launches++);
    snprintf(launch->point, sizeof launch->point, "%s", point);
    launch->run = kind;
    launch->status = LAUNCH_OK;
    launch->wall_s = 2;
    launch->seed = 1;
    return launch;
}

/* Compute is 96 % of a step without a strategy, 75 % with one. A strategy exposes 20 % of
 * communication; the last rank arrives 4 % after the others. */
static inline struct fake_rank fake_rank_of(const struct fake_launch *l, const struct point *point,
                                            int r, long batch)
{
    bool timed = l->step_ms > 0, silent = strcmp(l->strategy, "none") == 0;
    double late = r + 1 == l->ranks ? 0.04 : 0, arrive_ms = (0.75 + late) * l->step_ms;
    struct fake_rank rank = {.host = "node23",
                             .model = config_text(&point->config, OPT_MODEL),
                             .dataset = "mnist",
                             .strategy = l->strategy,
                             .variant = l->variant,
                             .work = l->work,
                             .memory = l->memory,
                             .params = 21840,
                             .batch = batch / l->ranks + (r < batch % l->ranks),
                             .global_batch = batch,
                             .n_steps = timed ? 4 : 0,
                             .step_ms = timed ? l->step_ms : 1,
                             .compute_ms = (silent ? 0.96 : 0.75) * l->step_ms,
                             .comm_ms = silent ? 0 : 0.2 * l->step_ms,
                             .optimizer_ms = l->optimizer_ms,
                             .test_acc_pct = l->test_acc_pct,
                             .epochs = l->epochs,
                             .drift = l->drift,
                             .weights_equal = !l->weights_differ};
    if (!silent)
        rank.arrive_ms[0] = rank.arrive_ms[1] = arrive_ms;
    return rank;
}

/* Adds a finished launch with its records. */
static inline struct journal_launch *fake_add(struct fake_run *run, const struct fake_launch *l)
{
    const char *variant = l->variant ? l->variant : "usual";
    const char *workload = l->workload ? l->workload : "train_cnn";
    const struct point *point =
        &run->spec.points[fake_point_of(run, workload, l->ranks, l->strategy, variant)];
    /* compressors vary fastest, starting with none */
    while (l->compress && strcmp(config_text(&point->config, OPT_COMPRESS), l->compress) != 0)
        assert_ptr_not_equal(++point, run->spec.points + run->spec.n_points);
    struct journal_launch *launch =
        fake_journal(run, point->id, l->step_ms > 0 ? RUN_TIME : RUN_ACCURACY);
    char dir[256];
    long batch = config_int(&point->config, OPT_GLOBAL_BATCH);
    long per_rank = config_int(&point->config, OPT_BATCH_PER_RANK);
    batch = batch ? batch : per_rank * l->ranks;
    launch->block = l->block;
    launch->seed = l->seed;
    snprintf(dir, sizeof dir, "%s/%s", run->dir, launch->launch);
    assert_int_equal(mkdir(dir, 0777), 0);
    for (int r = 0; r < l->ranks; r++) {
        char bound[16];
        struct fake_rank rank = fake_rank_of(l, point, r, batch);
        snprintf(bound, sizeof bound, "%d", r);
        rank.bound = bound;
        fake_write_rank(dir, r, (int)l->ranks, &rank);
    }
    return launch;
}

static inline void fake_skip(struct fake_run *run, long ranks, const char *strategy,
                             const char *reason)
{
    struct journal_skip *skip = &run->skips[run->journal.n_skips++];
    size_t i = fake_point(run, ranks, strategy);
    snprintf(skip->point, sizeof skip->point, "%s", run->spec.points[i].id);
    snprintf(skip->reason, sizeof skip->reason, "%s", reason);
}

static inline void fake_fail(struct fake_run *run, long ranks, const char *strategy,
                             enum launch_status status, const char *reason)
{
    size_t i = fake_point(run, ranks, strategy);
    struct journal_launch *launch = fake_journal(run, run->spec.points[i].id, RUN_TIME);
    launch->status = status;
    snprintf(launch->reason, sizeof launch->reason, "%s", reason);
}
