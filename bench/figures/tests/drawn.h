/* A campaign of invented launches, summarised and drawn. */
#pragma once

#include "bench/collect/tests/fake_run.h"

#include "bench/collect/columns.h"
#include "bench/figures/figures.h"

static const char spec_text[] = "name: synthetic\n"
                                "scaling: strong\n"
                                "model: lenet_21k\n"
                                "train: {global_batch: 256}\n"
                                "matrix:\n"
                                "  ranks: [1, 2, 4, 8]\n"
                                "  sync.strategy: [none, allreduce]\n"
                                "exclude:\n"
                                "  - {ranks: 1, sync.strategy: allreduce}\n"
                                "baseline: {ranks: 1, sync.strategy: none}\n";

static inline struct summary summarise(const struct fake_run *run)
{
    struct summary s;
    struct error e = {.status = OK};
    if (summary_collect(&s, &run->spec, run->dir, &run->journal, &e) != OK ||
        summary_write(&s, run->dir, &e) != OK)
        fail_msg("%s: %s", e.file, e.text);
    return s;
}

static inline void draw(const struct summary *s, const char *dir)
{
    struct error e = {.status = OK};
    if (figures_draw(&(struct figures_run){s, dir, NULL}, 1, dir, "plots", FIGURES_PICTURES, &e) !=
        OK)
        fail_msg("%s: %s", e.file, e.text);
}

/* Reads a picture, *size bytes; the caller frees it. */
static inline char *picture(const char *dir, const char *name, size_t *size)
{
    char path[256];
    struct stat info;
    snprintf(path, sizeof path, "%s/%s", dir, name);
    assert_int_equal(stat(path, &info), 0);
    *size = (size_t)info.st_size;
    return fake_read(path);
}

static inline void assert_says(const char *dir, const char *name, const char *const *texts)
{
    size_t size;
    char *svg = picture(dir, name, &size);
    for (; *texts; texts++)
        if (!strstr(svg, *texts))
            fail_msg("%s does not say '%s'", name, *texts);
    free(svg);
}

static inline void add(struct fake_run *run, long ranks, const char *strategy, double step_ms)
{
    for (int block = 0; block < 6; block++)
        fake_add(run, &(struct fake_launch){.ranks = ranks,
                                            .strategy = strategy,
                                            .block = block,
                                            .seed = 1,
                                            .step_ms = step_ms + 0.1 * block});
}

/* Adds points: ranks 1, 2 and 4 measured, 4 failed for one strategy, 8 skipped. */
static inline void fill(struct fake_run *run)
{
    fake_open(run, spec_text);
    add(run, 1, "none", 100);
    add(run, 2, "none", 51);
    add(run, 2, "allreduce", 55);
    add(run, 4, "none", 27);
    fake_fail(run, 4, "allreduce", LAUNCH_FAILED, "signal 9");
    fake_skip(run, 8, "none", "8 ranks, 4 cores");
    fake_skip(run, 8, "allreduce", "8 ranks, 4 cores");
}
