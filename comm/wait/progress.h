/* Makes ranks yield their core while they wait inside MPI. MPICH polls without a pause: if ranks
 * outnumber cores, a polling rank can keep the awaited rank off its core for a whole time slice.
 * Over UCX no setting of MPICH 4.0 prevents this (MPIR_CVAR_POLLS_BEFORE_YIELD is for other
 * devices). */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Returns whether the launch has more ranks on this node than processors that this rank may use.
 * False under launchers other than Hydra: they do not state the number of ranks before MPI_Init.
 * Also true if each of several ranks is bound to its own processor, but yielding then costs almost
 * nothing. */
bool progress_is_crowded(void);

/* From now on, makes this process yield whenever UCX finds nothing to do during an MPI call. No
 * effect if the MPI library does not use UCX. */
void progress_yield(void);

/* Returns the number of times that this process has yielded inside MPI. */
uint64_t progress_yields(void);
