/* What a rank does inside a call of the library that waits. MPICH looks for messages there without a pause, and where
 * ranks outnumber cores one that does keeps those that it waits for from running for a whole turn of the scheduler.
 * Over UCX no setting of MPICH 4.0 changes that (MPIR_CVAR_POLLS_BEFORE_YIELD is of other devices). */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Whether this node has more ranks of the launch, as Hydra tells a rank before MPI_Init, than this rank may use processors:
 * all of the machine, or of its container, job or taskset; false where another launcher started it. Of ranks that are
 * bound to a core each it is true, too: yielding costs them next to nothing. */
bool progress_is_crowded(void);

/* From now on this process lets others have its core whenever UCX has found nothing to do, inside any call, those that
 * begin and end MPI included. Of a library without UCX calls spin as before. */
void progress_yield(void);

/* How often it did. */
uint64_t progress_yields(void);
