/* The processes below one, read from /proc: what a launch has started, whatever sessions and
 * process groups it made on the way. */
#pragma once

#include <sys/types.h>

/* Sends `signal` (0: none, count only) to every process below `root` but not to itself; zombies
 * are left out. Returns how many were found. */
int processes_signal_below(pid_t root, int signal);

/* How a child of `parent` ended that did not end well and that its parent has not asked for, as waitpid gives it.
 * 0: there is none, or the kernel does not list children (CONFIG_PROC_CHILDREN). */
int processes_failed_child(pid_t parent);
