/* Selects the algorithm by which MPICH runs an allreduce. MPICH reads its control variables (CVARs)
 * at each call. They are written and read through MPI_T (MPI 4.0, chapter 15), before or after MPI
 * starts.
 *
 * MPICH declares these variables as numbers. The number of an algorithm is its position in the
 * description of the variable, from which MPICH itself numbers them (maint/extractcvars:
 * "leading word followed with ' - '"). */
#pragma once

#include "comm/cost/cost.h"
#include "kernels/base/error.h"

/* Makes every later allreduce of this process run by `algorithm`, which must be equal on all
 * ranks. ALGORITHM_auto changes nothing, so settings of the environment remain. ERR_UNAVAILABLE
 * names the missing part if the library lacks the algorithm. */
enum status algorithm_use(enum allreduce_algorithm algorithm, struct error *e);

/* Settings of the library, saved by algorithm_read and restored by algorithm_write. */
struct algorithm_settings {
    int blocking, nonblocking, device; /* values of the CVARs */
};
enum status algorithm_read(struct algorithm_settings *settings, struct error *e);
enum status algorithm_write(const struct algorithm_settings *settings, struct error *e);

/* Returns the algorithm that the library is set to use: a name of algorithms.def, "auto" also if
 * the library has no such variables, or "other" for settings that only the environment can have
 * made. */
const char *algorithm_in_use(void);

/* Returns the number of `name` in a description such as "... auto - text nb - text", or -1 if it
 * is not found. Entries are words before " - ", which may follow other text without a blank. */
int algorithm_number(const char *description, const char *name);
