/* State of each point of a spec according to the journal: its launches, blocks shared with
 * comparison points, and number of launches still needed. If several points have equal options,
 * only the first has launches. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bench/collect/timing.h"
#include "bench/record/journal.h"
#include "bench/spec/spec.h"
#include "kernels/base/error.h"

/* Comparison of a point with another point: the baseline of its speed-up, the point of a peer
 * program with equal options, or the point without communication (for overlap). */
struct comparison {
    uint32_t with;  /* index of the other point in the spec */
    uint32_t pairs; /* number of blocks in which both points have a timed launch */
    bool is_share;  /* whether the result is a share (timing_overlap), not a ratio of throughputs
                       (timing_ratio) */
};

/* The launch of a point in a block. A block has one launch of each of its points. */
struct turn {
    int block;
    bool done;
    size_t failed_at; /* journal number (from 1) of this launch's last failed attempt; 0: none */
};

/* Launches of one point. Members read for all points at once come first, so that a loop over
 * thousands of points touches few cache lines. */
struct point_launches {
    bool is_twin;                   /* whether an earlier, equal point has this point's launches */
    bool skipped, diverged, failed; /* whether the point is skipped, has diverged, or has failed for
                                       good; if so, it gets no further timed launches */
    bool stale;                     /* whether `progress`, `wanted` and `expected` must be computed
                                       again */
    bool at_most;     /* whether `expected` is the allowed maximum because the number needed is
                         unknown or larger */
    bool is_newcomer; /* whether the point needs launches and has no timed launch yet */
    /* numbers of timed launches, counted as the minimum of n_timings and of each comparison's
     * `pairs`. Comparisons with points that get no further timed launches are ignored. `progress`:
     * number so far. `wanted`: number to reach next; equal to `progress` if no more launches are
     * needed. `expected`: estimate of the number at the end of the campaign */
    uint32_t progress, wanted, expected;
    uint32_t n_comparisons, n_users;
    struct comparison *comparisons; /* [n_comparisons] comparisons of this point and of all later
                                       points with the same id; none if an earlier point has this
                                       id */
    uint32_t n_timings;             /* number of valid timed launches */
    uint32_t n_places;              /* number of blocks of timed launches that contain the point */
    uint32_t n_queued;              /* number of the point's launches in the queue */
    uint32_t accuracy_left;
    int last_block;    /* number of the last block that contains the point, if n_places > 0 */
    int last_timed;    /* number of the block of launches that contains the last valid timed launch,
                          if n_timings > 0 */
    uint32_t ended[2]; /* [RUN_TIME, RUN_ACCURACY] number of launches of each kind with complete
                          records */
    double wall_s[2];  /* [RUN_TIME, RUN_ACCURACY] total wall time (s) of the launches in `ended` */

    const uint32_t *users; /* [n_users] indices of points that are compared with this point */
    struct timing *timings;
    struct turn *turns;
    size_t n_turns;
    size_t failures;     /* number of failed launches; outdated launches and failures withdrawn by
                            journal_retry are not counted */
    size_t last_failure; /* journal number (from 1) of the last launch counted in `failures`; 0:
                            none */
    double last_s;       /* wall time (s) of the point's last ended launch, ignoring outdated
                            launches; 0: none */
    int numbers;         /* number of folders that the point's timed launches, failed ones included,
                            have used */
};

struct accuracy_run {
    bool done;
    int numbers; /* number of folders that attempts at this accuracy run have used */
};

struct launch_points {
    const struct spec *spec;       /* spec of the campaign; borrowed */
    const struct journal *journal; /* launches so far; borrowed */
    const char *run_dir;           /* folder of the run; borrowed */
    struct point_launches *points;
    struct comparison *comparisons;
    uint32_t *users;
    struct accuracy_run *accuracy; /* [n_points][seeds] accuracy runs */
    size_t *stale;                 /* [n_points] ring buffer with the indices of the points to
                                      examine again: n_stale entries, the first at `first_stale` */
    size_t first_stale, n_stale;
    double *values; /* [room] scratch space for one number per launch of a point */
    size_t room;
    size_t n_newcomers;
    size_t ended;   /* number of ended launches, valid or not */
    double timed_s; /* total wall time of timed launches (s), which the budget limits */
    double last_s;  /* wall time (s) of the last ended launch of any point, ignoring outdated
                       launches; 0: none */
};

/* Prepares the state of all points. `spec`, `journal` and `run_dir` are borrowed. Call
 * launch_points_close even after an error. */
enum status launch_points_open(struct launch_points *l, const struct spec *spec,
                               const struct journal *journal, const char *run_dir, struct error *e);
void launch_points_close(struct launch_points *l);

/* Returns the minimum number of launches per point: max(requested minimum, min(6, requested
 * maximum)). */
size_t launch_points_sure(const struct launch_points *l);

/* Returns whether the point was skipped, has diverged, has failed for good, or shares the launches
 * of an earlier, equal point. Such a point gets no further timed launches. False if the point
 * merely has enough launches. */
static inline bool launch_points_is_out(const struct launch_points *l, size_t point)
{
    const struct point_launches *p = &l->points[point];
    return p->is_twin || p->skipped || p->diverged || p->failed;
}

/* Records that a point is skipped, according to a line of the journal. */
void launch_points_skip(struct launch_points *l, const struct journal_skip *skip);
enum status launch_points_turn(struct launch_points *l, size_t point, int block, struct error *e);
/* Records that block `block` contains the point. launch_points_learn records the point's launch in
 * the block. */
void launch_points_begin(struct launch_points *l, size_t point, int block);
/* Records launch `number` of the journal, counted from 1. If the journal lacks the step time of a
 * timed launch, reads the launch's records. */
enum status launch_points_learn(struct launch_points *l, size_t number, struct error *e);

/* Recomputes `progress`, `wanted` and `expected` of up to `most` points that
 * launch_points_make_stale has queued. */
void launch_points_look(struct launch_points *l, size_t most);

/* Returns whether the point's step time and its comparisons are as precise as
 * measure.time.precision requires. Ignores comparisons without pairs of launches, and comparisons
 * with points that get no further timed launches. Returns false if the point has no timed
 * launch. */
bool launch_points_is_precise(const struct launch_points *l, size_t point);

/* Queues a point to be examined again by launch_points_look. */
void launch_points_make_stale(struct launch_points *l, size_t point);

struct accuracy_run *launch_points_accuracy(const struct launch_points *l, size_t point,
                                            size_t seed);
/* Returns whether the point's launch in the block has ended and needs no retry. */
bool launch_points_is_done(const struct launch_points *l, size_t point, int block);

/* Returns the mean wall time (s) of the point's launches of kind `run` with complete records; 0 if
 * there are none. */
static inline double launch_points_mean_s(const struct launch_points *l, size_t point,
                                          enum launch_run run)
{
    const struct point_launches *p = &l->points[point];
    return p->ended[run] > 0 ? p->wall_s[run] / (double)p->ended[run] : 0;
}
