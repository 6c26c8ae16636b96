/* Processes below a process, read from /proc: everything that a launch has started, in any
 * session or process group. */
#pragma once

#include <sys/types.h>

/* Sends `signal` to every process below `root`, without `root` itself and zombies; 0 only
 * counts. Returns how many processes were found. */
int processes_signal_below(pid_t root, int signal);

/* Returns the wait status of a failed child of `parent` that is not reaped yet. 0 if there is
 * none, or if the kernel does not list children (CONFIG_PROC_CHILDREN). */
int processes_failed_child(pid_t parent);
