/* The parts of a spec that make several points of it: matrix, zip, exclude, baseline, cases. What
 * is read later from another file, or from SET, takes the place of what was there: that is how a
 * spec lies over the bases that it extends. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "bench/spec/condition.h"
#include "bench/spec/spec.h"
#include "bench/spec/yaml_reader.h"
#include "kernels/base/error.h"

/* Words of a command line lie over what files say: those of a quick form, then those of SET. */
enum words_origin { WORDS_QUICK, WORDS_SET, WORDS_ORIGINS };
/* The names under which marks mention them. */
extern const char *const words_files[WORDS_ORIGINS];
/* Whether it stands in words, of either kind. */
bool mark_from_set(struct mark mark);
/* Whether both stand in one file, or in one line of words: what is said there once lies over what was
 * said before, and is an error when it is said twice. */
bool mark_same_layer(struct mark a, struct mark b);

/* One key of the matrix, or of a zip, with its values. */
struct axis {
    enum option_id id;
    struct mark mark;
    bool open;      /* auto or from SET: its values are not the file's own */
    bool automatic; /* auto: nodes_resolve makes its values */
    int zip;        /* axes of one number, from 1, run together; 0: this one runs alone */
    struct value *values;
    size_t n;
};

/* Some options with a value each: those that are `set`. The others are not there at all. */
struct selection {
    struct mark mark;
    struct config config;
    struct condition *condition; /* of an exclude that is one; NULL: `config` says what */
    size_t matches;              /* points of the matrix that an exclude takes out */
    size_t alone;                /* those of them that no earlier exclude takes out */
    bool goes_on; /* of an exclude: the same entry as the one before, with other values of a list */
};

/* Of the whole spec, or of one of its cases. */
struct matrix {
    char *label;                    /* of a case; NULL: the spec's own */
    struct mark mark;               /* of a case */
    struct selection own;           /* options of a case */
    struct axis axes[OPTION_COUNT]; /* in the order of the file */
    size_t n_axes;
    struct selection *excludes;
    size_t n_excludes;
    bool has_baseline;
    struct selection baseline;
    struct matrix *cases; /* of the spec */
    size_t n_cases;
};

/* Where what is read goes: into the spec, or into one of its cases. */
struct reading {
    struct spec *spec;
    struct matrix *matrix;
    struct config *config; /* its options with one value */
};

/* Lays the tree of a whole spec over spec->config (at its presets at first) and spec->matrix
 * (zeroed at first). */
enum status matrix_read(struct spec *spec, const struct node *root, struct error *e);

/* Lays what stands at the top, below `matrix`, below `zip` or below `baseline` over what was read. */
enum status matrix_read_options(struct reading *reading, const struct node *map, struct error *e);
enum status matrix_read_axes(struct reading *reading, const struct node *map, struct error *e);
enum status matrix_read_zip(struct reading *reading, const struct node *node, struct error *e);

/* Applies "key=value matrix.key=[...]" to them, line by line, each over those before it. Errors name the
 * origin, line and column. */
enum status matrix_apply_words(struct spec *spec, enum words_origin origin, const char *words,
                               struct error *e);
/* The column of this word in a SET, from 1; 0: it is none of its words. "key=" is a word of any value. */
int matrix_set_column(const char *set, const char *word);

void matrix_free(struct matrix *matrix);

/* The axis of this option, or NULL. */
struct axis *matrix_axis(const struct matrix *matrix, enum option_id id);

/* The largest number of a zip; 0: there is none. */
int matrix_zips(const struct matrix *matrix);

void matrix_remove_axis(struct matrix *matrix, struct axis *axis);

/* The case gives this option itself, with one value or several. */
bool matrix_gives(const struct matrix *matrix, enum option_id id);

/* The entries of `exclude`, which take the place of all that were read from other files. */
enum status excludes_read(struct reading *reading, const struct node *list, struct error *e);
void excludes_clear(struct matrix *matrix);

/* Of one value each; lies over what was read from another file, and in place of it for SET. */
enum status baseline_read(struct reading *reading, const struct node *node, struct error *e);

/* Stores one value; one of another file gives way, one of the same is an error. */
enum status option_read(struct config *config, const struct spec_option *option,
                        const struct node *entry, struct error *e);
enum status option_given_twice(const struct spec_option *option, const struct node *entry,
                               struct mark first, struct error *e);
/* A value of the whole campaign where one of a point belongs. */
enum status option_refuse_campaign(const struct spec_option *option, const struct node *entry,
                                   struct error *e);

/* An option as a condition sees it: a number where its values have an order. */
struct condition_value option_as_condition(const struct spec_option *option,
                                           const struct value *value);
/* What a point is before it has run: an option by its key, or `case`; as condition_lookup. */
bool point_look_up(struct condition_value *value, const char *name, const void *point);
/* CONDITION_ANY where words stand for some numbers, as off and half do. */
enum condition_kind option_kind(const struct spec_option *option);

/* Every option of the selection has that value in the point, or its condition holds there. */
bool selection_matches(const struct selection *selection, const struct point *point);

/* It names an option whose values are not the file's own, so that it may well match nothing. */
bool selection_is_open(const struct selection *selection, const struct spec *spec);

void selection_free(struct selection *selection);
