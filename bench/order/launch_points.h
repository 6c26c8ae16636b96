/* State of a spec's points according to the journal, updated after each launch: their launches,
 * blocks shared with comparison points, launches still needed, and whether they take part at all.
 * If several points have the same options, the first has the launches. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bench/collect/timing.h"
#include "bench/record/journal.h"
#include "bench/spec/spec.h"
#include "kernels/base/error.h"

/* Other point used by a reported number: the base of the speed-up, the peer, or the point without
 * communication of the share of overlap. */
struct comparison {
    uint32_t with;  /* index of the other point */
    uint32_t pairs; /* blocks with a timed launch of both points */
    bool is_share;  /* the number is a share of overlap; else a ratio */
};

/* Place of a point in a block of launches. */
struct turn {
    int block;
    bool done;
    size_t failed_at; /* number of its last failed launch in the journal, from 1; 0: none */
};

/* Launches of one point. The members read for every point come first, so that a scan over thousands
 * of points touches few cache lines. */
struct point_launches {
    bool is_twin;                   /* an earlier point has its launches */
    bool skipped, diverged, failed; /* no further launches; failed: the retries are used up */
    bool stale;                     /* `wanted` and `expected` are out of date */
    bool at_most; /* `expected` is an upper bound: the number is unknown or exceeds the maximum */
    bool is_newcomer; /* needs launches and has no timing */
    /* Blocks: completed, to complete before the next examination, expected in all. */
    uint32_t progress, wanted, expected;
    uint32_t n_comparisons, n_users;
    struct comparison *comparisons; /* comparisons of all rows that share the launches */
    uint32_t n_timings;             /* timed launches that count */
    uint32_t n_places;              /* blocks in which the point has a place */
    uint32_t n_queued;              /* places still to be filled */
    uint32_t accuracy_left;
    int last_block;    /* last block with a place of the point, if n_places > 0 */
    int last_timed;    /* block of the latest timing, if n_timings > 0 */
    uint32_t ended[2]; /* successful launches by kind; wall_s: their time */
    double wall_s[2];

    const uint32_t *users; /* [n_users] points compared with this one */
    struct timing *timings;
    struct turn *turns;
    size_t n_turns;
    size_t failures;     /* number of failed launches */
    size_t last_failure; /* number of the last failed launch in the journal, from 1; 0: none */
    double last_s;       /* time of the last launch that ended; 0: none */
    int numbers;         /* number of folders of timed launches */
};

struct accuracy_run {
    bool done;
    int numbers; /* number of folders */
};

struct launch_points {
    const struct spec *spec;       /* borrowed */
    const struct journal *journal; /* borrowed */
    const char *run_dir;           /* borrowed */
    struct point_launches *points;
    struct comparison *comparisons;
    uint32_t *users;
    struct accuracy_run *accuracy; /* [n_points][seeds] */
    size_t *stale;                 /* ring of points to examine again, from `first_stale` on */
    size_t first_stale, n_stale;
    double *values; /* scratch for `room` launches */
    size_t room;
    size_t n_newcomers;
    size_t ended;   /* launches that ended, whether they count or not */
    double timed_s; /* time of timed launches, which the budget counts */
    double last_s;  /* time of the last launch; 0: none has ended */
};

/* Opens the state of all points; `spec`, `journal` and `run_dir` are borrowed. Call
 * launch_points_close even after an error. */
enum status launch_points_open(struct launch_points *l, const struct spec *spec,
                               const struct journal *journal, const char *run_dir, struct error *e);
void launch_points_close(struct launch_points *l);

/* Returns the launches that every point gets: the requested minimum, or more if an interval needs
 * more and the maximum allows it. */
size_t launch_points_sure(const struct launch_points *l);

/* Returns whether the point gets no further launches. */
static inline bool launch_points_is_out(const struct launch_points *l, size_t point)
{
    const struct point_launches *p = &l->points[point];
    return p->is_twin || p->skipped || p->diverged || p->failed;
}

/* Read one line of the journal: a skip, or a launch's place in a block. */
void launch_points_skip(struct launch_points *l, const struct journal_skip *skip);
enum status launch_points_turn(struct launch_points *l, size_t point, int block, struct error *e);
/* Gives the point a place in a new block. Its turn is kept from its first launch there on. */
void launch_points_begin(struct launch_points *l, size_t point, int block);
/* Reads launch `number` of the journal, counted from 1. If the journal has no step time for a timed
 * launch, the launch's records are read. */
enum status launch_points_learn(struct launch_points *l, size_t number, struct error *e);

/* Examines again at most `most` points that have new launches. */
void launch_points_look(struct launch_points *l, size_t most);

/* Queues a point to be examined again. */
void launch_points_make_stale(struct launch_points *l, size_t point);

struct accuracy_run *launch_points_accuracy(const struct launch_points *l, size_t point,
                                            size_t seed);
/* Returns whether a launch of the point has filled its place in the block. */
bool launch_points_is_done(const struct launch_points *l, size_t point, int block);

/* Returns the mean time of the point's successful launches of one kind; 0 if there is none. */
static inline double launch_points_mean_s(const struct launch_points *l, size_t point,
                                          enum launch_run run)
{
    const struct point_launches *p = &l->points[point];
    return p->ended[run] > 0 ? p->wall_s[run] / (double)p->ended[run] : 0;
}
