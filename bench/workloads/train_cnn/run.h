/* One run of the trainer on this rank: open, execute, close. All ranks call the same functions. If
 * a rank fails to open its inputs or trainer, all ranks exit cleanly. */
#pragma once

#include <sys/resource.h>

#include "bench/place/energy.h"
#include "bench/place/load.h"
#include "bench/record/record.h"
#include "bench/workloads/train_cnn/arguments.h"
#include "bench/workloads/train_cnn/check.h"
#include "bench/workloads/train_cnn/feed.h"
#include "bench/workloads/train_cnn/parts/progress_file.h"
#include "bench/workloads/train_cnn/report.h"
#include "bench/workloads/train_cnn/resume.h"
#include "bench/workloads/train_cnn/trace.h"
#include "kernels/base/clock_offset.h"

/* RUN_RECORDED_STEPS: maximum number of steps per epoch that an accuracy run records.
 * RUN_KEPT_STEPS: maximum number of timed steps held in memory before they are written to the
 * record. */
enum { RUN_RECORDED_STEPS = 200, RUN_KEPT_STEPS = 4096 };

/* State of a run on one rank. Members are roughly in the order in which they are set up. */
struct run {
    const struct arguments *arguments;
    const struct load_mark *begin; /* processor times of the rank's cores before MPI_Init */
    int rank, ranks;
    struct waiter waiter;
    struct net_desc desc;
    struct feed feed;
    char bound[256];
    struct pool *pool;
    int progress_cpu; /* core to which the thread of sync.overlap is bound */
    struct trainer trainer;
    struct resume resume;
    struct progress progress;
    struct hashes hashes;
    struct step_log log;
    struct noise_sums noise; /* sums of squared norms of gradients in this epoch, for
                                measure.noise_scale */
    struct trace trace;
    struct progress_file progress_file;
    struct recorder recorder;
    struct traffic traffic;    /* calls, messages and bytes of the timed steps */
    int64_t first_begin_ns;    /* time at which the first timed step began */
    struct rusage usage_begin; /* resource usage of the process before the timed steps */
    double nic[NIC_COUNTERS];  /* counters of the network interface before the timed steps */
    struct energy energy;      /* energy counters; used on the first rank of the node only */
    bool measures_energy;      /* whether any rank measures energy in the timed steps */
    int clock_of;              /* lowest rank on this node; all ranks of a node share one clock */
    struct clock_line clock;   /* offset from rank 0's clock at begin and end of the run */
    struct record_end end;     /* end line of the record, filled in during the run */
    bool all_failed; /* whether all ranks know that opening failed, so that all exit cleanly */
};

/* Opens a run. The caller has set `arguments`, `begin` and `end`, and zeroed the other fields. Call
 * run_close in any case. */
enum status run_open(struct run *r, struct error *e);
/* Trains, evaluates, or measures the time of steps. Prints results and writes the record. Compares
 * the ranks' weights unless measure.check is none or compute is replayed. */
enum status run_execute(struct run *r, struct error *e);
void run_close(struct run *r);
