/* Series: points that differ only in the number of ranks, or in another option on the x axis, drawn
 * as one curve. Internal to bench/collect. */
#pragma once

#include "bench/collect/collect.h"

struct series {
    char name[128];  /* name that distinguishes the series, such as "allreduce" or "compute only
                        (none)" */
    size_t *points;  /* [n] indices of points in the summary, by ascending ranks */
    size_t n, first; /* number of points; smallest index of a point of the series */
};

struct series_list {
    struct series *items;
    size_t n;
};

/* How points are divided into series. If `only` is set, points of a series are equal in `options`
 * [n_options]. Otherwise they may differ only in `x` and in options that vary with `x`, such as
 * nodes if `x` is ranks. Points of different kinds, such as measured and emulated, are never in one
 * series. Points of different runs share a series only if over_runs is set. */
struct series_by {
    const bool *shown; /* [points of the summary] whether the point is shown; only options of shown
                          points separate series. NULL: all are shown */
    bool cases;        /* whether points of different cases belong to different series; false if the
                          x axis shows cases */
    bool over_runs;    /* whether the x axis shows runs; if so, runs do not separate series */
    bool trained;      /* whether the series show results of accuracy runs, not of timed launches */
    enum option_id x;  /* option on the x axis; OPTION_COUNT: none */
    bool only;
    const enum option_id *options;
    size_t n_options;
};

enum status series_collect_by(struct series_list *list, const struct summary *s,
                              const struct series_by *by, struct error *e);

/* Divides the points into series over ranks, sorted by their first points. A base point is only in
 * the series with its own options. Call series_free in any case. Errors: ERR_MEMORY. */
enum status series_collect(struct series_list *list, const struct summary *s, struct error *e);
void series_free(struct series_list *list);
