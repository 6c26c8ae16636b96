/* What a campaign runs next. The order is a function of the spec, a seed and the journal alone, so
 * that a campaign that was interrupted goes on as if it had not been. A spec is a view on the run:
 * what it asks for and the journal does not have is run, whoever asked for the rest.
 *
 *   a block of the timed launches: every point that wants launches once, together with those that it
 *     is compared with, in random order, but those whose times others let pass (compute: replay)
 *     first of all; the first block, before all else
 *   accuracy runs: every point and seed, those of many nodes first, so that what a job leaves whose time
 *     is up fits a smaller one
 *   blocks until each point has the least of measure.time.launches, alone and in blocks together with
 *     those that it is compared with
 *   further blocks, in groups that end at 6, 9, 12, ... launches of a point, of the points of which
 *     a reported number is not precise there; until all are, or the most launches or the budget are
 *     reached
 *
 * New points, and those that are to have more launches, come in new blocks. A block stands in the
 * journal before its first launch and is completed in any case. The budget counts timed launches, neither
 * accuracy runs nor idle time: first launches of points and accuracy runs always run, a further block is
 * begun only when it is expected to end in time.
 *
 * A launch that failed is tried again at the end of its block, measure.retries times a point; not
 * where the program refused what it was asked for (exit status 2 or 3), nor where a point of which
 * no launch has ended well fails twice in the same way. Then the point has failed, and no launch
 * of it is run until the campaign is run anew, which takes its failures back (journal_retry): the
 * places in blocks that it has missed are then filled first. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bench/order/launch_points.h"
#include "bench/record/journal.h"
#include "bench/spec/spec.h"
#include "kernels/base/error.h"

struct launch_order {
    const struct spec *spec;       /* borrowed */
    const struct journal *journal; /* borrowed */
    uint64_t seed;
    struct launch_points points;
    uint32_t *shuffled; /* [n_points] the order of points in one block */
    bool *members;      /* [n_points], scratch */
    uint32_t *coming;   /* [n_points], scratch */
    uint32_t *largest;  /* [n_points] points by their nodes, the most first */
    struct queued {
        size_t point, failed_at, rank;
        int block;
    } * queue; /* places in blocks that are still to be filled, from `head` on */
    size_t head, n_queue;
    int n_block_numbers; /* above all that are used */
    const char **ids;    /* [n_points] their identities, close together */
    const char **begun;  /* the points of the block that is begun and not in the journal yet */
    size_t n_begun;
    size_t n_launches, n_skips, n_blocks; /* of the journal, that were learned */
    size_t accuracy;                      /* of points and seeds, before which none is missing */
};

struct next_launch {
    size_t point;
    enum launch_run run;
    int block;     /* of RUN_TIME */
    uint64_t seed; /* of the workload */
    int number;    /* of its folder, among those of the point and of the seed where it has one */
    const char *const *begins; /* identities of the n_begins points of the block that it begins, to
                                  be written to the journal first; n_begins 0: it begins none */
    size_t n_begins;
};

/* How far it is. `left` and `left_s` count what is sure to come and the further launches that the
 * precision is expected to take, within the budget. */
struct launch_forecast {
    size_t done, left;
    double left_s; /* NAN while no launch has ended */
    bool at_most;  /* how many a point needs cannot be told yet: the most it may have are counted */
};

/* Ended with launch_order_close in any case. */
enum status launch_order_open(struct launch_order *o, const struct spec *spec,
                              const struct journal *journal, const char *run_dir, uint64_t seed,
                              struct error *e);
void launch_order_close(struct launch_order *o);

/* Takes what the journal has gained; called when no launch is running. */
enum status launch_order_learn(struct launch_order *o, struct error *e);

/* *found is false when the campaign is done. */
enum status launch_order_next(struct launch_order *o, struct next_launch *next, bool *found,
                              struct error *e);

struct launch_forecast launch_order_forecast(const struct launch_order *o);
