/* Removes shared-memory files of killed ranks. MPI creates these files while it starts, and removes
 * them once all ranks of the node have opened them. */
#pragma once

#include <time.h>

/* Removes such files of this user from /dev/shm and /tmp. Call it when a launch's processes have
 * ended. Only files written since `begin` (CLOCK_REALTIME) that no process has open or mapped are
 * removed, since their names do not identify their launch. Returns the number of files still in
 * use, perhaps by other launches. */
int leftovers_remove(struct timespec begin);
