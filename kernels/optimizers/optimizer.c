#include "kernels/optimizers/tables.h"

#include <assert.h>

static const struct optimizer_rule *rule_of(enum optimizer_kind kind, enum isa isa)
{
    const struct optimizer_rule *const rules[OPTIMIZERS] = {
#define OPTIMIZER(name, norms, summary) optimizer_##name##_for(isa),
#include "kernels/desc/optimizers.def"
    };
    return rules[kind];
}

const char *const *optimizer_names(void)
{
    static const char *const names[OPTIMIZERS] = {
#define OPTIMIZER(name, norms, summary) #name,
#include "kernels/desc/optimizers.def"
    };
    return names;
}

int optimizer_slots(enum optimizer_kind kind)
{
    return rule_of(kind, ISA_PORTABLE)->slots;
}

bool optimizer_takes_tensors(enum optimizer_kind kind)
{
    return rule_of(kind, ISA_PORTABLE)->update_tensor != NULL;
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

/* Each thread takes the tensors that begin in its share of the numbers. */
static void update_tensors_of_share(void *arg, int thread, int threads)
{
    const struct update_call *call = arg;
    size_t begin = 0, end = 0;
    pool_share(call->end - call->begin, (size_t)thread, (size_t)threads, &begin, &end);
    for (int i = 0; i < call->o->n_tensors; i++) {
        const struct tensor_desc *t = &call->o->tensors[i];
        if (t->offset >= call->begin + begin && t->offset < call->begin + end)
            call->rule->update_tensor(call->o, t, call->params, call->grads, call->step, call->lr);
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
