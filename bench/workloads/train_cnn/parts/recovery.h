/* Probes whether ranks could continue after the death of one: user-level failure mitigation (ULFM;
 * Bland et al., "Post-failure recovery of MPI communication capability", 2013). Some MPI libraries
 * declare its calls without support: MPICH 4.0 to 4.3 with device ch4 ends the process. */
#pragma once

#include <stdio.h>

#include "kernels/base/error.h"

/* Tries MPIX_Comm_shrink and MPIX_Comm_agree in a child process and prints the result in one line.
 * Call it before MPI starts. */
enum status recovery_probe(FILE *out, struct error *e);
