/* The parts of a spec that make several points of it: matrix, exclude, baseline; and SET. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "bench/spec/spec.h"
#include "bench/spec/yaml_reader.h"
#include "kernels/base/error.h"

/* The name under which marks mention a SET. */
extern const char matrix_set_file[];

/* One key of the matrix with its values. */
struct axis {
    enum option_id id;
    struct mark mark;
    bool open; /* auto or from SET: its values are not the file's own */
    struct value *values;
    size_t n;
};

/* Some options with a value each: those that are `set`. The others are not there at all. */
struct selection {
    struct mark mark;
    struct config config;
    size_t matches; /* points of the matrix that an exclude takes out */
    bool goes_on; /* of an exclude: the same entry as the one before, with other values of a list */
};

struct matrix {
    struct axis axes[OPTION_COUNT]; /* in the order of the file */
    size_t n_axes;
    struct selection *excludes;
    size_t n_excludes;
    bool has_baseline;
    struct selection baseline;
};

/* Reads the tree of a whole spec into spec->config (at its presets) and spec->matrix (zeroed). */
enum status matrix_read(struct spec *spec, const struct node *root,
                        const struct spec_machine *machine, struct error *e);

/* Applies "key=value matrix.key=[...]" to them. Errors name SET and the column. */
enum status matrix_apply_set(struct spec *spec, const char *set, const struct spec_machine *machine,
                             struct error *e);

void matrix_free(struct matrix *matrix);

/* The axis of this option, or NULL. */
struct axis *matrix_axis(const struct matrix *matrix, enum option_id id);

/* Every option of the selection has that value in `config`. */
bool selection_matches(const struct selection *selection, const struct config *config);

/* It names an option whose values are not the file's own, so that it may well match nothing. */
bool selection_is_open(const struct selection *selection, const struct spec *spec);
