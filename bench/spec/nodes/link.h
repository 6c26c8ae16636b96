/* What joins the hosts of an emulated site: site.rate and site.delay. */
#pragma once

#include "bench/spec/spec.h"
#include "kernels/base/error.h"

/* ERR_SPEC where rate or delay of a point are not written as tc reads them. */
enum status link_check(const struct config *config, struct error *e);
