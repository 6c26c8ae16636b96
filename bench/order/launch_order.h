/* Chooses the next launch of a campaign. The order is a function of the spec, a seed and the
 * journal alone, so an interrupted campaign resumes as if it had not been interrupted. If the spec
 * has changed, the launches that the journal lacks are run. The order is:
 *
 * 1. One block of timed launches, with one launch of every point in random order. Calibration
 *    points come first, since points with compute: replay need their timings.
 * 2. Accuracy runs: seed by seed, most nodes first. A job near its time limit can then
 *    still run the smaller points.
 * 3. Blocks until each point has the minimum number of launches (launch_points_sure), and shares
 *    as many blocks with each comparison point (base, peer, point without communication).
 * 4. Blocks of the points that are not precise enough, with their comparison points. A point is
 *    examined at 6, 9, 12, ... launches, until it is precise enough, has the maximum number of
 *    launches, or the budget is used up.
 *
 * New points and additional launches get new blocks. A block is written to the journal before its
 * first launch and is always completed. The budget counts timed launches only. The first launch of
 * each point and all accuracy runs always run. Any other block starts only if it is expected to end
 * within the budget.
 *
 * A failed timed launch is retried at the end of its block, a failed accuracy run at once. A point
 * fails for good, and gets no more launches, in three cases: more than measure.retries failures;
 * exit status 2 (wrong options or data) or 3 (not possible on this machine); two failures in a row
 * for the same reason before any success. If the campaign is run again, journal_retry withdraws the
 * failures, and missing launches of started blocks run first. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bench/order/launch_points.h"
#include "bench/record/journal.h"
#include "bench/spec/spec.h"
#include "kernels/base/error.h"

struct launch_order {
    const struct spec *spec;       /* spec of the campaign; borrowed */
    const struct journal *journal; /* launches so far; borrowed */
    uint64_t seed;
    struct launch_points points;
    uint32_t *shuffled; /* [n_points] order of points in one block */
    bool *members;      /* [n_points] whether the point is in the next block */
    uint32_t *coming;   /* [n_points] scratch space: each point's number of future launches, or its
                           position in a block */
    uint32_t *largest;  /* [n_points] indices of points, most nodes first */
    struct queued {
        size_t point, failed_at, rank;
        int block;
    } * queue; /* [n_queue] launches of started blocks, in the order in which they run; launches
                  from `head` on have not ended */
    size_t head, n_queue;
    int n_block_numbers; /* highest block number in use + 1 */
    const char **ids;    /* [n_points] ids of the points, borrowed from `spec` */
    const char **begun;  /* [n_begun] ids of the points that a new block launches; the block is not
                            in the journal yet */
    size_t n_begun;
    size_t n_launches, n_skips, n_blocks; /* numbers of launches, skips and blocks read from the
                                             journal so far */
    /* first accuracy run that may be missing: (index of its seed) x n_points + index of its point
     * in `largest` */
    size_t accuracy;
};

struct next_launch {
    size_t point;
    enum launch_run run;
    int block;     /* block of a timed launch */
    uint64_t seed; /* seed passed to the program */
    int number;    /* number in the name of the launch's folder; timed launches are numbered per
                      point, accuracy runs per point and seed */
    const char *const *begins; /* [n_begins] ids of the points in the block that this launch begins,
                                  for the journal; borrowed */
    size_t n_begins;
};

/* Progress of a campaign. `left`: expected number of launches still to run. All launches that run
 * regardless of the budget are counted: the rest of started blocks, each point's first launch, and
 * accuracy runs. Further timed launches, which the minimum number or the requested precision
 * requires, are counted as far as the budget suffices. */
struct launch_forecast {
    size_t done, left;
    double left_s; /* time of the remaining launches (s); NAN: no launch has ended yet */
    bool at_most;  /* whether `left` is an upper bound: for some point, `left` counts the allowed
                      maximum of launches, since the estimated need is unknown or not below this
                      maximum */
};

/* Prepares to choose launches. `spec`, `journal` and `run_dir` are borrowed. Call
 * launch_order_close even after an error. */
enum status launch_order_open(struct launch_order *o, const struct spec *spec,
                              const struct journal *journal, const char *run_dir, uint64_t seed,
                              struct error *e);
void launch_order_close(struct launch_order *o);

/* Reads the lines that were added to the journal since the last call. Call it only when no launch
 * is running. */
enum status launch_order_learn(struct launch_order *o, struct error *e);

/* Chooses the next launch. *found is false if the campaign is done. */
enum status launch_order_next(struct launch_order *o, struct next_launch *next, bool *found,
                              struct error *e);

struct launch_forecast launch_order_forecast(const struct launch_order *o);
