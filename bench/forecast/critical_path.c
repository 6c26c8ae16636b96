#include "bench/forecast/critical_path.h"

#include <math.h>
#include <string.h>

/* Factor by which a repeated simulation multiplies the times of one cause, such as the forward
 * pass. */
static const double slower = 1.0001;

/* Multiplies the compute time between `from_s` and `to_s` of a step by `slower`. */
static void scale_between(struct step_times *t, int tensors, double from_s, double to_s)
{
    double more_s = (slower - 1) * (to_s - from_s);
    for (int i = 0; i < tensors; i++)
        t->ready_s[i] += (slower - 1) * fmax(0, fmin(t->ready_s[i], to_s) - from_s);
    t->compute_s += more_s;
}

static void slow_load(struct simulation *s)
{
    scale_between(&s->times, s->point->net->net.n_tensors, 0, s->times.load_s);
    s->times.load_s *= slower;
}

static void slow_forward(struct simulation *s)
{
    double from_s = s->times.load_s;
    scale_between(&s->times, s->point->net->net.n_tensors, from_s, from_s + s->times.forward_s);
    s->times.forward_s *= slower;
}

static void slow_backward(struct simulation *s)
{
    double from_s = s->times.load_s + s->times.forward_s;
    scale_between(&s->times, s->point->net->net.n_tensors, from_s, s->times.compute_s);
}

static void slow_update(struct simulation *s)
{
    s->times.optimizer_s *= slower;
}

static void slow_sleeps(struct simulation *s)
{
    for (int rank = 0; rank < s->ranks; rank++)
        s->injects[rank].sleep_s *= slower;
}

static void slow_bytes(struct simulation *s)
{
    s->machine.network.beta_s *= slower;
}

static void slow_starts(struct simulation *s)
{
    s->machine.network.alpha_s *= slower;
    s->machine.delay_s *= slower;
}

static void slow_memory(struct simulation *s)
{
    s->machine.memory.alpha_s *= slower;
    s->machine.memory.beta_s *= slower;
}

static void slow_sums(struct simulation *s)
{
    s->machine.memory.gamma_s *= slower;
}

static const struct cause {
    const char *name;
    void (*slow)(struct simulation *s);
    size_t result; /* offset of the cause's share (ms) in struct launch_result */
} causes[] = {
    {"reading the batch", slow_load, offsetof(struct launch_result, path_load_ms)},
    {"forward pass", slow_forward, offsetof(struct launch_result, path_forward_ms)},
    {"backward pass", slow_backward, offsetof(struct launch_result, path_backward_ms)},
    {"update of weights", slow_update, offsetof(struct launch_result, path_optimizer_ms)},
    {"injected sleeps", slow_sleeps, offsetof(struct launch_result, path_inject_ms)},
    {"bytes between hosts", slow_bytes, offsetof(struct launch_result, path_bytes_ms)},
    {"message latency between hosts", slow_starts, offsetof(struct launch_result, path_starts_ms)},
    {"messages within a host", slow_memory, offsetof(struct launch_result, path_memory_ms)},
    {"sums of received numbers", slow_sums, offsetof(struct launch_result, path_sums_ms)},
};

enum { CAUSES = sizeof causes / sizeof *causes };

/* Returns a pointer to a cause's time (ms) on the critical path of a step. */
static double *share_of(const struct simulation *s, size_t cause)
{
    return (double *)((char *)s->result + causes[cause].result);
}

static enum status find_share(const struct simulation *s, size_t cause, const struct spec *spec,
                              const char *run, const char *calibration, struct error *e)
{
    struct simulation again = {.seed = s->seed};
    size_t point = (size_t)(s->point - spec->points);
    enum status status = simulation_open(&again, spec, point, run, calibration, e);
    if (status == OK)
        causes[cause].slow(&again);
    THEN(status, simulation_run(&again, e));
    if (status == OK)
        *share_of(s, cause) = (again.result->step_ms - s->result->step_ms) / (slower - 1);
    simulation_close(&again);
    return status;
}

enum status critical_path_find(const struct simulation *s, const struct spec *spec, const char *run,
                               const char *calibration, struct error *e)
{
    for (size_t i = 0; i < CAUSES; i++)
        TRY(find_share(s, i, spec, run, calibration, e));
    return OK;
}

/* Prints the rank that waits least, which is the rank that other ranks wait for. */
static void print_last_rank(FILE *out, const struct simulation *s)
{
    int last = 0;
    for (int rank = 1; rank < s->ranks; rank++)
        last = s->waits_s[rank] < s->waits_s[last] ? rank : last;
    if (s->program.n > 0 && s->ranks > 1)
        fprintf(out, "Rank %d waits least, %.4g ms of a step; the mean of all ranks is %.4g ms.\n",
                last, 1e3 * s->waits_s[last] / s->result->steps, s->result->wait_ms);
}

void critical_path_print(FILE *out, const struct simulation *s)
{
    double sum_ms = 0, step_ms = s->result->step_ms;
    fprintf(out, "\n%-44s%10s%8s\n", "on the critical path", "ms", "share");
    for (size_t i = 0; i < CAUSES; i++) {
        double ms = *share_of(s, i);
        fprintf(out, "%-44s%10.4g%6.1f %%\n", causes[i].name, ms, 100 * ms / step_ms);
        sum_ms += ms;
    }
    fprintf(out, "%-44s%10.4g%6.1f %%\n", "all", sum_ms, 100 * sum_ms / step_ms);
    print_last_rank(out, s);
}
