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

/* Cuts the summary into series, in the order of the spec. A base stands in its own series only.
 * Freed with series_free in any case. */
enum status series_collect(struct series_list *list, const struct summary *s, struct error *e);
void series_free(struct series_list *list);
