/* What ranks leave in shared memory when they are killed while MPI starts: it makes files there
 * that it removes as soon as all ranks of the node have them open. */
#pragma once

#include <time.h>

/* Once a launch's processes are gone: removes such files of this user from /dev/shm and /tmp that
 * were written since `begin` (CLOCK_REALTIME) and that no process has open or mapped. Their names
 * do not tell whose they were; those of a job that lives are held by the rank that made them.
 * Returns how many were held, which may be those of others. */
int leftovers_remove(struct timespec begin);
