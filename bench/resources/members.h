/* The processes of a launch on one node: whatever the launcher's process there has started, and what that
 * has started in turn. */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "bench/resources/node_samples.h"
#include "kernels/base/error.h"

struct member {
    pid_t pid;
    int64_t start_ticks;
};

struct members {
    const char *proc; /* "/proc", or what a test puts there; borrowed */
    double ticks_per_s, page_mib;
    struct member *all;
    size_t n, room;
    pid_t *known; /* every process of the node when they were last looked for, ascending */
    size_t n_known;
    long last_process;              /* that had been started then */
    double user_s, sys_s;           /* of all as they were last added up */
    double lost_user_s, lost_sys_s; /* of those that ended and nobody waited for */
};

/* Begins with the launcher's process alone. Closed with members_close in any case. */
enum status members_open(struct members *m, const char *proc, pid_t launcher, struct error *e);
void members_close(struct members *m);

/* Looks for new ones, where a process was started on the node since the last time: all others are known
 * and not looked at again. What cannot be read is passed over. */
enum status members_look(struct members *m, struct error *e);

/* Reads what the kernel counts of a process of the node; false where there is none. */
bool members_read_process(struct process_counts *process, const struct members *m, pid_t pid);

/* What they have used, into the values of a sample; unknown where there is none to read. */
void members_add_up(struct members *m, double values[SAMPLE_VALUES]);
