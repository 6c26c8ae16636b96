/* Probes whether MPI lets ranks continue after another rank has died (ULFM; Bland et al.,
 * "Post-failure recovery of MPI communication capability", 2013). MPICH 4.0 to 4.3 with device ch4
 * declares ULFM's functions, but they end the process. */
#pragma once

#include <stdio.h>

#include "kernels/base/error.h"

/* Calls MPIX_Comm_shrink and MPIX_Comm_agree in a child process and prints the result in one line.
 * Call it before MPI_Init. */
enum status recovery_probe(FILE *out, struct error *e);
