/* What the rows of bench/spec/figures.def say of a figure. A row names a shape: how its numbers stand
 * in series_<figure>.csv, and which rules its points follow. A shape is one of the structs below,
 * where nothing but its functions knows it. Internal to bench/figures. */
#pragma once

#include "bench/figures/quantity.h"

struct figure_data;

struct figure_shape {
    bool bars;          /* a bar a point, else a curve a series */
    bool communicating; /* points of strategy none have no place */
    bool whiskers;      /* intervals are drawn */
    bool dots;          /* so are single launches */
    const char *method; /* what a caption says of the values behind "Median of ..." */
    /* The rows of the series file, names first. */
    enum status (*write)(FILE *out, struct figure_data *d, struct error *e);
};

extern const struct figure_shape shape_over_ranks, shape_bars, shape_stacked, shape_overlap,
    shape_over_epochs;

struct figure {
    const char *name;
    const struct figure_shape *shape;
    enum quantity_id quantity;
    const char *columns; /* words: what its shape shows besides */
    bool model;          /* the model of time is drawn beside what was measured */
    bool published;      /* so are published values */
};

/* By name, which the spec has checked. */
const struct figure *figure_get(const char *name);

/* The i-th of its columns, from 0; false beyond the last. */
enum { FIGURE_COLUMN = 32 };
bool figure_column(const struct figure *figure, size_t i, char column[FIGURE_COLUMN]);
