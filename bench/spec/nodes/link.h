/* Checks the options of the link between emulated or simulated hosts: site.rate and site.delay. */
#pragma once

#include "bench/spec/spec.h"
#include "kernels/base/error.h"

/* Returns ERR_SPEC if site.rate or site.delay is neither `none` nor a positive number with a unit.
 * Units of a rate: bit, kbit, mbit, gbit, tbit. Units of a delay: us, ms, s. */
enum status link_check(const struct config *config, struct error *e);
