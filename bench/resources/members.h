/* Finds the processes of a launch on one node: the launcher's process on this node and its
 * descendants. Adds up their use of resources. */
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
    const char *proc; /* "/proc" or, in a test, a folder with the same layout; borrowed */
    double ticks_per_s, page_mib;
    struct member *all;
    size_t n, room;
    pid_t *known; /* ids of all processes of the node at the last scan, ascending */
    size_t n_known;
    /* id of the process most recently started on the node, read at the last scan; -1: unknown */
    long last_process;
    double user_s, sys_s;           /* user and system time that members_add_up last wrote */
    double lost_user_s, lost_sys_s; /* user and system time (s) that vanished from the kernel's
                                       counters when processes of the launch ended */
};

/* Opens the list of members (processes of the launch on this node) with only the launcher's
 * process. Call members_close even after an error. */
enum status members_open(struct members *m, const char *proc, pid_t launcher, struct error *e);
void members_close(struct members *m);

/* Scans /proc for new processes of the launch. Does nothing if no process was started on the node
 * since the last call. Processes that cannot be read are skipped. */
enum status members_look(struct members *m, struct error *e);

/* Reads the kernel's counters of one process. Returns false if the process does not exist or its
 * counters cannot be read. */
bool members_read_process(struct process_counts *process, const struct members *m, pid_t pid);

/* Sets four values of a sample: the number of members (processes of the launch on this node), and
 * their total resident memory, user time and system time. NAN if no member can be read. */
void members_add_up(struct members *m, double values[SAMPLE_VALUES]);
