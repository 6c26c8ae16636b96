/* Removes shared-memory files of killed ranks. MPI creates these files while it starts, and removes
 * them once all ranks of the node have opened them. */
#pragma once

#include <time.h>

/* Removes shared-memory files that MPI made for this user in /dev/shm and /tmp. Call it when a
 * launch's processes have ended. File names do not identify the launch. So the function removes
 * only files that were written since `begin` (CLOCK_REALTIME) and that no process has open or
 * mapped. Returns the number of files still in use, perhaps by other launches. */
int leftovers_remove(struct timespec begin);
