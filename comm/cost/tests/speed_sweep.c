/* Processor time of a sweep over the ranks of one sum of 9.2 million numbers (vgg11_bn), four ranks
 * per host at 10 Gbit/s: `make bench-sweep`. One row per strategy and number of ranks: seconds of
 * the sweep, and the milliseconds that it predicts. */
#include <stdint.h>
#include <stdio.h>
#include <time.h>

#include "comm/cost/sweep.h"

enum { NUMBERS = 9231114, WIDTH = 4, HOST_RANKS = 4 };

static const struct link_model memory = {.alpha_s = 1e-6, .beta_s = 0.1e-9, .gamma_s = 0.1e-9};
static const struct link_model network = {.alpha_s = 10e-6, .beta_s = 0.83e-9};

static const struct {
    enum strategy_kind strategy;
    int ranks;
} ROWS[] = {
    {STRATEGY_allreduce, 4096}, {STRATEGY_rabenseifner, 4096},  {STRATEGY_recursive_doubling, 4096},
    {STRATEGY_tree, 4096},      {STRATEGY_hierarchical, 4096},  {STRATEGY_ring, 512},
    {STRATEGY_ring, 4096},      {STRATEGY_rabenseifner, 65536}, {STRATEGY_rabenseifner, 1048576}};

static double own_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static enum status sweep(enum strategy_kind strategy, int ranks, struct error *e)
{
    const size_t count = NUMBERS;
    const struct strategy_config config = {
        .options = {[SYNC_segment] = 262144, [SYNC_node_ranks] = HOST_RANKS}};
    struct sweep_machine machine = sweep_machine_of(&memory, ranks);
    struct clock_sweep w;
    machine.network = network;
    machine.hosts.group = HOST_RANKS;
    double begin = own_s();
    enum status status = clock_sweep_open(&w, &machine, ranks, e);
    if (status == OK) {
        program_read(strategy, &config, ranks, &count, 1, WIDTH, &w.reader);
        printf("%s,%d,%.4f,%.3f\n", strategy_names()[strategy], ranks, own_s() - begin,
               1e3 * clock_sweep_latest_s(&w));
    }
    clock_sweep_close(&w);
    return status;
}

int main(void)
{
    struct error e;
    puts("strategy,ranks,processor_s,predicted_ms");
    for (size_t i = 0; i < sizeof ROWS / sizeof *ROWS; i++)
        if (sweep(ROWS[i].strategy, ROWS[i].ranks, &e) != OK) {
            fprintf(stderr, "speed_sweep: %s\n", e.text);
            return 1;
        }
    return 0;
}
