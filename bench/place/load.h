/* What runs on processors besides a launch: the kernel's counts of their time. */
#pragma once

#include <stdbool.h>

#include "bench/place/cpu_list.h"

/* Seconds of some processors since the machine began: in all, at work, and taken by a
 * hypervisor. */
struct load {
    double total_s, busy_s, steal_s;
};

/* Those of the processors 0..n-1 for which cpus[i] holds; false where the kernel does not tell. */
bool load_read(struct load *load, const bool *cpus, int n);

/* The same of the processors in a list such as "0" or "0-3,8". */
bool load_read_list(struct load *load, const char *list);

/* The same from the text of /proc/stat, of so many ticks a second. */
bool load_parse(struct load *load, const char *text, double ticks_per_s, const bool *cpus, int n);

/* Per cent of the processors' time between two readings that went to others than a program of ours
 * that used own_s seconds of it: to other programs, interrupts, the hypervisor. NAN where no time
 * passed. */
double load_foreign_pct(const struct load *before, const struct load *after, double own_s);

/* Per cent of the processors' time between two readings that a hypervisor took; NAN where no time passed. */
double load_steal_pct(const struct load *before, const struct load *after);

/* ---- A process's own view ---- */

/* The processors that a process may use, at a moment. */
struct load_mark {
    char cpus[256]; /* as Linux lists them; "": they could not be read */
    struct load load;
    double own_s; /* processor time of the process so far */
};

/* Seconds of these processors since a mark, NAN where the kernel does not tell; own_s: used by this process. */
struct load_share {
    double total_s, busy_s, steal_s, own_s;
};

/* Marks this moment for the processors that the calling thread may use. */
void load_mark_take(struct load_mark *mark);
struct load_share load_since(const struct load_mark *mark);
