#include "bench/replay/calibration.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "kernels/base/mem.h"

/* ---- In memory ---- */

static enum status make_rows(struct calibration *c, int steps, struct error *e)
{
    c->capacity = steps;
    /* The extra row is for steps whose times are discarded. */
    return MEM_NEW(c->ns, ((size_t)steps + 1) * (size_t)calibration_parts(c), "times of ops", e);
}

static enum status make_ops(struct calibration *c, int n, struct error *e)
{
    c->n_ops = n;
    return MEM_NEW(c->ops, (size_t)n, "times of ops", e);
}

enum status calibration_open(struct calibration *c, const struct calibrated_work *work, int ops,
                             int steps, struct error *e)
{
    *c = (struct calibration){.work = *work};
    TRY(make_ops(c, ops, e));
    return make_rows(c, steps, e);
}

void calibration_free(struct calibration *c)
{
    free(c->ops);
    free(c->ns);
    *c = (struct calibration){0};
}

int64_t *calibration_row(const struct calibration *c)
{
    return c->ns + (size_t)c->n_steps * (size_t)calibration_parts(c);
}

void calibration_keep(struct calibration *c)
{
    c->n_steps += c->n_steps < c->capacity;
}

#define DIFFERS(what, format, is, wanted)                                                          \
    return error_set(e, ERR_ARGUMENT,                                                              \
                     "%s: this rank has " what " = " format                                        \
                     ", but the times of ops were measured with " format                           \
                     ". Calibrate with the network, kernel plan, optimizer, batch and threads "    \
                     "of this rank",                                                               \
                     folder, wanted, is)

enum status calibration_check(const struct calibration *c, const struct calibrated_work *wanted,
                              const char *folder, struct error *e)
{
    const struct calibrated_work *is = &c->work;
    if (strcmp(is->model, wanted->model) != 0)
        DIFFERS("model", "%s", is->model, wanted->model);
    if (is->params != wanted->params)
        DIFFERS("parameters", "%lld", (long long)is->params, (long long)wanted->params);
    if (strcmp(is->plan, wanted->plan) != 0)
        DIFFERS("kernels.plan", "%s", is->plan, wanted->plan);
    if (strcmp(is->optimizer, wanted->optimizer) != 0)
        DIFFERS("train.optimizer", "%s", is->optimizer, wanted->optimizer);
    if (is->images != wanted->images)
        DIFFERS("images per step", "%d", is->images, wanted->images);
    if (is->micro_batches != wanted->micro_batches)
        DIFFERS("train.accumulate", "%d", is->micro_batches, wanted->micro_batches);
    if (is->threads != wanted->threads)
        DIFFERS("place.threads_per_rank", "%d", is->threads, wanted->threads);
    return OK;
}

/* ---- The file ---- */

#define PATH_BYTES 4352

static void file_path(char path[PATH_BYTES], const char *folder, int rank)
{
    snprintf(path, PATH_BYTES, "%s/rank.%d.times.json", folder, rank);
}

int calibration_ranks(const char *folder)
{
    char path[PATH_BYTES];
    int n = 0;
    for (file_path(path, folder, 0); access(path, F_OK) == 0; file_path(path, folder, n))
        n++;
    return n;
}

const char *calibration_name(const char *folder)
{
    const char *from = folder + strlen(folder);
    for (int slashes = 0; from > folder && slashes < 2; from--)
        slashes += from[-1] == '/';
    return from > folder ? from + 1 : folder;
}

static json_t *ops_json(const struct calibration *c)
{
    json_t *ops = json_array();
    for (int op = 0; op < c->n_ops; op++)
        json_array_append_new(ops, json_pack("{s:s, s:[i,i]}", "name", c->ops[op].name, "tensors",
                                             c->ops[op].first, c->ops[op].last));
    return ops;
}

static json_t *steps_json(const struct calibration *c)
{
    json_t *steps = json_array();
    int parts = calibration_parts(c);
    for (int i = 0; i < c->n_steps; i++) {
        json_t *row = json_array();
        for (int k = 0; k < parts; k++)
            json_array_append_new(row, json_integer(c->ns[(size_t)i * (size_t)parts + (size_t)k]));
        json_array_append_new(steps, row);
    }
    return steps;
}

enum status calibration_write(const struct calibration *c, const char *folder, int rank,
                              struct error *e)
{
    char path[PATH_BYTES];
    file_path(path, folder, rank);
    json_t *all =
        json_pack("{s:i, s:s, s:s, s:s, s:I, s:i, s:i, s:i, s:o, s:o}", "schema",
                  CALIBRATION_SCHEMA, "model", c->work.model, "plan", c->work.plan, "optimizer",
                  c->work.optimizer, "params", (json_int_t)c->work.params, "images", c->work.images,
                  "micro_batches", c->work.micro_batches, "threads", c->work.threads, "ops",
                  ops_json(c), "steps_ns", steps_json(c));
    int failed = all == NULL || json_dump_file(all, path, JSON_COMPACT) != 0;
    json_decref(all);
    return failed ? error_at(e, ERR_SYSTEM, path, 0, 0, "the times of ops cannot be written") : OK;
}

static enum status bad_file(const char *path, const char *what, struct error *e)
{
    return error_at(e, ERR_DATA, path, 0, 0, "%s. Calibrate again", what);
}

static enum status take_work(struct calibrated_work *work, json_t *all, const char *path,
                             struct error *e)
{
    const char *model, *plan, *optimizer;
    json_int_t params;
    int schema;
    if (json_unpack(all, "{s:i}", "schema", &schema) != 0 || schema != CALIBRATION_SCHEMA)
        return bad_file(path, "expected times of ops of schema 1", e);
    work->micro_batches = 1; /* in files without "micro_batches", steps have one micro-batch */
    if (json_unpack(all, "{s:s, s:s, s:s, s:I, s:i, s?i, s:i}", "model", &model, "plan", &plan,
                    "optimizer", &optimizer, "params", &params, "images", &work->images,
                    "micro_batches", &work->micro_batches, "threads", &work->threads) != 0)
        return bad_file(path,
                        "model, plan, optimizer, params, images or threads is missing or of "
                        "another type",
                        e);
    snprintf(work->model, sizeof work->model, "%s", model);
    snprintf(work->plan, sizeof work->plan, "%s", plan);
    snprintf(work->optimizer, sizeof work->optimizer, "%s", optimizer);
    work->params = params;
    return OK;
}

static enum status take_ops(struct calibration *c, json_t *all, const char *path, struct error *e)
{
    const json_t *ops = json_object_get(all, "ops");
    if (json_array_size(ops) == 0)
        return bad_file(path, "ops is missing or empty", e);
    TRY(make_ops(c, (int)json_array_size(ops), e));
    for (int i = 0; i < c->n_ops; i++) {
        struct calibrated_op *op = &c->ops[i];
        const char *name;
        if (json_unpack(json_array_get(ops, (size_t)i), "{s:s, s:[i,i]}", "name", &name, "tensors",
                        &op->first, &op->last) != 0 ||
            op->first < 0 || op->last < op->first)
            return bad_file(path, "an op must be a name with its first and last tensor", e);
        snprintf(op->name, sizeof op->name, "%s", name);
    }
    return OK;
}

/* Longest accepted time of one part of a step: one hour. */
#define LONGEST_NS 3600000000000

static enum status take_step(struct calibration *c, const json_t *row, const char *path,
                             struct error *e)
{
    size_t parts = (size_t)calibration_parts(c);
    if (json_array_size(row) != parts)
        return error_at(e, ERR_DATA, path, 0, 0,
                        "step %d has %zu measured times instead of %zu for %d ops. Calibrate again",
                        c->n_steps + 1, json_array_size(row), parts, c->n_ops);
    for (size_t k = 0; k < parts; k++) {
        const json_t *time = json_array_get(row, k);
        json_int_t ns = json_is_integer(time) ? json_integer_value(time) : -1;
        if (ns < 0 || ns > LONGEST_NS)
            return error_at(e, ERR_DATA, path, 0, 0,
                            "step %d: entry %zu must be a time from 0 ns to 1 hour. Calibrate "
                            "again",
                            c->n_steps + 1, k + 1);
        calibration_row(c)[k] = ns;
    }
    calibration_keep(c);
    return OK;
}

static enum status take_all(struct calibration *c, json_t *all, const char *path, struct error *e)
{
    const json_t *steps = json_object_get(all, "steps_ns");
    TRY(take_work(&c->work, all, path, e));
    TRY(take_ops(c, all, path, e));
    if (json_array_size(steps) == 0)
        return bad_file(path, "steps_ns is missing or empty", e);
    TRY(make_rows(c, (int)json_array_size(steps), e));
    for (size_t i = 0; i < json_array_size(steps); i++)
        TRY(take_step(c, json_array_get(steps, i), path, e));
    return OK;
}

enum status calibration_read(struct calibration *c, const char *folder, int rank, struct error *e)
{
    char path[PATH_BYTES];
    json_error_t wrong;
    *c = (struct calibration){0};
    file_path(path, folder, rank);
    if (access(path, F_OK) != 0)
        return error_set(e, ERR_ARGUMENT,
                         "%s: rank.%d.times.json not found. Run train_cnn with --run time, "
                         "--calibrate and --record to write this file",
                         folder, rank);
    json_t *all = json_load_file(path, 0, &wrong);
    if (all == NULL)
        return error_at(e, ERR_DATA, path, wrong.line, wrong.column, "%s", wrong.text);
    enum status status = take_all(c, all, path, e);
    json_decref(all);
    return status;
}
