/* What a sweep goes through: the gradients of every size and network, how long they are expected to
 * take, and how far it is. */
#include <math.h>
#include <stdlib.h>

#include "bench/workloads/sweeps/comm/sweep.h"
#include "bench/workloads/sweeps/models.h"
#include "kernels/base/clock.h"
#include "kernels/base/duration.h"

/* ---- The list ---- */

/* Takes the problem in; the tensors of desc are the task's from here on. */
static enum status add_task(struct tasks *tasks, struct task *task, const char *part,
                            struct error *e)
{
    const struct net_desc *d = &task->desc;
    size_t n = (size_t)d->n_tensors;
    if (tasks->n == TASKS_MAX)
        return error_set(e, ERR_ARGUMENT, "a sweep goes through at most %d sizes and networks",
                         TASKS_MAX);
    tasks->all[tasks->n++] = task;
    task->problem = (struct problem){.part = part,
                                     .model = task->is_net ? d->name : "",
                                     .desc = d,
                                     .counts = calloc(2 * n + 1, sizeof(size_t))};
    if (task->problem.counts == NULL)
        return error_set(e, ERR_MEMORY, "no memory for the sizes of %zu tensors", n);
    task->problem.rows = task->problem.counts + n;
    for (size_t i = 0; i < n; i++) {
        task->problem.counts[i] = d->tensors[i].count;
        task->problem.rows[i] = d->tensors[i].n_dims > 1 ? (size_t)d->tensors[i].dims[0] : 0;
    }
    return OK;
}

static enum status add_size(struct tasks *tasks, size_t bytes, struct error *e)
{
    size_t n = (bytes + sizeof(real) - 1) / sizeof(real);
    struct task *task = calloc(1, sizeof *task);
    if (task == NULL)
        return error_set(e, ERR_MEMORY, "no memory for a size");
    task->flat = (struct tensor_desc){
        .name = "flat", .n_dims = 1, .dims = {(int)n}, .count = n, .fan_in = n, .fan_out = n};
    task->desc = (struct net_desc){.tensors = &task->flat, .n_tensors = 1, .n_params = n};
    snprintf(task->name, sizeof task->name, "flat-%zu", n);
    return add_task(tasks, task, "flat", e);
}

static enum status add_model(void *arg, const char *model, struct error *e)
{
    char digest[SHA256_TEXT_BYTES];
    struct task *task = calloc(1, sizeof *task);
    if (task == NULL)
        return error_set(e, ERR_MEMORY, "no memory for a network");
    enum status status = model_load(&task->desc, model, e);
    if (status == OK)
        status = model_sha256(&task->desc, digest, e);
    task->is_net = status == OK;
    if (status == OK)
        snprintf(task->name, sizeof task->name, "net-%s", digest);
    if (status == OK)
        return add_task(arg, task, "net", e);
    free(task);
    return status;
}

enum status tasks_list(struct tasks *tasks, const struct sweep_options *o, struct error *e)
{
    enum status status = OK;
    for (int i = 0; status == OK && i < o->n_sizes; i++)
        status = add_size(tasks, o->sizes[i], e);
    for (int i = 0; status == OK && i < o->models.n; i++)
        status = add_model(tasks, o->models.names[i], e);
    if (status == OK && o->models.n == 0 && !o->models.none)
        status = models_for_each("models", add_model, tasks, e);
    return status;
}

void tasks_free(struct tasks *tasks)
{
    for (int i = 0; i < tasks->n; i++) {
        free(tasks->all[i]->problem.counts);
        if (tasks->all[i]->is_net)
            net_desc_free(&tasks->all[i]->desc);
        free(tasks->all[i]);
    }
    tasks->n = 0;
}

/* ---- How long, and how far ---- */

/* What is measured corrects the model's time of what is left, as far as it outweighs this share of
 * the whole: small gradients come first and say little about large ones. */
#define MODEL_WEIGHT 0.125

void tasks_expect(struct sweep *s)
{
    for (int i = 0; i < s->tasks.n; i++) {
        struct task *task = s->tasks.all[i];
        task->expected_s = task->is_kept ? 0 : sweep_expect_s(s, &task->problem);
        s->tasks.expected_s += task->expected_s;
    }
    s->tasks.left_s = s->tasks.expected_s;
    s->tasks.begin_ns = clock_ns();
}

/* Of the model's seconds those that are left, as long as what was measured took longer or less. */
static double seconds_left(const struct tasks *t, double model_s)
{
    double prior = MODEL_WEIGHT * t->expected_s, done = t->expected_s - model_s;
    double measured = 1e-9 * (double)(clock_ns() - t->begin_ns);
    return prior + done > 0 ? model_s * (prior + measured) / (prior + done) : 0;
}

void tasks_tell_forecast(const struct sweep *s)
{
    char text[32];
    int kept = 0;
    for (int i = 0; i < s->tasks.n; i++)
        kept += s->tasks.all[i]->is_kept;
    if (s->rank == 0)
        fprintf(stderr,
                "comm_sweep: %d sizes and networks, %d of them kept from before; about %s\n",
                s->tasks.n, kept, duration_text(text, s->tasks.expected_s));
}

void tasks_print_plan(const struct sweep *s)
{
    char text[32];
    for (int i = 0; s->rank == 0 && i < s->tasks.n; i++) {
        const struct task *task = s->tasks.all[i];
        const struct problem *p = &task->problem;
        printf("%-14s %9zu bytes in %2d tensors  about %s\n", p->model,
               p->desc->n_params * sizeof(real), p->desc->n_tensors,
               duration_text(text, task->expected_s));
    }
}

void tasks_tell_progress(struct sweep *s, const struct problem *p, int done, int all)
{
    char what[200];
    struct tasks *t = &s->tasks;
    if (s->rank != 0 || t->n == 0)
        return;
    const struct task *task = t->all[t->at];
    snprintf(what, sizeof what, "%s%s%zu bytes in %d tensors: %d of %d operations", p->model,
             p->model[0] != '\0' ? ", " : "", p->desc->n_params * sizeof(real), p->desc->n_tensors,
             done, all);
    progress_next(&t->progress, (size_t)t->at + 1, (size_t)t->n, what,
                  seconds_left(t, t->left_s - task->expected_s * done / all), false);
}
