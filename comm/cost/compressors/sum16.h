/* A sum of numbers of 16 bits, as comm/compressors/sum16.c makes it. Internal to comm/cost. */
#pragma once

#include "comm/cost/description.h"

void sum16_add(struct cost *c, const struct strategy_config *config, const struct participant *p,
               const struct gradient *g);
