#include "comm/cost/pipeline.h"

#include <math.h>
#include <stdlib.h>

/* ---- Order ---- */

/* Returns how many forward passes a stage computes before forward and backward passes alternate. */
static int warm_up(enum pipeline_schedule schedule, int stage, int stages, int micros)
{
    if (schedule == PIPELINE_gpipe && stages > 1)
        return micros;
    int behind = stages - 1 - stage;
    return behind < micros ? behind : micros;
}

struct pipeline_task pipeline_task(enum pipeline_schedule schedule, int stage, int stages,
                                   int micros, int i)
{
    int warm = warm_up(schedule, stage, stages, micros), turns = 2 * (micros - warm);
    if (i < warm)
        return (struct pipeline_task){.backward = false, .micro = i};
    int turn = i - warm;
    if (turn >= turns)
        return (struct pipeline_task){.backward = true, .micro = i - micros};
    bool backward = turn % 2 == 1;
    return (struct pipeline_task){.backward = backward,
                                  .micro = backward ? turn / 2 : warm + turn / 2};
}

int pipeline_kept(enum pipeline_schedule schedule, int stage, int stages, int micros)
{
    int warm = warm_up(schedule, stage, stages, micros);
    return warm < micros ? warm + 1 : micros;
}

/* ---- Cutting ---- */

/* Dynamic program that cuts the first j ops into s + 1 stages. longest[s][j]: least possible cost
 * of the longest stage; infinite if a stage would have no parameters. from[s][j]: first op of stage
 * s. */
struct cuts {
    const double *costs;
    const bool *has_params;
    int n;
    double *longest;
    int *from;
};

static double *longest_at(const struct cuts *c, int stage, int end)
{
    return &c->longest[stage * (c->n + 1) + end];
}

static int *from_at(const struct cuts *c, int stage, int end)
{
    return &c->from[stage * (c->n + 1) + end];
}

static void cut_first(const struct cuts *c)
{
    double sum = 0;
    bool has_params = false;
    *longest_at(c, 0, 0) = INFINITY;
    for (int end = 1; end <= c->n; end++) {
        sum += c->costs[end - 1];
        has_params |= c->has_params[end - 1];
        *longest_at(c, 0, end) = has_params ? sum : INFINITY;
        *from_at(c, 0, end) = 0;
    }
}

/* Cuts ops [0, end) into stages 0 to `stage`, with the longest stage as short as possible. Stores
 * the first op of `stage`, and the longest stage's cost (infinite if every cut leaves a stage
 * without parameters). */
static void cut_next(const struct cuts *c, int stage, int end)
{
    double sum = 0, best = INFINITY;
    bool has_params = false;
    for (int from = end - 1; from >= 0; from--) {
        sum += c->costs[from];
        has_params |= c->has_params[from];
        double longest = fmax(sum, *longest_at(c, stage - 1, from));
        if (has_params && longest < best) {
            best = longest;
            *from_at(c, stage, end) = from;
        }
    }
    *longest_at(c, stage, end) = best;
}

static bool cut(const struct cuts *c, int *first, int stages)
{
    cut_first(c);
    for (int stage = 1; stage < stages; stage++)
        for (int end = 0; end <= c->n; end++)
            cut_next(c, stage, end);
    first[stages] = c->n;
    if (isinf(*longest_at(c, stages - 1, c->n)))
        return false;
    for (int stage = stages - 1; stage >= 0; stage--)
        first[stage] = *from_at(c, stage, first[stage + 1]);
    return true;
}

bool pipeline_cut_ops(int *first, int stages, const double *costs, const bool *has_params, int n)
{
    size_t room = (size_t)stages * ((size_t)n + 1);
    struct cuts c = {.costs = costs,
                     .has_params = has_params,
                     .n = n,
                     .longest = calloc(room, sizeof *c.longest),
                     .from = calloc(room, sizeof *c.from)};
    bool good = c.longest != NULL && c.from != NULL && cut(&c, first, stages);
    free(c.longest);
    free(c.from);
    return good;
}

/* ---- Messages ---- */

struct pipeline_traffic pipeline_traffic(size_t in, size_t out, int micros, uint64_t images,
                                         size_t width)
{
    uint64_t neighbours = (in > 0) + (out > 0);
    return (struct pipeline_traffic){.messages = neighbours * (uint64_t)micros,
                                     .bytes = (uint64_t)(in + out) * images * width};
}
