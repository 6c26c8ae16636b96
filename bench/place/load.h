/* Measures the processor time that a launch loses to other programs and a hypervisor. The data come
 * from /proc/stat. */
#pragma once

#include <stdbool.h>

#include "bench/place/cpu_list.h"

/* Processor time since boot (s), summed over a set of processors: total, busy, and stolen by a
 * hypervisor. */
struct load {
    double total_s, busy_s, steal_s;
};

/* Reads the load of all processors i < n for which cpus[i] is true. Returns false if /proc/stat
 * cannot be read or has none of the processors. */
bool load_read(struct load *load, const bool *cpus, int n);

/* Reads the load of the processors in a list such as "0" or "0-3,8". Returns false if the list is
 * malformed or load_read fails. */
bool load_read_list(struct load *load, const char *list);

/* Parses the text of /proc/stat for all processors i < n for which cpus[i] is true. Returns false
 * if no such processor is found. */
bool load_parse(struct load *load, const char *text, double ticks_per_s, const bool *cpus, int n);

/* Returns the share (%) of processor time that other programs, interrupts and the hypervisor took
 * between two readings; NAN if no time passed. own_s: processor time of the measured program (s),
 * which does not count. */
double load_foreign_pct(const struct load *before, const struct load *after, double own_s);

/* Returns the share (%) of processor time that a hypervisor stole between two readings; NAN if no
 * time passed. */
double load_steal_pct(const struct load *before, const struct load *after);

/* ---- Load seen by one process ---- */

/* Snapshot at the start of a measurement: load of the processors that the calling thread may use,
 * and processor time of this process. */
struct load_mark {
    char cpus[256]; /* list of the processors, such as "0-3,8"; "": unknown */
    struct load load;
    double own_s; /* processor time of this process so far */
};

/* Processor time since a load_mark was taken, in seconds; NAN if unknown. own_s: time of this
 * process. Other members: sums over the processors of the load_mark. */
struct load_share {
    double total_s, busy_s, steal_s, own_s;
};

/* Sets *mark to the load of the usable processors and to this process's processor time so far. Sets
 * mark->cpus to "" if the load is unknown. */
void load_mark_take(struct load_mark *mark);
struct load_share load_since(const struct load_mark *mark);
