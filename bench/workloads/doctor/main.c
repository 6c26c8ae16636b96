/* Main program of doctor_ranks FOLDER: measures a site and writes its tables to FOLDER; see
 * doctor.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "bench/base/descriptors.h"
#include "bench/workloads/doctor/doctor.h"
#include "bench/workloads/failure.h"
#include "kernels/base/fp_mode.h"
#include "kernels/base/launcher.h"
#include "kernels/base/mem.h"
#include "kernels/gemm.h"

/* Planned time (s) of all bursts, and of all messages, without set-up. */
#define BURSTS_S   22.0
#define MESSAGES_S 12.0

static double clamp(double x, double least, double most)
{
    return x < least ? least : x > most ? most : x;
}

/* Chooses the number of rounds and the durations of measurements. Confidence intervals from 11
 * rounds tolerate one bad round. On large sites, 7 rounds keep the total time below a minute. */
static void plan(struct doctor *d)
{
    int slots = d->nodes > 1 ? d->nodes + d->nodes % 2 - 1 : 1;
    int ways = d->n_turns > 1 ? d->nodes * (d->nodes - 1) : 2 * slots;
    d->rounds = d->n_turns > 6 || slots > 64 ? 7 : 11;
    double turn_s = BURSTS_S / (d->rounds * d->n_turns);
    d->burst_s = clamp(0.7 * turn_s, 0.12, 0.36);
    d->warm_s = d->burst_s / 3;
    d->message_s = clamp(MESSAGES_S / (d->rounds * ways), 0.004, 0.03);
}

/* Measures all cores. Nodes that share a machine take turns. Their order is reversed every second
 * round, so that a drift of the speed favours no node. */
static enum status measure_cores(struct doctor *d, struct work *w, int round, struct error *e)
{
    for (int i = 0; i < d->n_turns; i++) {
        int turn = round % 2 == 0 ? i : d->n_turns - 1 - i;
        if (turn == d->turns[d->node])
            work_measure(w, d, &d->bursts[round]);
        TRY(ranks_synchronise(d, "the next core", e));
    }
    return OK;
}

static enum status begin_rows(struct doctor *d, struct error *e)
{
    TRY(MEM_NEW(d->bursts, (size_t)d->rounds, "rounds", e));
    for (int t = 0; t < d->rounds; t++) {
        struct doctor_burst *b = &d->bursts[t];
        doctor_clear(&doctor_bursts, b);
        b->rank = d->rank;
        b->node = d->node;
        b->round = t;
        snprintf(b->cpus, DOCTOR_TEXT, "%s", d->cpus);
    }
    return OK;
}

static enum status measure(struct doctor *d, struct work **w, struct error *e)
{
    plan(d);
    gemm_init();
    TRY(begin_rows(d, e));
    TRY(work_new(w, d, e));
    TRY(ranks_synchronise(d, "the first round", e));
    TRY(links_open(d, e));
    for (int round = 0; round < d->rounds; round++) {
        TRY(measure_cores(d, *w, round, e));
        TRY(links_measure(d, round, e));
    }
    return OK;
}

static int run(const char *folder)
{
    struct doctor d = {0};
    struct work *work = NULL;
    struct error e = {0};
    MPI_Comm_size(MPI_COMM_WORLD, &d.ranks);
    if (launcher_check(d.ranks, program_invocation_name, &e) != OK)
        return failure_report("doctor_ranks", &e, true);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    fp_mode_set();
    enum status status = ranks_open(&d, &e);
    THEN(status, measure(&d, &work, &e));
    THEN(status, report_write(&d, folder, &e));
    THEN(status, ranks_synchronise(&d, "the end", &e));
    int exit_status = status == OK ? 0 : failure_report("doctor_ranks", &e, true);
    if (status != OK)
        failure_abort_all(exit_status, &e);
    waiter_close(&d.waiter);
    work_free(work);
    ranks_close(&d);
    return exit_status;
}

int main(int argc, char **argv)
{
    int level;
    descriptors_open_standard();
    if (argc != 2 || argv[1][0] == '-') {
        bool help = argc == 2 && strcmp(argv[1], "--help") == 0;
        fputs("usage: doctor_ranks FOLDER\n"
              "Measures a site for `scalebench doctor`, which starts it on every core. Writes "
              "nodes.csv, bursts.csv and messages.csv to FOLDER.\n",
              help ? stdout : stderr);
        return descriptors_end_output("doctor_ranks", help ? 0 : 2);
    }
    failure_warn_of_shared_memory();
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &level);
    launcher_leave(run(argv[1]));
}
