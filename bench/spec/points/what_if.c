/* Completes the cases of what_if: factors such as site.rate: x2, the case with all changes, and the
 * baseline `as given`. */
#include <stdio.h>
#include <stdlib.h>

#include "bench/spec/matrix.h"

static enum status scale(struct spec *spec, struct matrix *of, struct error *e)
{
    const struct spec_option *option = config_option(&spec->config, of->scaled);
    const char *found = config_text(&spec->config, of->scaled);
    char *unit, text[64];
    double number = strtod(found, &unit);
    if (matrix_axis(spec->matrix, of->scaled) != NULL)
        return mark_error(e, ERR_SPEC, of->mark,
                          "%s has several values, so a factor has no single number to multiply. "
                          "Use a value in place of the factor",
                          option->key);
    if (unit == found)
        return mark_error(e, ERR_SPEC, of->mark,
                          "%s is %s, which has no number to multiply. Use a value in place of the "
                          "factor",
                          option->key, found);
    snprintf(text, sizeof text, "%.12g%s", number * of->factor, unit);
    const struct node node = {.kind = NODE_SCALAR, .text = text, .mark = of->mark};
    return option_read(&of->own.config, &(struct given){option, &node}, e);
}

/* Copies the options that a case sets, from `values` to `to`. Options that `to` sets stay. */
static enum status copy_changes(struct config *to, const struct matrix *of,
                                const struct config *values, struct error *e)
{
    for (enum option_id id = 0; id < OPTION_COUNT; id++) {
        if (!of->own.config.values[id].set || to->values[id].set)
            continue;
        TRY(value_copy(&to->values[id], &values->values[id], e));
        to->values[id].set = true;
    }
    return OK;
}

enum status what_if_resolve(struct spec *spec, struct error *e)
{
    struct matrix *all = spec->matrix;
    bool has_baseline = all->has_baseline;
    for (size_t i = 0; i < all->n_cases; i++) {
        struct matrix *of = &all->cases[i], *last = &all->cases[all->n_cases - 1];
        if (of->changes != CHANGES_one)
            continue;
        if (of->factor > 0 && !matrix_gives(of, of->scaled))
            TRY(scale(spec, of, e));
        if (last->changes == CHANGES_all)
            TRY(copy_changes(&last->own.config, of, &of->own.config, e));
        if (!has_baseline)
            TRY(copy_changes(&all->baseline.config, of, &spec->config, e));
        all->has_baseline = true;
    }
    return OK;
}
