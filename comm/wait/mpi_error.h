/* Return codes of MPI as a status. */
#pragma once

#include "kernels/base/error.h"

/* OK for MPI_SUCCESS; for other codes ERR_MPI, "OPERATION: " and the library's own words. */
enum status mpi_status(int code, const char *operation, struct error *e);
