/* Selects the algorithm of MPICH's allreduce through control variables (CVARs), which MPICH reads
 * at each allreduce. CVARs are set and read through MPI_T (MPI 4.0, chapter 15), before or after
 * MPI_Init.
 *
 * The description of such a CVAR lists names of algorithms. The CVAR's value is the index of one of
 * them. MPICH generates values and description from the same text (maint/extractcvars: "leading
 * word followed with ' - '"). */
#pragma once

#include "comm/cost/cost.h"
#include "kernels/base/error.h"

/* Makes every later allreduce of this process use `algorithm`, which must be equal on all ranks.
 * ALGORITHM_auto changes nothing, so values from the environment stay in effect. ERR_UNAVAILABLE
 * names the control variable or the algorithm that the MPI library lacks. */
enum status algorithm_use(enum allreduce_algorithm algorithm, struct error *e);

/* Values of MPICH's control variables, saved by algorithm_read and restored by algorithm_write. */
struct algorithm_settings {
    /* values of MPICH's control variables: the algorithms of MPI_Allreduce and MPI_Iallreduce, and
     * whether MPICH's device layer may override both (MPIR_CVAR_DEVICE_COLLECTIVES) */
    int blocking, nonblocking, device;
};
enum status algorithm_read(struct algorithm_settings *settings, struct error *e);
enum status algorithm_write(const struct algorithm_settings *settings, struct error *e);

/* Returns the allreduce algorithm that MPICH is set to use, as a name of algorithms.def. "auto":
 * MPICH's default, or the library lacks the control variables that select an algorithm. "other":
 * the environment sets values that scalebench never sets. */
const char *algorithm_in_use(void);

/* Returns the index of `name` among the names in a CVAR's description, or -1 if not found. A name
 * is the word before " - ": "auto - text nb - text" has the names auto and nb. The blank before a
 * name may be missing ("textnb - text"). */
int algorithm_number(const char *description, const char *name);
