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

/* Those that a number which is reported of a point is formed with: the base of its speed-up, the point
 * that does not communicate, for its share of overlap, and the peer. */
enum partner { PARTNER_BASE, PARTNER_SILENT, PARTNER_PEER, PARTNERS };

/* A point's place in a block. */
struct turn {
    int block;
    bool done;
    size_t failed_at; /* its last launch that failed, counted from 1; 0: none did */
};

struct point_launches {
    size_t partners[PARTNERS]; /* indices; its own: it is not compared */
    const size_t *users;       /* points that it is a partner of, n_users of them */
    size_t n_users;
    bool is_twin;                   /* a point before it has its launches */
    bool skipped, diverged, failed; /* it takes no more; failed: its retries are used up */
    size_t failures;                /* launches that failed */
    size_t last_failure;            /* its number; 0: there is none */
    struct timing *timings;         /* of timed launches that count */
    size_t n_timings, pairs[PARTNERS];
    struct turn *turns; /* blocks that it has a place in */
    size_t n_turns;
    size_t ended[2]; /* launches of each kind that ended well, and their time */
    double wall_s[2];
    int numbers; /* folders of timed launches */
    size_t accuracy_left;
    /* Blocks: what it has come to, what it is to have before it is looked at again, what it is
     * expected to take. */
    size_t progress, wanted, expected;
    bool at_most; /* `expected` is a bound: more is not known yet, or would be needed */
    bool stale;   /* `wanted` and `expected` are to be found anew */
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
    size_t *users;
    struct accuracy_run *accuracy; /* [n_points][seeds] */
    size_t *stale;                 /* points to look at again, the first of them at `first_stale` */
    size_t first_stale, n_stale;
    double *values; /* scratch for `room` launches */
    size_t room;
    size_t ended;   /* launches, whether they count or not */
    double spent_s; /* their time */
};

/* Ended with launch_points_close in any case. */
enum status launch_points_open(struct launch_points *l, const struct spec *spec,
                               const struct journal *journal, const char *run_dir, struct error *e);
void launch_points_close(struct launch_points *l);

/* Launches that a point has in any case: the least that are asked for, or as many of the most as an interval
 * takes. */
size_t launch_points_sure(const struct launch_points *l);

/* The point's launches will not become more. */
bool launch_points_is_out(const struct launch_points *l, size_t point);
/* Its partner of this kind, where a number that is reported needs it; else the point itself. */
size_t launch_points_partner(const struct launch_points *l, size_t point, enum partner kind);

/* Each takes one line of the journal. */
void launch_points_skip(struct launch_points *l, const struct journal_skip *skip);
enum status launch_points_turn(struct launch_points *l, size_t point, int block, struct error *e);
/* The launch of this number in the journal, counted from 1. Of a timed one whose step the journal
 * does not tell the records are read. */
enum status launch_points_learn(struct launch_points *l, size_t number, struct error *e);

/* Looks again at points of which launches have come, `most` of them. */
void launch_points_look(struct launch_points *l, size_t most);

struct accuracy_run *launch_points_accuracy(const struct launch_points *l, size_t point,
                                            size_t seed);
struct turn *launch_points_find_turn(const struct launch_points *l, size_t point, int block);

/* Mean time of a point's launches of one kind that have ended well; 0 when there is none. */
double launch_points_mean_s(const struct launch_points *l, size_t point, enum launch_run run);

/* Whether a point has accuracy runs: strategy none at several ranks trains replicas apart, and the
 * accuracy of one of them would mean nothing. */
bool point_wants_accuracy(const struct point *point);
