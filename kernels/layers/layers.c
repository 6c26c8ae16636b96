#include "kernels/layers/layer_tables.h"

const struct layer_kernel *layer_kernel_get(enum layer_kind kind, enum plan plan)
{
    static const struct layer_kernel *const kernels[LAYER_KINDS] = {
#define LAYER(name, summary) &layer_##name,
#include "kernels/desc/layers.def"
    };
    const struct layer_kernel *reference = kernels[kind]->reference;
    return plan == PLAN_REFERENCE && reference != NULL ? reference : kernels[kind];
}

size_t layer_saved_bytes(const struct layer_kernel *kernel, const struct layer_desc *layer, int n)
{
    return kernel->saved_bytes != NULL ? kernel->saved_bytes(layer, n) : 0;
}

size_t layer_scratch_bytes(const struct layer_kernel *kernel, const struct layer_desc *layer, int n,
                           int threads)
{
    return kernel->scratch_bytes != NULL ? kernel->scratch_bytes(layer, n, threads) : 0;
}

struct loop {
    const struct exec *ex;
    size_t n, block;
    block_function *function;
    void *arg;
};

static void loop_run_share(void *arg, int thread, int threads)
{
    const struct loop *loop = arg;
    size_t begin = 0, end = 0;
    pool_share(loop->n, (size_t)thread, (size_t)threads, &begin, &end);
    while (begin < end) {
        size_t stop = end - begin > loop->block ? begin + loop->block : end;
        loop->function(loop->arg, begin, stop, thread);
        if (thread == 0)
            exec_poll(loop->ex);
        begin = stop;
    }
}

void exec_for(const struct exec *ex, size_t n, size_t block, block_function *f, void *arg)
{
    struct loop loop = {.ex = ex, .n = n, .block = block, .function = f, .arg = arg};
    pool_run(ex->pool, loop_run_share, &loop);
}
