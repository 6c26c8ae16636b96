/* What the sites that start ranks through mpiexec share. */
#ifndef SCALEBENCH_SITES_MPIEXEC_H
#define SCALEBENCH_SITES_MPIEXEC_H

#include <stddef.h>

#include "bench/place/place.h"
#include "bench/spec/spec.h"
#include "kernels/base/error.h"

/* The launcher: $MPIEXEC, mpiexec.mpich or mpiexec. ERR_UNAVAILABLE where there is none. */
enum status mpiexec_find(char *path, size_t size, struct error *e);

/* Gives each rank of a point cores of this machine of its own. ERR_UNAVAILABLE with the reason when
 * there are not enough. */
enum status mpiexec_plan(const struct config *config, const struct place *place,
                         struct place_plan *plan, struct error *e);

/* Extra environment of the ranks, freed with free; NULL without memory. */
char **mpiexec_environment(void);

#endif
