/* Checks that the options of a spec fit together and that required options are set. */
#pragma once

#include "bench/spec/spec.h"
#include "kernels/base/error.h"

/* Checks name, title, measurements, published values and baselines, before expansion. */
enum status rules_check_spec(const struct spec *spec, struct error *e);

/* Checks each point with its network, then all points together. Called after the spec has been
 * expanded into points. */
enum status rules_check_points(const struct spec *spec, struct error *e);
/* Checks all points together; called by rules_check_points. */
enum status rules_check_together(const struct spec *spec, struct error *e);

/* Makes the enclosing function return ERR_ARGUMENT with a message, and sets *at to the option to
 * change. The function must have `enum option_id *at` and `struct error *e`. */
#define REFUSE(option, ...)                                                                        \
    do {                                                                                           \
        *at = option;                                                                              \
        return error_set(e, ERR_ARGUMENT, __VA_ARGS__);                                            \
    } while (0)
