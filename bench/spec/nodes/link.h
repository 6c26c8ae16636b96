/* Checks the link between emulated or simulated hosts: site.rate and site.delay. */
#pragma once

#include "bench/spec/spec.h"
#include "kernels/base/error.h"

/* Returns ERR_SPEC if site.rate or site.delay is neither `none` nor in the format of tc. */
enum status link_check(const struct config *config, struct error *e);
