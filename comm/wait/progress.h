/* Makes ranks yield their core while they wait inside MPI. MPICH polls for messages without a
 * pause. If there are more ranks than cores, a polling rank keeps the ranks that it waits for
 * from running for a whole time slice. Over UCX no setting of MPICH 4.0 changes that
 * (MPIR_CVAR_POLLS_BEFORE_YIELD is for other devices). */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Returns whether the launch has more ranks on this node than this rank may use processors.
 * Hydra states the number of ranks before MPI_Init; false under other launchers. The processors
 * of a machine, container, job or taskset are counted. Also true for ranks bound to one core
 * each: for them, yielding costs almost nothing. */
bool progress_is_crowded(void);

/* Makes this process yield whenever UCX finds nothing to do, from now on and within any MPI
 * call, MPI_Init and MPI_Finalize included. No effect if the library does not use UCX. */
void progress_yield(void);

/* Returns the number of yields so far. */
uint64_t progress_yields(void);
