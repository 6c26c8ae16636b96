#include "kernels/optimizers/tables.h"

#include <assert.h>

static const struct optimizer_rule *rule_of(enum optimizer_kind kind, enum isa isa)
{
    const struct optimizer_rule *const rules[OPTIMIZERS] = {
#define OPTIMIZER(name, norms, slots, summary) optimizer_##name##_for(isa),
#include "kernels/desc/optimizers.def"
    };
    return rules[kind];
}

const char *const *optimizer_names(void)
{
    static const char *const names[OPTIMIZERS] = {
#define OPTIMIZER(name, norms, slots, summary) #name,
#include "kernels/desc/optimizers.def"
    };
    return names;
}

int optimizer_slots(enum optimizer_kind kind)
{
    static const int rows[OPTIMIZERS] = {
#define OPTIMIZER(name, norms, slots, summary) slots,
#include "kernels/desc/optimizers.def"
    };
    return rows[kind];
}

bool optimizer_takes_tensors(enum optimizer_kind kind)
{
    return rule_of(kind, ISA_PORTABLE)->norms != NULL;
}

struct update_call {
    const struct optimizer *o;
    const struct optimizer_rule *rule;
    real *params;
    const real *grads;
    size_t begin, end;
    uint64_t step;
    double lr;
};

static void update_share(void *arg, int thread, int threads)
{
    const struct update_call *call = arg;
    size_t begin = 0, end = 0;
    pool_share(call->end - call->begin, (size_t)thread, (size_t)threads, &begin, &end);
    call->rule->update(call->o, call->params, call->grads, call->begin + begin, call->begin + end,
                       call->step, call->lr);
}

static void update_tensor(const struct update_call *call, const struct tensor_desc *t)
{
    double norms2[2] = {0};
    size_t end = t->offset + t->count;
    call->rule->norms(call->o, t, call->params, call->grads, t->offset, end, call->step, norms2);
    call->rule->update_part(call->o, t, call->params, call->grads, t->offset, end, call->step,
                            call->lr, norms2);
}

/* Updates the tensors whose first number lies in this thread's part of [begin, end). */
static void update_tensors_of_share(void *arg, int thread, int threads)
{
    const struct update_call *call = arg;
    size_t begin = 0, end = 0;
    pool_share(call->end - call->begin, (size_t)thread, (size_t)threads, &begin, &end);
    for (int i = 0; i < call->o->n_tensors; i++) {
        const struct tensor_desc *t = &call->o->tensors[i];
        if (t->offset >= call->begin + begin && t->offset < call->begin + end)
            update_tensor(call, t);
    }
}

static bool is_boundary(const struct optimizer *o, size_t at)
{
    for (int i = 0; i < o->n_tensors; i++)
        if (o->tensors[i].offset == at)
            return true;
    return at == o->n;
}

void optimizer_step(const struct optimizer *o, struct pool *pool, real *params, const real *grads,
                    size_t begin, size_t end, uint64_t step, double lr)
{
    struct update_call call = {.o = o,
                               .rule = rule_of(o->kind, o->isa),
                               .params = params,
                               .grads = grads,
                               .begin = begin,
                               .end = end,
                               .step = step,
                               .lr = lr};
    if (optimizer_takes_tensors(o->kind))
        assert(is_boundary(o, begin) && is_boundary(o, end));
    pool_run(pool, optimizer_takes_tensors(o->kind) ? update_tensors_of_share : update_share,
             &call);
}

/* Sets [*first, *last) to the part of a tensor in [begin, end). Returns false if this part is
 * empty. */
static bool part_of(const struct tensor_desc *t, size_t begin, size_t end, size_t *first,
                    size_t *last)
{
    *first = t->offset > begin ? t->offset : begin;
    *last = t->offset + t->count < end ? t->offset + t->count : end;
    return *first < *last;
}

void optimizer_norms(const struct optimizer *o, const real *params, const real *grads, size_t begin,
                     size_t end, uint64_t step, double *norms2)
{
    const struct optimizer_rule *rule = rule_of(o->kind, o->isa);
    size_t first, last;
    for (int i = 0; i < o->n_tensors; i++) {
        double part[2] = {0};
        if (!part_of(&o->tensors[i], begin, end, &first, &last))
            continue;
        rule->norms(o, &o->tensors[i], params, grads, first, last, step, part);
        norms2[2 * i] += part[0];
        norms2[2 * i + 1] += part[1];
    }
}

void optimizer_step_parts(const struct optimizer *o, real *params, const real *grads, size_t begin,
                          size_t end, uint64_t step, double lr, const double *norms2)
{
    const struct optimizer_rule *rule = rule_of(o->kind, o->isa);
    size_t first, last;
    for (int i = 0; i < o->n_tensors; i++)
        if (part_of(&o->tensors[i], begin, end, &first, &last))
            rule->update_part(o, &o->tensors[i], params, grads, first, last, step, lr,
                              norms2 + 2 * i);
}
