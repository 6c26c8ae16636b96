/* Searches /proc for all processes below a process: everything that a launch has started, in any
 * session or process group. */
#pragma once

#include <sys/types.h>

/* Sends `signal` to every process below `root`, except zombies and `root` itself. Signal 0 only
 * counts the processes. Returns the number of processes found. */
int processes_signal_below(pid_t root, int signal);

/* Returns the wait status of a child of `parent` that failed and was not waited for. 0: no such
 * child, or the kernel does not list children (CONFIG_PROC_CHILDREN). */
int processes_failed_child(pid_t parent);
