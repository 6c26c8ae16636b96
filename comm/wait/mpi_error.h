/* Turns MPI error codes into the project's errors. */
#pragma once

#include "kernels/base/error.h"

/* Returns OK for MPI_SUCCESS. Otherwise ERR_MPI, whose message is "OPERATION: " and MPI's own
 * text. */
enum status mpi_status(int code, const char *operation, struct error *e);
