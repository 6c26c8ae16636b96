/* What a sweep goes through: the gradients of every size and network, and how far it is. */
#include <stdlib.h>

#include "bench/workloads/sweeps/comm/sweep.h"
#include "bench/workloads/sweeps/models.h"
#include "kernels/base/clock.h"
#include "kernels/base/mem.h"

/* ---- The list ---- */

/* What a problem's tensors come to, once its `net` is there. */
static enum status measure(struct problem *p, struct error *e)
{
    size_t n = (size_t)p->net.n_tensors;
    p->desc = &p->net;
    TRY(MEM_NEW(p->counts, 2 * n, "the sizes of tensors", e));
    p->rows = p->counts + n;
    for (size_t i = 0; i < n; i++) {
        const struct tensor_desc *t = &p->net.tensors[i];
        p->counts[i] = t->count;
        p->rows[i] = t->n_dims > 1 ? (size_t)t->dims[0] : 0;
    }
    return OK;
}

/* It is the list's from here on. */
static enum status add_problem(struct problems *problems, const char *part, struct problem **p,
                               struct error *e)
{
    if (problems->n == PROBLEMS_MAX)
        return error_set(e, ERR_ARGUMENT, "a sweep goes through at most %d sizes and networks",
                         PROBLEMS_MAX);
    TRY(MEM_NEW(*p, 1, "a size or network", e));
    problems->all[problems->n++] = *p;
    (*p)->part = part;
    (*p)->model = "";
    return OK;
}

static enum status add_size(struct problems *problems, size_t bytes, struct error *e)
{
    size_t n = (bytes + sizeof(real) - 1) / sizeof(real);
    struct problem *p;
    TRY(add_problem(problems, "flat", &p, e));
    p->flat = (struct tensor_desc){
        .name = "flat", .n_dims = 1, .dims = {(int)n}, .count = n, .fan_in = n, .fan_out = n};
    p->net = (struct net_desc){.tensors = &p->flat, .n_tensors = 1, .n_params = n};
    snprintf(p->name, sizeof p->name, "flat-%zu", n);
    return measure(p, e);
}

static enum status add_model(void *problems, const char *model, struct error *e)
{
    char digest[SHA256_TEXT_BYTES];
    struct problem *p;
    TRY(add_problem(problems, "net", &p, e));
    TRY(model_load(&p->net, model, e));
    p->is_net = true;
    p->model = p->net.name;
    TRY(model_sha256(&p->net, digest, e));
    snprintf(p->name, sizeof p->name, "net-%s", digest);
    return measure(p, e);
}

enum status problems_list(struct problems *problems, const struct sweep_options *o, struct error *e)
{
    for (int i = 0; i < o->n_sizes; i++)
        TRY(add_size(problems, o->sizes[i], e));
    for (int i = 0; i < o->models.n; i++)
        TRY(add_model(problems, o->models.names[i], e));
    if (o->models.n == 0 && !o->models.none)
        return models_for_each("models", add_model, problems, e);
    return OK;
}

void problems_free(struct problems *problems)
{
    for (int i = 0; i < problems->n; i++) {
        struct problem *p = problems->all[i];
        free(p->counts);
        if (p->is_net)
            net_desc_free(&p->net);
        free(p);
    }
    problems->n = 0;
}

/* ---- How far it is ---- */

/* What is measured corrects the model's time of what is left, as far as it outweighs this share of
 * the whole: small gradients come first and say little about large ones. */
#define MODEL_WEIGHT 0.125

/* Of the model's seconds those that are left, as long as what was measured took longer or less. */
static double seconds_left(const struct problems *t, double model_s)
{
    double prior = MODEL_WEIGHT * t->expected_s, done = t->expected_s - model_s;
    double measured = 1e-9 * (double)(clock_ns() - t->begin_ns);
    return prior + done > 0 ? model_s * (prior + measured) / (prior + done) : 0;
}

void problems_tell_progress(struct sweep *s, const struct problem *p, int done, int all)
{
    char what[200];
    struct problems *t = &s->problems;
    if (s->rank != 0 || t->n == 0)
        return;
    snprintf(what, sizeof what, "%s%s%zu bytes in %d tensors: %d of %d operations", p->model,
             p->model[0] != '\0' ? ", " : "", p->desc->n_params * sizeof(real), p->desc->n_tensors,
             done, all);
    progress_next(&t->progress, (size_t)t->at + 1, (size_t)t->n, what,
                  seconds_left(t, t->left_s - t->all[t->at]->expected_s * done / all), false);
}
