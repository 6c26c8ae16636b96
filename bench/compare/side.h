/* One side of a comparison: values of each point by launch, or published values. Runs are read from
 * summary.csv and raw.csv alone, so runs of other versions, and copies of only the tables, can be
 * compared. Internal to bench/compare. */
#pragma once

#include "bench/compare/compared.h"
#include "bench/record/csv_reader.h"
#include "bench/runner/files.h"

struct side_point {
    const char *id, *case_name, *status; /* texts borrowed from the tables */
    char label[256];         /* includes the case; "": never launched, in tables of earlier
                                versions */
    const char *base, *peer; /* identities of other points, or "" */
    double cores;            /* cores relative to the base; NAN: unknown */
    double *values;          /* [n] one value per launch that counts */
    double *work_us;         /* [n] time of the fixed piece of work beside each launch; NULL:
                                published values */
    double clock_us;         /* time of the fixed piece of work that values are converted to */
    size_t n;
    size_t disturbed; /* number of the n launches that were disturbed, themselves or their
                         partner in a ratio */
    bool exact;       /* the only value is a published one */
};

struct side {
    const char *name;      /* operand as typed */
    char path[PATH_BYTES]; /* absolute path of the run's folder; "": published values */
    struct csv_table summary, raw;
    struct side_point *points; /* [n] points in the order of summary.csv */
    size_t n;
    double *values;
    double work_us;       /* median time of the fixed piece of work; NAN: unknown for a launch */
    char machine[96];     /* class of hardware from the manifest; "": unknown */
    struct side *repeats; /* repetitions of the run (repeats.h) */
    size_t n_repeats;
};

/* Returns the side itself for r = 0, else its repetition r - 1. */
static inline struct side *side_run(struct side *side, size_t r)
{
    return r > 0 ? &side->repeats[r - 1] : side;
}

/* Reads the run in the folder `path`; `name` is borrowed. Errors: ERR_ARGUMENT if a table is
 * missing, ERR_DATA with file and line if it is malformed. Call side_free in any case. */
enum status side_read(struct side *side, const char *name, const char *path,
                      const struct compared *what, struct error *e);

/* Makes a side of the numbers in the file `published` (NULL: the file that the run's spec names)
 * for the points of `run`. The new side borrows from `run`. */
enum status side_publish(struct side *side, const char *name, const char *published,
                         const struct side *run, const struct compared *what, struct error *e);

/* Converts the values of each point to its clock_us: as if the fixed piece of work had taken
 * clock_us beside each launch. Every launch must have work_us. */
void side_use_clocks(struct side *side, enum compared_clock clock);

/* Returns whether the status of the point is failed, timeout or diverged. */
bool side_point_failed(const struct side_point *p);

void side_free(struct side *side);
