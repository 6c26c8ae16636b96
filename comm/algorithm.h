/* Which of its algorithms MPICH runs an allreduce by. Its control variables (CVARs) are read at
 * each call; they are set and read back through MPI_T (MPI 4.0, chapter 15), before or after MPI
 * starts.
 *
 * MPICH declares them as numbers. A name's number is its place in the description of the variable, from
 * which MPICH itself numbers them (maint/extractcvars: "leading word followed with ' - '"). */
#pragma once

#include "comm/cost/cost.h"
#include "kernels/base/error.h"

/* Makes every later allreduce of this process run by `algorithm`; the same on all ranks. For
 * ALGORITHM_auto nothing is touched, so that an environment that says otherwise stands.
 * ERR_UNAVAILABLE with what is missing when this library has no such algorithm. */
enum status algorithm_use(enum allreduce_algorithm algorithm, struct error *e);

/* What is set now, to be put back later. */
struct algorithm_settings {
    int blocking, nonblocking, device; /* values of the CVARs */
};
enum status algorithm_read(struct algorithm_settings *settings, struct error *e);
enum status algorithm_write(const struct algorithm_settings *settings, struct error *e);

/* The algorithm that the library says it uses, read back: a name of algorithms.def, "auto" also for
 * a library without such variables, or "other" for what only the environment can have set. */
const char *algorithm_in_use(void);

/* Number of `name` in a description "... auto - text nb - text": entries are words before " - ",
 * which may stand right behind the text before; -1: it is not there. */
int algorithm_number(const char *description, const char *name);
