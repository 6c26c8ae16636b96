/* Attributes the loss of efficiency to parts of a step: the rows of losses.csv, also printed as
 * text below the table. Internal to bench/collect. */
#pragma once

#include "bench/collect/columns.h"
#include "bench/collect/series.h"

struct losses {
    struct losses_row *rows; /* [n] one row per point that synchronises gradients, has an efficiency
                                and has more cores than its base; ordered by series */
    size_t *points;          /* [n] index of each row's point in the summary */
    size_t n;
    struct series_list series; /* all series; owns the series names in `rows` */
};

/* Attributes the loss of efficiency to parts of a step. Covers points that synchronise gradients,
 * have an efficiency and more cores than their base. Call losses_free in any case. Errors:
 * ERR_MEMORY. */
enum status losses_collect(struct losses *losses, const struct summary *s, struct error *e);
/* Returns whether printed text may name last->rank as the rank that most often arrived last. Tests
 * at the 5 % level, with the Bonferroni correction for `looked_at` points. */
bool losses_name_last_rank(const struct point_last *last, size_t looked_at);
void losses_free(struct losses *losses);
