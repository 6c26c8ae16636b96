/* Points that differ in their ranks only: a line of a figure. Internal to bench/collect. */
#pragma once

#include "bench/collect/collect.h"

struct series {
    char name[128];  /* what tells it from the other series: "allreduce", "compute only (none)" */
    size_t *points;  /* indices by rising ranks */
    size_t n, first; /* how many; the least of them */
};

struct series_list {
    struct series *items;
    size_t n;
};

/* What tells series apart: all options in which points differ but x, or with `only` these. Their kind
 * and their run do in any case: no line joins what was measured and what was emulated. */
struct series_by {
    const bool *shown; /* NULL: all points; else those that are looked at for this, one a point */
    bool cases;        /* so do cases; else x is the case, or of no matter */
    bool over_runs;    /* x is the run, which then does not */
    bool trained;      /* what is shown comes from accuracy runs */
    enum option_id x;  /* OPTION_COUNT: no option */
    bool only;
    const enum option_id *options;
    size_t n_options;
};

enum status series_collect_by(struct series_list *list, const struct summary *s,
                              const struct series_by *by, struct error *e);

/* Cuts the summary into series, in the order of the spec. A base stands in its own series only.
 * Freed with series_free in any case. */
enum status series_collect(struct series_list *list, const struct summary *s, struct error *e);
void series_free(struct series_list *list);
