/* What runs on processors besides a launch: the kernel's counts of their time. */
#pragma once

#include <stdbool.h>

/* Seconds of some processors since the machine began: in all, at work, and taken by a
 * hypervisor. */
struct load {
    double total_s, busy_s, steal_s;
};

/* Those of the processors 0..n-1 for which cpus[i] holds; false where the kernel does not tell. */
bool load_read(struct load *load, const bool *cpus, int n);

/* The same from the text of /proc/stat, of so many ticks a second. */
bool load_parse(struct load *load, const char *text, double ticks_per_s, const bool *cpus, int n);

/* Per cent of the processors' time between two readings that went to others than a program of ours
 * that used own_s seconds of it: to other programs, interrupts, the hypervisor. NAN where no time
 * passed. */
double load_foreign_pct(const struct load *before, const struct load *after, double own_s);

/* Per cent of the processors' time between two readings that a hypervisor took; NAN where no time passed. */
double load_steal_pct(const struct load *before, const struct load *after);
