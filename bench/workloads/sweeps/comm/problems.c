/* Sets the sizes of the gradients to sum: one vector of a given size, or the tensors of a
 * network. */
#include <stdlib.h>

#include "bench/workloads/sweeps/comm/sweep.h"
#include "kernels/base/mem.h"

/* Sets, for each tensor in p->net, the number of its elements (p->counts) and the number of its
 * rows (p->rows; 0: the tensor has at most one dimension). */
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

static enum status open_size(struct problem *p, size_t bytes, struct error *e)
{
    size_t n = (bytes + sizeof(real) - 1) / sizeof(real);
    p->part = "flat";
    p->model = "";
    p->flat = (struct tensor_desc){
        .name = "flat", .n_dims = 1, .dims = {(int)n}, .count = n, .fan_in = n, .fan_out = n};
    p->net = (struct net_desc){.tensors = &p->flat, .n_tensors = 1, .n_params = n};
    return measure(p, e);
}

static enum status open_model(struct problem *p, const char *model, struct error *e)
{
    TRY(model_load(&p->net, model, e));
    p->is_net = true;
    p->part = "net";
    p->model = p->net.name;
    return measure(p, e);
}

enum status problem_open(struct problem *p, const struct sweep_options *o, struct error *e)
{
    if (link_is_swept(o))
        return OK;
    return o->bytes > 0 ? open_size(p, o->bytes, e) : open_model(p, o->gradients, e);
}

void problem_close(struct problem *p)
{
    free(p->counts);
    if (p->is_net)
        net_desc_free(&p->net);
}
