#include "bench/workloads/train_cnn/cut.h"

#include <stdlib.h>

#include "bench/workloads/train_cnn/trainer.h"
#include "kernels/base/clock.h"
#include "kernels/base/mem.h"

/* Number of timed passes over a micro-batch. The first pass also warms up caches and pages; the
 * shortest time of each op is used. */
enum { PASSES = 4 };

/* Cost of each op, in ns or FLOPs; only ratios of costs matter. Used on rank 0 only. */
struct op_costs {
    int n;
    double *costs;
    bool *has_params;
};

static enum status open_costs(struct op_costs *c, const struct net *net, struct error *e)
{
    c->n = net_ops(net);
    TRY(MEM_NEW(c->costs, (size_t)c->n, "the costs of ops", e));
    TRY(MEM_NEW(c->has_params, (size_t)c->n, "the costs of ops", e));
    for (int op = 0; op < c->n; op++) {
        int first, last;
        net_op_tensors(net, op, &first, &last);
        c->has_params[op] = first < last;
    }
    return OK;
}

static void close_costs(struct op_costs *c)
{
    free(c->costs);
    free(c->has_params);
}

static void count_flops(struct op_costs *c, const struct net *net)
{
    for (int op = 0; op < c->n; op++) {
        struct net_op_view v = net_op_view(net, 0, op);
        c->costs[op] = (double)v.flops_forward + (v.learns ? (double)v.flops_backward : 0);
    }
}

/* ---- Measuring ---- */

/* Temporary network and buffers for timing ops before the trainer's arenas exist. */
struct alone {
    struct net *net;
    struct exec exec;
    real *params, *grads, *buffers;
    uint32_t n;
};

static enum status open_alone(struct alone *a, const struct trainer *t, struct error *e)
{
    const char *what = "timing of a network";
    const struct net_desc *desc = t->model.desc;
    TRY(MEM_NEW_ALIGNED(a->params, desc->n_params, what, e));
    TRY(MEM_NEW_ALIGNED(a->grads, desc->n_params, what, e));
    TRY(MEM_NEW_ALIGNED(a->buffers, desc->n_buffer_values, what, e));
    net_init_params(desc, a->params, t->model.exec.seed);
    net_init_buffers(desc, a->buffers);
    a->exec = t->model.exec;
    a->exec.buffers = a->buffers;
    a->exec.samples = t->batches.eval_samples;
    a->n = t->batches.micro_max;
    return OK;
}

static void close_alone(struct alone *a)
{
    mem_free(a->params);
    mem_free(a->grads);
    mem_free(a->buffers);
}

/* Loads the first n training images as the network's input. */
static void load(const struct trainer *t, const struct alone *a)
{
    for (uint32_t i = 0; i < a->n; i++)
        t->batches.eval_samples[i] = i;
    data_locate(&t->data->train, shape_count(t->model.desc->input), t->batches.eval_samples, a->n,
                t->batches.images, t->batches.labels);
    net_load_each(a->net, &a->exec, 0, (int)a->n, t->batches.images);
}

/* Runs ops [0, n) forward, then backward. Sets took [n] to the time of each op, forward plus
 * backward (ns). */
static void time_pass(const struct trainer *t, const struct alone *a, int64_t *took, int n)
{
    int64_t begin_ns;
    for (int op = 0; op < n; op++) {
        begin_ns = clock_ns();
        net_forward(a->net, &a->exec, 0, op, op + 1, a->params);
        took[op] = clock_ns() - begin_ns;
    }
    net_loss(a->net, &a->exec, 0, t->batches.labels, NULL, 1.0 / a->n);
    for (int op = n - 1; op >= 0; op--) {
        begin_ns = clock_ns();
        net_backward(a->net, &a->exec, 0, op, op + 1, a->params, a->grads);
        took[op] += clock_ns() - begin_ns;
    }
}

static enum status time_ops(struct op_costs *c, const struct trainer *t, const struct alone *a,
                            struct error *e)
{
    int64_t *took;
    TRY(MEM_NEW(took, (size_t)c->n, "the times of ops", e));
    load(t, a);
    for (int pass = 0; pass < PASSES; pass++) {
        time_pass(t, a, took, c->n);
        for (int op = 0; op < c->n; op++)
            if (pass == 0 || (double)took[op] < c->costs[op])
                c->costs[op] = (double)took[op];
    }
    free(took);
    return OK;
}

static enum status measure(struct op_costs *c, const struct trainer *t, struct net *net,
                           struct error *e)
{
    struct alone a = {.net = net};
    enum status status = open_alone(&a, t, e);
    THEN(status, time_ops(c, t, &a, e));
    close_alone(&a);
    return status;
}

static bool goes_by_flops(const struct trainer *t)
{
    return config_int(t->config, OPT_PIPELINE_CUT) == PIPELINE_CUT_flops;
}

/* Finds the costs of all ops, with a temporary network that has the ops of all stages. */
static enum status find_costs(struct op_costs *c, const struct trainer *t,
                              const struct net_options *options, struct error *e)
{
    struct net *net;
    struct net_options whole = *options;
    whole.slots = 1;
    TRY(net_create(&net, t->model.desc, &whole, e));
    enum status status = open_costs(c, net, e);
    if (status == OK && goes_by_flops(t))
        count_flops(c, net);
    else
        THEN(status, measure(c, t, net, e));
    net_destroy(net);
    return status;
}

/* Sets the op costs by which a replayed network is cut into pipeline stages. Cost of an op: its
 * FLOPs if parallel.cut is flops, otherwise its calibrated time (ns), summed over the calibration's
 * steps. */
static enum status read_costs(struct op_costs *c, const struct trainer *t, struct error *e)
{
    const struct calibration *from = &t->replayed->calibration;
    TRY(open_costs(c, t->model.net, e));
    if (c->n != from->n_ops)
        return error_set(e, ERR_ARGUMENT,
                         "%s: expected times of %d ops as in this network's plan, found %d. "
                         "Calibrate with kernels.tune: fixed",
                         t->replayed->from, c->n, from->n_ops);
    if (goes_by_flops(t)) {
        count_flops(c, t->model.net);
        return OK;
    }
    for (int step = 0; step < from->n_steps; step++) {
        const int64_t *row = from->ns + (size_t)step * (size_t)calibration_parts(from);
        for (int op = 0; op < c->n; op++)
            c->costs[op] += (double)(row[calibration_part(from, PART_FORWARD, op)] +
                                     row[calibration_part(from, PART_BACKWARD, op)]);
    }
    return OK;
}

/* ---- Deciding ---- */

/* Broadcasts rank 0's cut of the network and sets s->first and s->last. Stage i has ops [first[i],
 * first[i + 1]). If rank 0 failed, it sends first[stages] = 0, so that other ranks fail instead of
 * hanging. */
static enum status share(struct stage *s, const struct job *job, int *first, enum status mine,
                         struct error *e)
{
    struct error later;
    size_t n = (size_t)job->grid.stages + 1;
    if (mine != OK)
        first[n - 1] = 0;
    enum status status = wait_bcast(job->waiter, first, n, MPI_INT, 0, job->comm,
                                    "rank 0's cut of the net", mine == OK ? e : &later);
    if (mine != OK)
        return mine;
    TRY(status);
    if (first[n - 1] == 0)
        return error_set(e, ERR_ARGUMENT, "rank 0 failed to split the network into %d stages",
                         job->grid.stages);
    s->first = first[job->grid.stage];
    s->last = first[job->grid.stage + 1];
    return OK;
}

static enum status decide(const struct trainer *t, int *first, const struct op_costs *c,
                          struct error *e)
{
    int able = 0;
    for (int op = 0; op < c->n; op++)
        able += c->has_params[op];
    if (pipeline_cut_ops(first, t->job.grid.stages, c->costs, c->has_params, c->n))
        return OK;
    return error_set(e, ERR_ARGUMENT,
                     "parallel.pipeline = %d: expected at least one op with parameters per stage, "
                     "but model %s with kernels.plan = %s has only %d",
                     t->job.grid.stages, t->model.desc->name, config_text(t->config, OPT_KERNELS),
                     able);
}

/* Splits the network into stages. `options`: options of the network to create; NULL if the network
 * exists already. */
static enum status cut(struct trainer *t, const struct net_options *options, struct error *e)
{
    struct op_costs c = {.n = 0};
    enum status status = OK;
    int *first;
    TRY(MEM_NEW(first, (size_t)t->job.grid.stages + 1, "the stages of a net", e));
    if (t->job.rank == 0) {
        status = options != NULL ? find_costs(&c, t, options, e) : read_costs(&c, t, e);
        THEN(status, decide(t, first, &c, e));
    }
    status = share(&t->model.stage, &t->job, first, status, e);
    close_costs(&c);
    free(first);
    return status;
}

enum status cut_net(struct trainer *t, struct net_options *options, struct error *e)
{
    if (t->job.grid.stages == 1)
        return OK;
    TRY(cut(t, options, e));
    options->first_op = t->model.stage.first;
    options->last_op = t->model.stage.last;
    options->slots = stage_sets(t);
    return OK;
}

enum status cut_replayed(struct trainer *t, struct error *e)
{
    return t->job.grid.stages > 1 ? cut(t, NULL, e) : OK;
}
