/* Whether ranks could go on in place when one of them dies: user-level failure mitigation (ULFM; Bland et al.,
 * "Post-failure recovery of MPI communication capability", 2013). Its calls are declared by MPI libraries that do not
 * have it: those of MPICH's device ch4, 4.0 to 4.3, end the process. */
#pragma once

#include <stdio.h>

#include "kernels/base/error.h"

/* Tries MPIX_Comm_shrink and MPIX_Comm_agree in a process of its own, by itself, and prints in one line what
 * became of it. Before MPI has started. */
enum status recovery_probe(FILE *out, struct error *e);
