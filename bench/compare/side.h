/* One side of a comparison: what each point of a run has, launch by launch, or what was published for
 * it. Runs are read from summary.csv and raw.csv alone, so that those of other versions and copies of
 * which only the tables are left compare as well. Internal to bench/compare. */
#pragma once

#include "bench/compare/compared.h"
#include "bench/record/csv_reader.h"
#include "bench/runner/files.h"

struct side_point {
    const char *id, *case_name, *status; /* borrowed from the tables */
    char label[256];         /* with the case; "": never launched, tables of earlier versions */
    const char *base, *peer; /* identities of points, or "" */
    double cores;            /* over those of the base; NAN: unknown */
    double *values;          /* one a launch that counts */
    double *work_us;         /* [n], what the fixed piece of work took beside it; NULL: published */
    double clock_us;         /* what it takes where the values are told at a clock */
    size_t n;
    size_t disturbed; /* of those n, as raw.csv says; of a ratio's launches either */
    bool exact;       /* the only value is a published one */
};

struct side {
    const char *name;      /* as the user called it */
    char path[PATH_BYTES]; /* of the run's folder, absolute; "": published numbers */
    struct csv_table summary, raw;
    struct side_point *points; /* in the order of summary.csv */
    size_t n;
    double *values;
    double
        work_us; /* what the fixed piece of work took beside its launches, median; NAN: unknown of one */
    char machine[96];     /* class of hardware, as the manifest says; "": it does not */
    struct side *repeats; /* runs that repeat it (repeats.h), without repetitions of their own */
    size_t n_repeats;
};

/* The side itself, then its repetitions. */
static inline struct side *side_run(struct side *side, size_t r)
{
    return r > 0 ? &side->repeats[r - 1] : side;
}

/* Reads the run in the folder `path`. Freed with side_free in any case. ERR_DATA with file and line
 * for tables that are not what a run leaves. */
enum status side_read(struct side *side, const char *name, const char *path,
                      const struct compared *what, struct error *e);

/* Makes a side of the numbers in the file `published` (NULL: the one that its spec names) for the
 * points of `run`, which stays with the caller. */
enum status side_publish(struct side *side, const char *name, const char *published,
                         const struct side *run, const struct compared *what, struct error *e);

/* Tells the values of each point as they would be, had the fixed piece of work taken its clock_us beside each
 * launch; what it took is known of all of them. */
void side_use_clocks(struct side *side, enum compared_clock clock);

/* Whether the point ended badly: failed, timeout or diverged. */
bool side_point_failed(const struct side_point *p);

void side_free(struct side *side);
