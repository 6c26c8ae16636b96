/* What the values of a figure are medians of, and what their whiskers are. Internal to bench/figures. */
#pragma once

#include "bench/figures/figure_data.h"

/* Over the points with a value: what each is a median of, and the levels that their intervals reach. */
struct basis {
    double least, most; /* launches, runs or paired ratios of a point */
    size_t points, met; /* with a value; of them with an interval of SUMMARY_CONFIDENCE */
    double low, high;   /* levels in per cent of those with an interval */
    const char *what[2];
    const char *with; /* "each to the base's launch" of paired ones, else NULL */
};

struct basis basis_find(const struct figure_data *d);
/* The figure's values are relative to bases. */
bool basis_is_of_ratios(const struct figure_data *d);

/* " Median of ", or what the figure's shape says instead. */
void basis_write_lead(FILE *out, const struct figure_data *d);
/* "6 launches", "1 to 3 paired ratios" */
void basis_write_sizes(FILE *out, const struct basis *basis);
/* "75", "75 to 96.9" */
void basis_write_levels(FILE *out, const struct basis *basis);
/* A sentence on how each value came about; `ran` holds the points that the figure shows. */
void basis_write_method(FILE *out, const struct figure_data *d, const struct summary *ran);
