/* One side of a comparison: for each point the values of its launches, or published values. Needs
 * only summary.csv and raw.csv, so that runs of other versions and copied tables can be compared.
 * The manifest, if any, adds the class of hardware; the spec is read only for launches of a user's
 * program. Internal to bench/compare. */
#pragma once

#include "bench/compare/compared.h"
#include "bench/record/csv_reader.h"
#include "bench/runner/files.h"

struct side_point {
    const char *id, *case_name, *status; /* texts borrowed from the tables */
    /* label of the point, beginning with the name of its case; "" if the point was never launched
     * and the run's tables are from an earlier version */
    char label[256];
    const char *base, *peer; /* identities of the point's base and peer, or "" */
    double cores;            /* cores of the point / cores of the base; NAN: unknown */
    double *values;          /* [n] values of launches, or the published value */
    /* [n] mean time of the fixed computation before and after each launch (us), a measure of the
     * processor's speed; NAN: unknown. NULL: published values */
    double *work_us;
    /* set only if `values` are converted to another clock rate: time (us) of a fixed computation at
     * that rate */
    double clock_us;
    size_t n;
    /* number of values computed from a disturbed launch of the point, its base or its peer */
    size_t disturbed;
    bool exact;     /* whether the only value is a published number */
    bool simulated; /* whether a model predicted the launches */
};

struct side {
    const char *name;      /* operand of the command as the user typed it */
    char path[PATH_BYTES]; /* absolute path of the run's folder; "": published values */
    struct csv_table summary, raw;
    struct side_point *points; /* [n] points in the order of summary.csv */
    size_t n;
    double *values;
    /* median time (us) of the computation in probe.h over all launches; NAN if any launch lacks
     * this time */
    double work_us;
    char machine[96];     /* class of hardware from the manifest; "": unknown */
    struct side *repeats; /* [n_repeats] repetitions of the run (repeats.h) */
    size_t n_repeats;
};

/* Returns the side's own run for r = 0, otherwise its repetition r - 1. */
static inline struct side *side_run(struct side *side, size_t r)
{
    return r > 0 ? &side->repeats[r - 1] : side;
}

/* Reads the run in the folder `path`. Borrows `name`, the operand as typed. Errors: ERR_ARGUMENT if
 * a table is missing, ERR_DATA with file and line if it is malformed. Call side_free in any
 * case. */
enum status side_read(struct side *side, const char *name, const char *path,
                      const struct compared *what, struct error *e);

/* Makes a side from published numbers for the points of `run`. Borrows from `run`. `published`: CSV
 * file; NULL: the file that the run's spec names. */
enum status side_publish(struct side *side, const char *name, const char *published,
                         const struct side *run, const struct compared *what, struct error *e);

/* Converts each point's values to another clock rate: from the rate at which a fixed computation
 * took the measured work_us to the rate at which it takes clock_us. Every value must have a
 * work_us. `clock`: CLOCK_TIME if the values are times, CLOCK_RATE if they are rates. */
void side_use_clocks(struct side *side, enum compared_clock clock);

/* Returns whether the status of the point is failed, timeout or diverged. Returns false if the
 * point's only value is a published number. */
bool side_point_failed(const struct side_point *p);

void side_free(struct side *side);
