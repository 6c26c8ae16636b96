/* Return codes of MPI as a status. */
#ifndef SCALEBENCH_COMM_WAIT_MPI_ERROR_H
#define SCALEBENCH_COMM_WAIT_MPI_ERROR_H

#include "kernels/base/error.h"

/* OK for MPI_SUCCESS; for other codes ERR_MPI, "OPERATION: " and the library's own words. */
enum status mpi_status(int code, const char *operation, struct error *e);

#endif
