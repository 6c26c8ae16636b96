/* One run of train_cnn on this rank: opened, executed for what its arguments ask, closed. All ranks
 * do the same; what one finds wrong while it opens the others learn, so that they leave in
 * order. */
#pragma once

#include <sys/resource.h>

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

/* Steps of an accuracy run that are written out one by one; and those of a timed run that are kept
 * at most until they are written between two others. */
enum { RUN_RECORDED_STEPS = 200, RUN_KEPT_STEPS = 4096 };

/* All that a run holds, in the order it is set up. */
struct run {
    const struct arguments *arguments;
    const struct load_mark *begin; /* of the process, before MPI started */
    int rank, ranks;
    struct waiter waiter;
    struct net_desc desc;
    struct feed feed;
    char bound[256];
    struct pool *pool;
    int progress_cpu; /* of the thread of sync.overlap */
    struct trainer trainer;
    struct resume resume;
    struct progress progress;
    struct hashes hashes;
    struct step_log log;
    struct trace trace;
    struct progress_file told;
    struct recorder recorder;
    struct traffic traffic;    /* of the timed steps */
    int64_t first_begin_ns;    /* of these */
    struct rusage usage_begin; /* of the process before them, */
    double nic[NIC_COUNTERS];  /* and of --nic */
    int clock_of;              /* first of the ranks of a node that share this one's clock, */
    struct clock_line clock;   /* and how far that is from rank 0's */
    struct record_end end;     /* what the record will say of the run, as far as it has come */
    bool all_failed;           /* at the same place: every rank can leave in order */
};

/* For a run whose arguments are set and all else is zero. After a failure all_failed says whether
 * every rank knows of it; run_close closes what was opened. */
enum status run_open(struct run *r, struct error *e);
/* Trains, evaluates or measures; prints, compares the ranks' weights, writes the record. */
enum status run_execute(struct run *r, struct error *e);
void run_close(struct run *r);
