/* The numbers behind one figure, as series_<figure>.csv: what its script draws, and what a user may
 * draw anew with tools of his own. Internal to bench/collect. */
#ifndef SCALEBENCH_BENCH_FIGURES_FIGURE_DATA_H
#define SCALEBENCH_BENCH_FIGURES_FIGURE_DATA_H

#include "bench/collect/series.h"
#include "bench/figures/prediction.h"
#include "bench/figures/quantity.h"

/* More of them nobody tells apart, and no picture holds; the series file has all. */
enum { FIGURE_CURVES_MAX = 36, FIGURE_BARS_MAX = 120 };

struct figure_data {
    const struct summary *s; /* borrowed */
    const char *figure, *run_dir;
    enum figure_kind kind;
    const struct quantity *quantity;
    struct measured *measured;    /* one a point */
    struct prediction prediction; /* of figures that show one */
    size_t predicted;             /* points of the figure with a predicted value */
    struct series_list series;    /* of a figure over ranks or epochs: first those that are drawn */
    size_t curves;                /* of them that are drawn */
    size_t values;                /* points with a value; of the figure epochs: its values */
    size_t doubtful;              /* of them: not ok */
    size_t oversubscribed;        /* of them */
    size_t published;             /* points with a published value */
    double least, most;        /* of values and published ones above 0; NAN where there are none */
    double lowest;             /* of all of them and the ends of their intervals */
    bool *bars;                /* of a figure that has a bar a point: which of them have one */
    size_t rows;               /* bars */
    size_t left_out;           /* curves or bars with a value that are too many to be drawn */
    int epochs;                /* most that a run has, of the figure epochs */
    size_t accuracies, losses; /* of that figure: epochs with a test accuracy, with a loss */
};

/* Reads the CSV files of the run as far as the figure needs them. Freed with figure_data_free in
 * any case. */
enum status figure_data_read(struct figure_data *d, const char *figure, const struct summary *s,
                             const char *run_dir, struct error *e);
void figure_data_free(struct figure_data *d);

/* Writes the series file to `path`:
 *   over ranks, by point  curve,name,point,label,ranks,status,flags,n,value,lo,hi,published,model
 *   breakdown             row,point,label,ranks,status,flags,step_ms, each part of it, published,
 *                         model_ms
 *   overlap               row,point,label,ranks,status,flags, exposed, waiting and hidden
 *                         communication, the interval of the last, communication alone, published
 *   epochs                curve,name,point,ranks,status,flags,epoch,n, then accuracy and loss */
enum status figure_data_write(struct figure_data *d, const char *path, struct error *e);

/* Why there is nothing to draw: no value and no published one; NULL where there is. */
const char *figure_data_lack(const struct figure_data *d);

/* A point of this figure that has no value although it was asked for. */
bool figure_data_misses(const struct figure_data *d, size_t point);

/* What the model says of a point; NAN in figures that show none. */
double figure_data_model(const struct figure_data *d, size_t point);

/* Inside: rows of the figure epochs. */
enum status figure_epochs_write(FILE *out, struct figure_data *d, struct error *e);

/* Inside: status and flags as cells of a row. */
void figure_data_write_status(FILE *out, const struct point_summary *p);
void figure_data_write_number(FILE *out, double x);

/* The parts of the figure breakdown, in the order that they are stacked; NULL beyond the last. */
const char *breakdown_part(size_t i);

#endif
