/* The columns of every CSV file of a run, from columns/files.def and a columns/<file>.def each, whose rows
 * are
 *
 *   COLUMN(id, type, unit, meaning)    type: TEXT INT REAL BOOL; an unknown value is an empty field
 *   COLUMN_NAMED(id, name, type, unit, meaning)  the same where C cannot have the name
 *   PLACE(id)                          a column of bench/record/metrics.def stands here
 *   PLACE_AS(id, meaning)              the same, with words of its own
 *
 * The same rows feed the writers, `scalebench list columns`, `explain` and columns.csv. Internal to
 * bench/collect. */
#pragma once

#include "bench/collect/collect.h"
#include "bench/collect/point_flags.h"
#include "bench/spec/condition.h"
#include "kernels/base/timeline.h"

#define COLUMN_NAMED(id, name, type, unit, meaning) COLUMN(id, type, unit, meaning)

/* What there is of a metric that has a column in summary.csv, by how launches become one. */
#define IN_SUMMARY_NONE(...)
#define IN_SUMMARY_FIRST(...)  __VA_ARGS__
#define IN_SUMMARY_MAX(...)    __VA_ARGS__
#define IN_SUMMARY_MEDIAN(...) __VA_ARGS__
#define IN_SUMMARY_EITHER(...) __VA_ARGS__
#define IN_SUMMARY_SEEDS(...)  __VA_ARGS__

/* Which columns of metrics.def the files have that do not place them, by the line of the record. */
#define IN_STEPS_hello(id)
#define IN_STEPS_step(id) PLACE(id)
#define IN_STEPS_epoch(id)
#define IN_STEPS_eval(id)
#define IN_STEPS_end(id)
#define IN_STEPS_result(id)
#define IN_EPOCHS_hello(id)
#define IN_EPOCHS_step(id)
#define IN_EPOCHS_epoch(id) PLACE(id)
#define IN_EPOCHS_eval(id)  PLACE(id)
#define IN_EPOCHS_end(id)
#define IN_EPOCHS_result(id)

/* What files of launches and points say beyond the meaning of a metric; `steps`: "" or "timed ". */
#define OVER_hello(steps) ""
#define OVER_step(steps)  ". Mean over " steps "steps and ranks"
#define OVER_epoch(steps) ""
#define OVER_eval(steps)  ""
#define OVER_end(steps)   ""

/* Of summary.csv. */
enum column_id {
#define COLUMN(id, type, unit, meaning) COLUMN_##id,
#define PLACE(id)                       COLUMN_##id,
#define PLACE_AS(id, meaning)           COLUMN_##id,
#include "bench/collect/columns/summary.def"
#undef COLUMN
#undef PLACE
#undef PLACE_AS
    COLUMNS,
    COLUMN_none = COLUMNS
};

/* A number of a point that is a column of its own: where it is in struct point_summary. */
struct point_number {
    enum column_id column;
    size_t offset;
    bool is_count; /* a size_t, of which 0 is written as `none`; else a double */
    double none;
};
const struct point_number *point_numbers(size_t *n);

const struct column *column_get(enum column_id id);
/* COLUMNS where summary.csv has no such column. */
enum column_id column_find(const char *name);
/* The option that a column of this name in summary.csv tells; OPTION_COUNT: it tells none, or there is none. */
enum option_id column_option(const char *name);

/* Whether conditions compare its values as numbers; of yes and no they take both. */
static inline enum condition_kind column_kind(const struct column *column)
{
    return column->type == CSV_TEXT   ? CONDITION_TEXT
           : column->type == CSV_BOOL ? CONDITION_ANY
                                      : CONDITION_NUMBER;
}

/* The columns of one file. */
const struct column *columns_of(const char *file, size_t *n);
/* One of them, by its name; NULL: the file has no such column. */
const struct column *column_of_file(const char *file, const char *name);

/* Whether a run of this spec leaves the i-th file of columns/files.def. */
bool csv_file_is_wanted(size_t i, const struct spec *spec);

/* The names of the files in columns/files.def, without .csv. */
const char *const *csv_file_names(size_t *n);

/* What files.def says of the rows of a file that a run of this spec does not leave; NULL: it does, or no run has it. */
const char *csv_file_unwritten(const char *file, const struct spec *spec);

/* The option without which a run of this spec has no value in a column of this name (needs.def), which may also be a
 * short name (step_ms) or an end of an interval; OPTION_COUNT: there is none. */
enum option_id column_lack(const char *name, const struct spec *spec);
enum { LACK_BYTES = 320 };
void column_explain_lack(char why[LACK_BYTES], enum option_id lack, const struct spec *spec);

/* Gives the numbers that a column of this name can have (ranges.def); names as for column_lack. Returns false where
 * nothing is known. */
bool column_range(const char *name, struct condition_range *range);

/* Whether every launch has the same in this column of the file, as epochs: 1, 2, 3 ... */
bool csv_file_repeats(const char *file, const char *column);

/* Name of the column whose values are the kinds of rows, as metric in metrics.csv; "": the file has one kind. */
const char *csv_file_kind(const char *file);

/* A row of each file; those of summary.csv and columns.csv are written as texts. */
#define COLUMN(id, type, unit, meaning) CSV_CELL_##type id;
#define PLACE(id)                       double id;
#define PLACE_AS(id, meaning)           double id;
struct summary_row {
#include "bench/collect/columns/summary.def"
};
struct columns_row {
#include "bench/collect/columns/columns.def"
};
struct raw_row {
#include "bench/collect/columns/raw.def"
};
struct epochs_row {
#include "bench/collect/columns/epochs.def"
};
struct classes_row {
#include "bench/collect/columns/classes.def"
};
struct segments_row {
#include "bench/collect/columns/segments.def"
};
struct metrics_row {
#include "bench/collect/columns/metrics.def"
};
struct steps_row {
#include "bench/collect/columns/steps.def"
};
struct timeline_row {
#include "bench/collect/columns/timeline.def"
};
struct resources_row {
#include "bench/collect/columns/resources.def"
};
struct losses_row {
#include "bench/collect/columns/losses.def"
};
struct rules_row {
#include "bench/collect/columns/rules.def"
};
struct layers_row {
#include "bench/collect/columns/layers.def"
};
#undef COLUMN
#undef PLACE
#undef PLACE_AS

/* Takes a row of a file, of its struct above: csv_add of bench/collect/csv. */
struct csv;
typedef void row_writer(struct csv *csv, void *row);

/* A table that launches of a sweep leave, of which a run has the rows of all its points. A sweep is a program that
 * times parts of a training step by themselves. */
struct sweep_table {
    const char *file;
    const struct column *columns; /* [n], without offsets */
    size_t n;
    const char *what; /* a row is */
};
const struct sweep_table *sweep_tables(size_t *n);
