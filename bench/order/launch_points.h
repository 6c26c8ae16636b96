/* What the journal says of the points of a spec, kept up launch by launch: how many launches each
 * has, alone and in blocks together with those that it is compared with, how many it is still to
 * have, and whether it takes part at all. Of points with the same options the first has the
 * launches. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bench/collect/timing.h"
#include "bench/record/journal.h"
#include "bench/spec/spec.h"
#include "kernels/base/error.h"

/* A number that is reported of a point is formed with another one: its base, for its speed-up, the
 * point that does not communicate, for its share of overlap, the peer. */
struct comparison {
    uint32_t with;  /* index of that point */
    uint32_t pairs; /* blocks that have a timed launch of both */
    bool is_share;  /* of overlap; else a ratio */
};

/* A point's place in a block that a launch of it was run for, or that the journal had before. */
struct turn {
    int block;
    bool done;
    size_t failed_at; /* its last launch that failed, counted from 1; 0: none did */
};

/* What choosing and forecasting read of every point comes first, so that thousands of them are read
 * from few lines of the cache. */
struct point_launches {
    bool is_twin;                   /* a point before it has its launches */
    bool skipped, diverged, failed; /* it takes no more; failed: its retries are used up */
    bool stale;                     /* `wanted` and `expected` are to be found anew */
    bool at_most;     /* `expected` is a bound: more is not known yet, or would be needed */
    bool is_newcomer; /* it wants launches and has none */
    /* Blocks: what it has come to, what it is to have before it is looked at again, what it is
     * expected to take. */
    uint32_t progress, wanted, expected;
    uint32_t n_comparisons, n_users;
    struct comparison *comparisons; /* of all points that have its launches */
    uint32_t n_timings;             /* of timed launches that count */
    uint32_t n_places;              /* blocks that it has a place in */
    uint32_t n_queued;              /* of those, that are still to be filled */
    uint32_t accuracy_left;
    int last_block;    /* that it has a place in, if any */
    int last_timed;    /* block of the last of its timings, if any */
    uint32_t ended[2]; /* launches of each kind that ended well, and their time */
    double wall_s[2];

    const uint32_t *users; /* points that are compared with it */
    struct timing *timings;
    struct turn *turns;
    size_t n_turns;
    size_t failures;     /* launches that failed */
    size_t last_failure; /* its number; 0: there is none */
    double last_s;       /* what its last launch that ended took; 0: none has */
    int numbers;         /* folders of timed launches */
};

struct accuracy_run {
    bool done;
    int numbers; /* folders */
};

struct launch_points {
    const struct spec *spec;       /* borrowed */
    const struct journal *journal; /* borrowed */
    const char *run_dir;           /* borrowed */
    struct point_launches *points;
    struct comparison *comparisons;
    uint32_t *users;
    struct accuracy_run *accuracy; /* [n_points][seeds] */
    size_t *stale;                 /* points to look at again, the first of them at `first_stale` */
    size_t first_stale, n_stale;
    double *values; /* scratch for `room` launches */
    size_t room;
    size_t n_newcomers;
    size_t ended;   /* launches, whether they count or not */
    double timed_s; /* what timed ones took, which the budget counts */
    double last_s;  /* that of the last; 0: none has ended */
};

/* Ended with launch_points_close in any case. */
enum status launch_points_open(struct launch_points *l, const struct spec *spec,
                               const struct journal *journal, const char *run_dir, struct error *e);
void launch_points_close(struct launch_points *l);

/* Launches that a point has in any case: the least that are asked for, or as many of the most as an interval
 * takes. */
size_t launch_points_sure(const struct launch_points *l);

/* The point's launches will not become more. */
static inline bool launch_points_is_out(const struct launch_points *l, size_t point)
{
    const struct point_launches *p = &l->points[point];
    return p->is_twin || p->skipped || p->diverged || p->failed;
}

/* Each takes one line of the journal. */
void launch_points_skip(struct launch_points *l, const struct journal_skip *skip);
enum status launch_points_turn(struct launch_points *l, size_t point, int block, struct error *e);
/* A block begins in which the point has a place; its turn is kept from its first launch there on. */
void launch_points_begin(struct launch_points *l, size_t point, int block);
/* The launch of this number in the journal, counted from 1. Of a timed one whose step the journal
 * does not tell the records are read. */
enum status launch_points_learn(struct launch_points *l, size_t number, struct error *e);

/* Looks again at points of which launches have come, `most` of them. */
void launch_points_look(struct launch_points *l, size_t most);

/* Inside the order of launches: a point is to be looked at again. */
void launch_points_make_stale(struct launch_points *l, size_t point);

struct accuracy_run *launch_points_accuracy(const struct launch_points *l, size_t point,
                                            size_t seed);
/* Whether a launch of the point has filled its place in a block. */
bool launch_points_is_done(const struct launch_points *l, size_t point, int block);

/* Mean time of a point's launches of one kind that have ended well; 0 when there is none. */
static inline double launch_points_mean_s(const struct launch_points *l, size_t point,
                                          enum launch_run run)
{
    const struct point_launches *p = &l->points[point];
    return p->ended[run] > 0 ? p->wall_s[run] / (double)p->ended[run] : 0;
}
