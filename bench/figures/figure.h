/* One figure to draw: the request of the spec, completed by the defaults of its kind (a row of
 * bench/spec/figures/figures.def). The kind's shape determines the rows of series_<figure>.csv and
 * which points a figure can show. Internal to bench/figures. */
#pragma once

#include "bench/figures/quantity.h"
#include "bench/spec/figures/request.h"

struct figure_data;

struct figure_shape {
    bool bars;     /* one bar per point; otherwise one curve per series */
    bool whiskers; /* draws confidence intervals */
    bool dots;     /* draws each launch as a faint dot */
    /* whether the user can choose the x axis and the CSV file to draw; if not, points are drawn
     * over the axis that `x` names */
    bool any_x;
    /* the figure shows a point only if this option of the point is neither false nor none; 0: no
     * condition */
    enum option_id only;
    /* names of the x axis and of the quantity, if the shape fixes them; NULL: the user can
     * choose */
    const char *x, *total;
    /* NULL-terminated names that option y may list, each a part of `total`; NULL: no option y */
    const char *const *parts;
    const char *lead;   /* caption text before the number of launches; NULL: " Median of " */
    const char *method; /* caption text that explains how values are computed */
    /* Writes the series file, column names first. */
    enum status (*write)(FILE *out, struct figure_data *d, struct error *e);
};

extern const struct figure_shape shape_over_ranks, shape_bars, shape_stacked, shape_causes,
    shape_overlap, shape_memory, shape_curves, shape_lanes;

struct figure {
    const char *name;   /* name of the figure and of its files */
    const char *script; /* name of the gnuplot script plots/<script>.gp */
    const struct figure_shape *shape;
    const struct figure_request *request; /* options of the figure; borrowed */
    bool model;                           /* whether to draw predicted times too */
    const char *law; /* law whose fits are drawn beside measured values; NULL: none */
    bool published;  /* whether to draw values from a publication (the spec's published.file) */
};

struct figure figure_of(const struct figure_request *request);

/* Returns the value of a figure's option as text. */
static inline const char *figure_text(const struct figure *figure, enum figure_option_id id)
{
    return figure->request->options[id].text;
}

/* Returns the i-th name in the figure's option y, from 0; NULL after the last. */
const char *figure_column(const struct figure *figure, size_t i);
