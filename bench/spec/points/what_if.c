/* Completes the cases of what_if: applies factors such as x2 to the values of the spec, and fills
 * case `all changes` and the default baseline. */
#include <stdio.h>
#include <stdlib.h>

#include "bench/spec/matrix.h"
#include "bench/spec/points/points.h"

static enum status scale(struct spec *spec, struct matrix *of, struct error *e)
{
    const struct spec_option *option = config_option(&spec->config, of->scaled);
    const char *found = config_text(&spec->config, of->scaled);
    char *unit, text[64];
    double number = strtod(found, &unit);
    if (matrix_axis(spec->matrix, of->scaled) != NULL)
        return mark_error(e, ERR_SPEC, of->mark,
                          "%s has several values, but a factor can multiply only one. Use a value "
                          "in place of the factor",
                          option->key);
    if (unit == found)
        return mark_error(e, ERR_SPEC, of->mark,
                          "%s is %s, which a factor cannot multiply. Use a value in place of the "
                          "factor",
                          option->key, found);
    snprintf(text, sizeof text, "%.12g%s", number * of->factor, unit);
    const struct node node = {.kind = NODE_SCALAR, .text = text, .mark = of->mark};
    return option_read(&of->own.config, &(struct given){option, &node}, e);
}

/* Returns whether the default baseline may set the option. A baseline must have the same network
 * and data as its points and, unless scaling = none, the same problem. */
static bool may_be_compared(const struct spec *spec, enum option_id id)
{
    bool scales = config_int(&spec->config, OPT_SCALING) != SCALING_none;
    return id != OPT_MODEL && id != OPT_DATA_SET && !(scales && option_is_problem(option_get(id)));
}

/* Copies an option from `values` to `to`, unless `to` sets it. */
static enum status copy_option(struct config *to, const struct config *values, enum option_id id,
                               struct error *e)
{
    if (to->values[id].set)
        return OK;
    TRY(value_copy(&to->values[id], &values->values[id], e));
    to->values[id].set = true;
    return OK;
}

/* Completes a case that changes one option. Copies the changed value to the case with all changes,
 * if there is one. If the spec has no baseline, also copies the option's original value to the
 * default baseline, unless may_be_compared forbids it. */
static enum status complete(struct spec *spec, struct matrix *of, bool has_baseline,
                            struct error *e)
{
    struct matrix *all = spec->matrix, *last = &all->cases[all->n_cases - 1];
    if (of->factor > 0 && !matrix_gives(of, of->scaled))
        TRY(scale(spec, of, e));
    for (enum option_id id = 0; id < OPTION_COUNT; id++) {
        if (!of->own.config.values[id].set)
            continue;
        if (last->changes == CHANGES_all)
            TRY(copy_option(&last->own.config, &of->own.config, id, e));
        if (has_baseline || !may_be_compared(spec, id))
            continue;
        TRY(copy_option(&all->baseline.config, &spec->config, id, e));
        all->has_baseline = true;
    }
    return OK;
}

enum status what_if_resolve(struct spec *spec, struct error *e)
{
    struct matrix *all = spec->matrix;
    bool has_baseline = all->has_baseline;
    for (size_t i = 0; i < all->n_cases; i++)
        if (all->cases[i].changes == CHANGES_one)
            TRY(complete(spec, &all->cases[i], has_baseline, e));
    return OK;
}
