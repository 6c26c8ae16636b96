/* What the kernel counts of interfaces and processes, from the text of its files in /proc. Lines that are not as
 * expected are passed over: kernels differ. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum { INTERFACE_NAME = 16, INTERFACES_MAX = 64 };

/* In the order in which they are counted. */
enum traffic_count {
    TRAFFIC_RX_BYTES,
    TRAFFIC_RX_PACKETS,
    TRAFFIC_TX_BYTES,
    TRAFFIC_TX_PACKETS,
    TRAFFIC_COUNTS
};

/* Of one network interface since it came up, headers included. */
struct interface_counts {
    char name[INTERFACE_NAME];
    int64_t counts[TRAFFIC_COUNTS];
};

/* Those of /proc/net/dev into interfaces[INTERFACES_MAX]; how many. One that never carried anything is left
 * out. */
int counters_parse_interfaces(struct interface_counts *interfaces, const char *text);

/* The interface of the default route of least metric, from /proc/net/route; false: there is none. */
bool counters_parse_route(char name[INTERFACE_NAME], const char *text);

struct process_counts {
    char state; /* 'Z': it has ended, and nobody has waited for it */
    int parent;
    double user_ticks, sys_ticks; /* with those of children that it has waited for */
    int64_t start_ticks;          /* when it began: with its number, who it is */
    double resident_pages;
};

/* Of /proc/PID/stat, "PID (NAME) STATE PARENT ..."; a name may hold blanks and parentheses. */
bool counters_parse_process(struct process_counts *process, const char *text);

/* The number of the last process that was started on the node, the last word of /proc/loadavg; -1: not
 * told. */
long counters_parse_last_process(const char *text);

/* How far a counter went from one reading to the next. One of 32 bits begins anew where it is full, and one
 * of an interface that was reset has counted since. */
int64_t counters_advance(int64_t before, int64_t after);
