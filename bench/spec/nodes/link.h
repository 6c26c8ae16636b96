/* Checks the link between emulated hosts: site.rate and site.delay. */
#pragma once

#include "bench/spec/spec.h"
#include "kernels/base/error.h"

/* ERR_SPEC if rate or delay is not in the format of tc. */
enum status link_check(const struct config *config, struct error *e);
