#include "bench/workloads/train_cnn/arena_use.h"

#include "kernels/base/mem.h"

/* Of an arena of n numbers; what is unknown stays so. */
static void keep_most(double *most_mib, const real *arena, size_t n)
{
    double now_mib = mem_resident_mib(arena, n * sizeof *arena);
    if (!(now_mib <= *most_mib))
        *most_mib = now_mib;
}

void arena_use_look(struct arena_use *u, const struct sync *s)
{
    const struct arenas *a = &s->arenas;
    if (!u->asks)
        return;
    u->seen = true;
    keep_most(&u->params_mib, a->params, a->n);
    keep_most(&u->grads_mib, a->grads, a->n);
    keep_most(&u->state_mib, a->state, (size_t)a->slots * a->n);
}
