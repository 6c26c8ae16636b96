#include "bench/forecast/step_times.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench/replay/calibration.h"
#include "kernels/base/mem.h"

/* ---- Calibrated times ---- */

/* Calibrations of all ranks of a launch. */
struct calibrations {
    struct calibration *all; /* [n] calibration of each rank */
    int n;
    size_t steps; /* sum of the ranks' numbers of calibrated steps */
};

static enum status read_all(struct calibrations *c, const char *folder, struct error *e)
{
    c->n = calibration_ranks(folder);
    TRY(MEM_NEW(c->all, (size_t)c->n, "times of ops", e));
    for (int rank = 0; rank < c->n; rank++) {
        TRY(calibration_read(&c->all[rank], folder, rank, e));
        c->steps += (size_t)c->all[rank].n_steps;
        if (calibration_parts(&c->all[rank]) != calibration_parts(&c->all[0]))
            return error_set(
                e, ERR_DATA,
                "%s: the ranks' calibration files have different numbers of ops. Calibrate again",
                folder);
    }
    if (c->n == 0)
        return error_set(
            e, ERR_ARGUMENT,
            "%s: rank.0.times.json not found; expected the folder of a calibration launch", folder);
    return OK;
}

static void free_all(struct calibrations *c)
{
    for (int rank = 0; rank < c->n && c->all != NULL; rank++)
        calibration_free(&c->all[rank]);
    free(c->all);
}

/* Lists the times of a part in all steps of all ranks (s). */
static void list_part(double *times, const struct calibrations *c, int part)
{
    size_t n = 0;
    for (int rank = 0; rank < c->n; rank++)
        for (int i = 0; i < c->all[rank].n_steps; i++)
            times[n++] =
                1e-9 * (double)c->all[rank]
                           .ns[(size_t)i * (size_t)calibration_parts(&c->all[rank]) + (size_t)part];
}

/* Sets the pace of each step (total time of the step / time of the typical step) and the mean
 * pace. */
static enum status take_paces(struct step_times *t, const struct calibrations *c, double *times,
                              struct error *e)
{
    double typical_s = t->compute_s + t->optimizer_s;
    TRY(MEM_NEW(t->paces, c->steps, "the paces of steps", e));
    t->n_paces = c->steps;
    for (int part = 0; part < calibration_parts(&c->all[0]); part++) {
        list_part(times, c, part);
        for (size_t i = 0; i < c->steps; i++)
            t->paces[i] += times[i] / typical_s;
    }
    for (size_t i = 0; i < c->steps; i++)
        t->mean_pace += t->paces[i] / (double)c->steps;
    return OK;
}

/* Sets the times of the typical step. The time of each part is its median over all steps of all
 * ranks. */
static enum status take_typical(struct step_times *t, const struct calibrations *c, int tensors,
                                double *times, const char *folder, struct error *e)
{
    const struct calibration *first = &c->all[0];
    double *parts;
    TRY(MEM_NEW(parts, (size_t)calibration_parts(first), "times of ops", e));
    for (int part = 0; part < calibration_parts(first); part++) {
        list_part(times, c, part);
        parts[part] = stats_median(times, c->steps);
    }
    t->load_s = parts[calibration_part(first, PART_LOAD, 0)];
    t->optimizer_s = parts[calibration_part(first, PART_OPTIMIZER, 0)];
    t->forward_s = parts[calibration_part(first, PART_LOSS, 0)];
    for (int op = 0; op < first->n_ops; op++)
        t->forward_s += parts[calibration_part(first, PART_FORWARD, op)];
    t->compute_s = t->load_s + t->forward_s;
    enum status status = OK;
    for (int op = first->n_ops; op-- > 0;) {
        t->compute_s += parts[calibration_part(first, PART_BACKWARD, op)];
        if (first->ops[op].last > tensors)
            status = error_set(
                e, ERR_DATA,
                "%s: the calibrated times in this folder are of another network. Calibrate again",
                folder);
        for (int i = first->ops[op].first; i < first->ops[op].last && status == OK; i++)
            t->ready_s[i] = t->compute_s;
    }
    free(parts);
    return status;
}

static enum status take_calibrations(struct step_times *t, const struct calibrations *c,
                                     int tensors, const char *folder, struct error *e)
{
    double *times;
    TRY(MEM_NEW(times, c->steps, "times of ops", e));
    enum status status = take_typical(t, c, tensors, times, folder, e);
    THEN(status, take_paces(t, c, times, e));
    free(times);
    return status;
}

static enum status calibrate(struct step_times *t, int tensors, const char *folder,
                             struct launch_result *result, struct error *e)
{
    struct calibrations c = {0};
    struct launch_result *measured;
    TRY(MEM_NEW(measured, 1, "the results of a launch", e));
    enum status status = read_all(&c, folder, e);
    THEN(status, take_calibrations(t, &c, tensors, folder, e));
    THEN(status, launch_read(folder, c.n, measured, e));
    if (status == OK)
        launch_take_hello(result, measured);
    snprintf(t->from, sizeof t->from, "%s", calibration_name(folder));
    free_all(&c);
    free(measured);
    return status;
}

/* ---- Times of the parts of a step ---- */

static enum status take_parts(struct step_times *t, const struct net_desc *net,
                              const struct step_parts *parts, struct error *e)
{
    t->load_s = parts->load_s;
    t->forward_s = parts->forward_s;
    t->compute_s = parts->load_s + parts->forward_s + parts->backward_s;
    t->optimizer_s = parts->optimizer_s;
    net_desc_ready(net, t->ready_s, parts->backward_s);
    for (int i = 0; i < net->n_tensors; i++)
        t->ready_s[i] += parts->load_s + parts->forward_s;
    TRY(MEM_NEW(t->paces, 1, "the paces of steps", e));
    t->n_paces = 1;
    t->paces[0] = t->mean_pace = 1;
    snprintf(t->from, sizeof t->from, "%s", parts->from);
    return OK;
}

/* Returns the forward and backward times of a step, computed from compute.rate. All other parts are
 * 0. */
static struct step_parts parts_at_rate(const struct point *point)
{
    const struct config *c = &point->config;
    const struct net_desc *net = &point->net->net;
    double images = ceil(config_images(c) / config_number(c, OPT_RANKS));
    double image_s =
        images / (1e9 * config_number(c, OPT_COMPUTE_RATE) * config_number(c, OPT_THREADS));
    struct step_parts parts = {.forward_s = image_s * (double)net->flops_forward,
                               .backward_s = image_s * (double)net->flops_backward};
    snprintf(parts.from, sizeof parts.from, "%s GFLOP/s", config_text(c, OPT_COMPUTE_RATE));
    return parts;
}

/* Divides the time of the update by the number of ranks if each rank updates only its own share of
 * the parameters. */
static void share_update(struct step_times *t, const struct config *c)
{
    if (strategy_stage(config_strategy_kind(c)) > 0)
        t->optimizer_s /= config_number(c, OPT_RANKS);
}

enum status step_times_open(struct step_times *t, const struct point *point,
                            const char *calibration, const struct step_parts *parts,
                            struct launch_result *result, struct error *e)
{
    const struct net_desc *net = &point->net->net;
    struct step_parts at_rate;
    *t = (struct step_times){0};
    if (calibration == NULL && parts == NULL) {
        if (config_number(&point->config, OPT_COMPUTE_RATE) == 0)
            return error_set(e, ERR_ARGUMENT,
                             "simulate: point %s has neither compute.rate nor a calibration. Use "
                             "--calibration=LAUNCH, the folder of a calibration launch of this run",
                             point->id);
        at_rate = parts_at_rate(point);
        parts = &at_rate;
    }
    TRY(MEM_NEW(t->ready_s, (size_t)net->n_tensors, "the gradients of a network", e));
    TRY(calibration != NULL ? calibrate(t, net->n_tensors, calibration, result, e)
                            : take_parts(t, net, parts, e));
    share_update(t, &point->config);
    return OK;
}

void step_times_free(struct step_times *t)
{
    free(t->ready_s);
    free(t->paces);
    *t = (struct step_times){0};
}
