/* A figure as it is drawn: what a spec asks for, its kind (a row of bench/spec/figures/figures.def) filled in.
 * A kind names a shape: how its numbers stand in series_<figure>.csv, and which rules its points
 * follow. A shape is one of the structs below, where nothing but its functions knows it. Internal to
 * bench/figures. */
#pragma once

#include "bench/figures/quantity.h"
#include "bench/spec/figures/request.h"

struct figure_data;

struct figure_shape {
    bool bars;                /* a bar a point, else a curve a series */
    bool communicating;       /* points of strategy none have no place */
    bool whiskers;            /* intervals are drawn */
    bool dots;                /* so are single launches */
    bool any_x;               /* rows of any file over anything, else points over `x` */
    const char *x, *total;    /* what it goes over, and the quantity, where it cannot choose */
    const char *const *parts; /* of `total` that y may list, NULL at the end; NULL: y has none */
    const char *lead;   /* what a caption says before how many launches; NULL: " Median of " */
    const char *method; /* what it says of the values behind "Median of ..." */
    /* The rows of the series file, names first. */
    enum status (*write)(FILE *out, struct figure_data *d, struct error *e);
};

extern const struct figure_shape shape_over_ranks, shape_bars, shape_stacked, shape_overlap,
    shape_memory, shape_curves, shape_lanes;

struct figure {
    const char *name;   /* of its files */
    const char *script; /* plots/<script>.gp */
    const struct figure_shape *shape;
    const struct figure_request *request; /* borrowed */
    bool model;                           /* the model of time is drawn beside what was measured */
    bool published;                       /* so are the spec's published values */
};

struct figure figure_of(const struct figure_request *request);

/* The text of an option. */
static inline const char *figure_text(const struct figure *figure, enum figure_option_id id)
{
    return figure->request->options[id].text;
}

/* The i-th of what it shows, from 0; NULL beyond the last. */
const char *figure_column(const struct figure *figure, size_t i);
