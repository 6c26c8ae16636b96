/* Removes shared-memory files of killed ranks. MPI creates these files while it starts, and removes
 * them once all ranks of the node have opened them. */
#pragma once

#include <time.h>

/* Removes shared-memory files of MPI that this user has written in /dev/shm and /tmp since `begin`
 * (CLOCK_REALTIME), unless a process has them open or mapped. Call it when a launch's processes
 * have ended. Returns the number of files still in use. */
int leftovers_remove(struct timespec begin);
