/* Losses against perfect scaling, by part of a step: the rows of losses.csv. The text below the
 * table prints them. Internal to bench/collect. */
#pragma once

#include "bench/collect/columns.h"
#include "bench/collect/series.h"

struct losses {
    struct losses_row *rows; /* [n] points with more cores than their base, by series */
    size_t *points;          /* [n] indices of the points in the summary */
    size_t n;
    struct series_list series; /* series of the rows; owns their names */
};

/* Computes the losses of all points. Call losses_free in any case. Errors: ERR_MEMORY. */
enum status losses_collect(struct losses *losses, const struct summary *s, struct error *e);
/* Returns whether text may name the rank that arrived last. `looked_at`: number of points tested
 * together (Bonferroni); if all ranks are alike, at most one campaign in twenty names any. */
bool losses_name_last_rank(const struct point_last *last, size_t looked_at);
void losses_free(struct losses *losses);
