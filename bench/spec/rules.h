/* Rules between values, and what must be given at all. */
#pragma once

#include "bench/spec/spec.h"
#include "kernels/base/error.h"

/* Before expansion: what concerns the whole campaign. */
enum status rules_check_spec(const struct spec *spec, struct error *e);

/* After it: what concerns single points, and the models they name. */
enum status rules_check_points(const struct spec *spec, struct error *e);
/* The part of it that looks at all points together. */
enum status rules_check_together(const struct spec *spec, struct error *e);

/* In checks of options against each other: returns ERR_ARGUMENT with a message from a function that has `enum option_id
 * *at`, which becomes the option whose line is to change, and `struct error *e`. */
#define REFUSE(option, ...)                                                                        \
    do {                                                                                           \
        *at = option;                                                                              \
        return error_set(e, ERR_ARGUMENT, __VA_ARGS__);                                            \
    } while (0)
