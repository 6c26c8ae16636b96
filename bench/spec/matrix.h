/* Parts of a spec that determine its points: matrix, zip, exclude, baseline, cases. Files that the
 * spec extends are read first, then the spec, then the words of its quick form if requested, then
 * the words of --set. Later values override earlier ones. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "bench/spec/condition.h"
#include "bench/spec/spec.h"
#include "bench/spec/value.h"
#include "kernels/base/error.h"

/* Origins of key=value words that override files: the spec's option `quick`, then --set, which
 * overrides `quick`. */
enum words_origin { WORDS_QUICK, WORDS_SET, WORDS_ORIGINS };
/* Names that messages print in place of a file name if a value comes from key=value words: "quick"
 * or "SET". Indexed by enum words_origin. */
extern const char *const words_files[WORDS_ORIGINS];
/* Returns whether a position is in key=value words (quick form or --set), not in a file. */
bool mark_from_set(struct mark mark);
/* Returns whether both positions are in one layer: one file, or one line of key=value words. A key
 * given twice in one layer is an error. */
bool mark_same_layer(struct mark a, struct mark b);

/* Key of the matrix or of a zip, with its values. */
struct axis {
    enum option_id id;
    struct mark mark;
    bool open;      /* whether the values depend on the machine (auto), or come from --set or from
                       option `quick` */
    bool automatic; /* the axis is `auto`: nodes_resolve fills in the values */
    int zip;        /* number of the zip, from 1, whose axes vary together; 0: no zip */
    struct value *values;
    size_t n;
};

/* Options with one value each, given by an exclude, a baseline or a case. `config` holds their
 * values; values that are not `set` are ignored. */
struct selection {
    struct mark mark;
    struct config config;
    /* condition that excluded points satisfy; NULL: excluded points have the values in `config` */
    struct condition *condition;
    size_t matches; /* number of points that this exclude matches */
    size_t alone;   /* number of points that this exclude is the first to match */
    /* whether this selection comes from the same entry of `exclude` as the previous one */
    bool goes_on;
};

/* Matrix of the spec or of one case. */
struct matrix {
    char *label; /* label of a case; NULL: the spec's matrix, not a case */
    /* Changes that a case of what_if makes: none, a single one, or all that what_if lists. A single
     * change sets an option or, if `factor` is above 0, multiplies option `scaled` by `factor`.
     * CHANGES_unknown: not a case of what_if. */
    enum { CHANGES_unknown, CHANGES_none, CHANGES_one, CHANGES_all } changes;
    double factor;
    enum option_id scaled;
    struct mark mark;               /* position of the case in the file */
    struct selection own;           /* options that have one value in the case */
    struct axis axes[OPTION_COUNT]; /* axes in the order of the file */
    size_t n_axes;
    struct selection *excludes;
    size_t n_excludes;
    bool has_baseline;
    struct selection baseline;
    struct matrix *cases; /* cases of the spec */
    size_t n_cases;
};

/* Destination of the options that are read: the spec or one of its cases. */
struct reading {
    struct spec *spec;
    struct matrix *matrix;
    struct config *config; /* receives the options with one value */
};

/* Reads the tree of one spec file into spec->config and spec->matrix. Values of this file override
 * values of files read earlier. Before the first file, spec->config must hold the defaults and
 * spec->matrix must be zeroed. */
enum status matrix_read(struct spec *spec, const struct node *root, struct error *e);

/* Completes the cases of what_if: applies factors, fills in case `all changes` and sets the default
 * baseline. Call it after all files and words are read. ERR_SPEC at the factor if its option is not
 * a number or has several values. */
enum status what_if_resolve(struct spec *spec, struct error *e);

/* Read options with one value (matrix_read_options), axes below `matrix` (matrix_read_axes) and
 * axes below `zip` (matrix_read_zip). */
enum status matrix_read_options(struct reading *reading, const struct node *map, struct error *e);
enum status matrix_read_axes(struct reading *reading, const struct node *map, struct error *e);
enum status matrix_read_zip(struct reading *reading, const struct node *node, struct error *e);

/* Applies a text of words, such as "key=value matrix.key=[...]". Words on a later line override
 * words on earlier lines. Errors name origin, line and column. */
enum status matrix_apply_words(struct spec *spec, enum words_origin origin, const char *words,
                               struct error *e);
/* Returns the column of a word in the text of --set, from 1; 0 if it is absent. "key=" matches any
 * value of the key. */
int matrix_set_column(const char *set, const char *word);

void matrix_free(struct matrix *matrix);

/* Returns the axis of an option; NULL if the option is not on an axis. */
struct axis *matrix_axis(const struct matrix *matrix, enum option_id id);

/* Returns the number of zips: the largest zip number of an axis. */
int matrix_zips(const struct matrix *matrix);

void matrix_remove_axis(struct matrix *matrix, struct axis *axis);

/* Returns whether the case sets the option, to one value or by an axis. */
bool matrix_gives(const struct matrix *matrix, enum option_id id);

/* Reads the list `exclude`. The list replaces the excludes of all files read earlier. */
enum status excludes_read(struct reading *reading, const struct node *list, struct error *e);
void excludes_clear(struct matrix *matrix);

/* Reads `baseline`. Options in the baseline of an extended file remain unless overridden. A
 * baseline given by option `quick` or --set replaces the whole earlier baseline. */
enum status baseline_read(struct reading *reading, const struct node *node, struct error *e);

/* Stores one value of an option. The value overrides a value from an earlier layer. A layer is a
 * file, or a line of key=value words. A second value in the same layer (mark_same_layer) is an
 * error. */
enum status option_read(struct config *config, const struct given *g, struct error *e);
enum status option_given_twice(const struct given *g, struct mark first, struct error *e);
/* Rejects a campaign-wide option where only options of points are allowed, such as in the
 * matrix. */
enum status option_refuse_campaign(const struct given *g, struct error *e);

/* Returns an option's value for use in conditions: its text, and its number (NAN if values of the
 * option's type have no order). */
struct condition_value option_as_condition(const struct spec_option *option,
                                           const struct value *value);
/* A condition_lookup: finds an option of a point, or the label of its case if `name` is "case".
 * `point` is a struct point. */
bool point_look_up(struct condition_value *value, const char *name, const void *point);
/* Returns the kind of an option's values: texts, numbers, or numbers and words such as off and half
 * (CONDITION_ANY). */
enum condition_kind option_kind(const struct spec_option *option);

/* Returns whether the point satisfies the selection's condition or, if the selection has no
 * condition, has all values of the selection. */
bool selection_matches(const struct selection *selection, const struct point *point);

/* Returns whether the selection names an option whose values come from the machine, from --set or
 * from option `quick`. An entry of `exclude` with such a selection is allowed to match no point. */
bool selection_is_open(const struct selection *selection, const struct spec *spec);

void selection_free(struct selection *selection);
