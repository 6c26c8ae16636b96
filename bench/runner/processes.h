/* The processes below one, read from /proc: what a launch has started, whatever sessions and
 * process groups it made on the way. */
#pragma once

#include <sys/types.h>

/* Sends `signal` (0: none, count only) to every process below `root` but not to itself; zombies
 * are left out. Returns how many there were, -1 when /proc cannot be read. */
int processes_signal_below(pid_t root, int signal);
