#include "kernels/optimizer_tables.h"

static const struct optimizer_rule *const rules[OPTIMIZERS] = {
#define OPTIMIZER(name, summary) &optimizer_##name,
#include "kernels/desc/optimizers.def"
#undef OPTIMIZER
};

const char *const *optimizer_names(void)
{
    static const char *const names[OPTIMIZERS] = {
#define OPTIMIZER(name, summary) #name,
#include "kernels/desc/optimizers.def"
#undef OPTIMIZER
    };
    return names;
}

const char *optimizer_summary(enum optimizer_kind kind)
{
    static const char *const summaries[OPTIMIZERS] = {
#define OPTIMIZER(name, summary) summary,
#include "kernels/desc/optimizers.def"
#undef OPTIMIZER
    };
    return summaries[kind];
}

int optimizer_slots(enum optimizer_kind kind)
{
    return rules[kind]->slots;
}

struct update_call {
    const struct optimizer *o;
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
    rules[call->o->kind]->update(call->o, call->params, call->grads, call->begin + begin,
                                 call->begin + end, call->step, call->lr);
}

void optimizer_step(const struct optimizer *o, struct pool *pool, real *params, const real *grads,
                    size_t begin, size_t end, uint64_t step, double lr)
{
    struct update_call call = {.o = o,
                               .params = params,
                               .grads = grads,
                               .begin = begin,
                               .end = end,
                               .step = step,
                               .lr = lr};
    pool_run(pool, update_share, &call);
}
