/* A figure to be drawn: the request of a spec with the defaults of its kind (a row of
 * bench/spec/figures/figures.def). Each kind has a shape, one of the structs below, which
 * determines the rows of series_<figure>.csv and the rules for points. Only the functions of a
 * shape know the shape. Internal to bench/figures. */
#pragma once

#include "bench/figures/quantity.h"
#include "bench/spec/figures/request.h"

struct figure_data;

struct figure_shape {
    bool bars;             /* one bar per point; otherwise one curve per series */
    bool communicating;    /* points of strategy none are left out */
    bool whiskers;         /* intervals are drawn */
    bool dots;             /* single launches are drawn */
    bool any_x;            /* draws rows of any file over any x; otherwise points over `x` */
    const char *x, *total; /* fixed x and quantity; NULL if the user can choose */
    /* parts of `total` that y may list, ending with NULL; NULL: y is not supported */
    const char *const *parts;
    const char *lead;   /* caption text before the number of launches; NULL: " Median of " */
    const char *method; /* caption text about the values, after "Median of ..." */
    /* Writes the series file, column names first. */
    enum status (*write)(FILE *out, struct figure_data *d, struct error *e);
};

extern const struct figure_shape shape_over_ranks, shape_bars, shape_stacked, shape_overlap,
    shape_memory, shape_curves, shape_lanes;

struct figure {
    const char *name;   /* name of the figure and of its files */
    const char *script; /* plots/<script>.gp */
    const struct figure_shape *shape;
    const struct figure_request *request; /* borrowed */
    bool model;                           /* the model of time is drawn beside measured values */
    bool published;                       /* the spec's published values are drawn */
};

struct figure figure_of(const struct figure_request *request);

/* Returns the text of an option. */
static inline const char *figure_text(const struct figure *figure, enum figure_option_id id)
{
    return figure->request->options[id].text;
}

/* Returns the i-th shown name, from 0; NULL after the last. */
const char *figure_column(const struct figure *figure, size_t i);
