#include "comm/wait/mpi_error.h"

#include <mpi.h>

enum status mpi_status(int code, const char *operation, struct error *e)
{
    char text[MPI_MAX_ERROR_STRING];
    int length = 0;
    if (code == MPI_SUCCESS)
        return OK;
    MPI_Error_string(code, text, &length);
    return error_set(e, ERR_MPI, "%s: %.*s", operation, length, text);
}
