/* How long a sweep is expected to take, by the model of messages and sums that it has just fitted. */
#include <math.h>

#include "bench/workloads/sweeps/comm/sweep.h"
#include "kernels/base/clock.h"
#include "kernels/base/text.h"

/* Besides what the model knows a step draws gradients and takes its sums in, a round has barriers,
 * and a contender is opened and checked. */
static double expect_contender_s(const struct sweep *s, const struct problem *p,
                                 const struct contender *c)
{
    enum { PASSES = 3, CHECKS = 6, OPENING_PASSES = 5 };
    struct cost cost = contender_cost(s, p, c);
    double alpha_s = isfinite(s->link.alpha_s) ? s->link.alpha_s : 0;
    double message_s = isfinite(cost.seconds) ? cost.seconds : 0;
    double pass_s = (double)(p->desc->n_params * sizeof(real)) * s->link.gamma_s;
    double rounds = s->options->rounds, steps = rounds * round_steps(s, p, c) + CHECKS;
    return steps * (message_s + PASSES * pass_s) + rounds * 2 * log2(s->ranks) * alpha_s +
           OPENING_PASSES * pass_s;
}

static double expect_s(const struct sweep *s, const struct problem *p)
{
    struct contender all[CONTENDERS_MAX];
    bool compares = s->options->compares;
    int n = compares ? 2 : contenders_list(s->options, all);
    double sum = 0;
    for (int i = 0; i < n; i++)
        sum += expect_contender_s(s, p, compares ? &s->options->compared[i] : &all[i]);
    return compares ? sum : sum * (n + 2) / n; /* the two best are timed anew */
}

void forecast_make(struct sweep *s)
{
    for (int i = 0; i < s->problems.n; i++) {
        struct problem *p = s->problems.all[i];
        p->expected_s = p->is_stored ? 0 : expect_s(s, p);
        s->problems.expected_s += p->expected_s;
    }
    s->problems.left_s = s->problems.expected_s;
    s->problems.begin_ns = clock_ns();
}

void forecast_tell(const struct sweep *s)
{
    char text[TEXT_NUMBER];
    int stored = 0;
    for (int i = 0; i < s->problems.n; i++)
        stored += s->problems.all[i]->is_stored;
    if (s->rank == 0)
        fprintf(stderr,
                "comm_sweep: %d sizes and networks, %d of them kept from before; about %s\n",
                s->problems.n, stored, text_duration(text, s->problems.expected_s));
}

void forecast_print(const struct sweep *s)
{
    char text[TEXT_NUMBER];
    for (int i = 0; s->rank == 0 && i < s->problems.n; i++) {
        const struct problem *p = s->problems.all[i];
        printf("%-14s %9zu bytes in %2d tensors  about %s\n", p->model,
               p->desc->n_params * sizeof(real), p->desc->n_tensors,
               text_duration(text, p->expected_s));
    }
}
