/* Why it bends: what of perfect scaling each point lost, and to which part of a step; the rows of
 * losses.csv, which the sentences below the closing table print. Internal to bench/collect. */
#pragma once

#include "bench/collect/columns.h"
#include "bench/collect/series.h"

struct losses {
    struct losses_row *rows; /* of points with more cores than their base, series by series */
    size_t *points;          /* [n] of the summary */
    size_t n;
    struct series_list series; /* owns the names */
};

/* From the numbers of the points. Freed with losses_free in any case. */
enum status losses_collect(struct losses *losses, const struct summary *s, struct error *e);
/* Whether a sentence of this point may say which rank was the last, where as many points are looked at
 * at once: of campaigns whose ranks are all alike at most one in twenty then says it of any (Bonferroni). */
bool losses_name_last_rank(const struct point_last *last, size_t looked_at);
void losses_free(struct losses *losses);
