#include "bench/replay/inject.h"

#include <math.h>

#include "kernels/base/rng.h"

static bool is_chosen(const struct value *ranks, int rank)
{
    for (size_t i = 0; i < ranks->n; i++)
        if (ranks->numbers[i] == rank)
            return true;
    return false;
}

enum status inject_open(struct inject *in, const struct config *config, int rank, int ranks,
                        struct error *e)
{
    const struct value *chosen = &config->values[OPT_INJECT_RANKS];
    const struct value *steps = &config->values[OPT_INJECT_STEPS];
    enum inject_kind kind = (enum inject_kind)config_int(config, OPT_INJECT_KIND);
    *in = (struct inject){
        .kind = is_chosen(chosen, rank) ? kind : INJECT_none,
        .phase = (enum inject_phase)config_int(config, OPT_INJECT_PHASE),
        .first = (uint64_t)steps->number,
        .last = (uint64_t)steps->number_hi,
        .sleep_s = config_number(config, OPT_INJECT_SLEEP),
        .shape = config_number(config, OPT_INJECT_SHAPE),
        .seed = (uint64_t)config_number(config, OPT_SEED),
        .rank = (uint32_t)rank,
    };
    for (size_t i = 0; i < chosen->n && kind != INJECT_none; i++)
        if (chosen->numbers[i] >= ranks)
            return error_set(e, ERR_ARGUMENT,
                             "inject.ranks: expected ranks 0..%d of this job, found %.0f",
                             ranks - 1, chosen->numbers[i]);
    return OK;
}

/* Returns a uniform random number in (0, 1], never 0, because its logarithm is taken. */
static double draw(const struct inject *in, uint64_t step)
{
    uint32_t word = rng_word(in->seed, RNG_STREAM(RNG_STRAGGLER, in->phase), (uint32_t)(step >> 32),
                             (uint32_t)step, in->rank);
    return 1 - rng_unit(word);
}

bool inject_kills(const struct inject *in, enum inject_phase phase, uint64_t step)
{
    return in->kind == INJECT_kill && phase == in->phase && step >= in->first && step <= in->last;
}

double inject_seconds(const struct inject *in, enum inject_phase phase, uint64_t step)
{
    if (in->kind == INJECT_none || in->kind == INJECT_kill || phase != in->phase ||
        step < in->first || step > in->last)
        return 0;
    if (in->kind == INJECT_exponential)
        return -in->sleep_s * log(draw(in, step));
    if (in->kind == INJECT_pareto)
        return in->sleep_s * pow(draw(in, step), -1 / in->shape);
    return in->sleep_s;
}
