/* The networks that a sweep goes through. */
#pragma once

#include "kernels/base/error.h"

/* Visits every network of configs/models, below SCALEBENCH_HOME if that is set, in the order of
 * their names. ERR_DATA where there is none: `option` is what names networks otherwise. */
enum status models_for_each(const char *option,
                            enum status (*visit)(void *arg, const char *path, struct error *e),
                            void *arg, struct error *e);
