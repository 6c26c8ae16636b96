/* Series: points that differ only in their ranks, a line of a figure. Internal to bench/collect. */
#pragma once

#include "bench/collect/collect.h"

struct series {
    char name[128];  /* "allreduce", "compute only (none)": how it differs from other series */
    size_t *points;  /* [n] indices by ascending ranks */
    size_t n, first; /* number of points, and the smallest index */
};

struct series_list {
    struct series *items;
    size_t n;
};

/* How points are split into series: by all options in which they differ except x, or with `only` by
 * `options`. Kind and run always separate series: no line joins measured and emulated points. */
struct series_by {
    const bool *shown; /* [points] whether a point is split; NULL: all are */
    bool cases;        /* split by case; false if x is the case */
    bool over_runs;    /* x is the run, so runs do not separate series */
    bool trained;      /* values come from accuracy runs */
    enum option_id x;  /* option on the x axis; OPTION_COUNT: none */
    bool only;
    const enum option_id *options;
    size_t n_options;
};

enum status series_collect_by(struct series_list *list, const struct summary *s,
                              const struct series_by *by, struct error *e);

/* Splits the points by ranks, in the order of the spec. A base is only in its own series. Call
 * series_free in any case. Errors: ERR_MEMORY. */
enum status series_collect(struct series_list *list, const struct summary *s, struct error *e);
void series_free(struct series_list *list);
