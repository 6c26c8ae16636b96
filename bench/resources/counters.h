/* Parses the kernel's counters of network interfaces and processes (files in /proc). Lines in an
 * unknown format are skipped, since kernels differ. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum { INTERFACE_NAME = 16, INTERFACES_MAX = 64 };

/* Indices of a network interface's counters, in the order in which the sampler writes the counters
 * to its file. */
enum traffic_count {
    TRAFFIC_RX_BYTES,
    TRAFFIC_RX_PACKETS,
    TRAFFIC_TX_BYTES,
    TRAFFIC_TX_PACKETS,
    TRAFFIC_COUNTS
};

/* Bytes and packets of one network interface since the interface was started, headers included. */
struct interface_counts {
    char name[INTERFACE_NAME];
    int64_t counts[TRAFFIC_COUNTS];
};

/* Parses the text of /proc/net/dev into interfaces[INTERFACES_MAX]. Returns the number of
 * interfaces found; interfaces without any traffic are left out. */
int counters_parse_interfaces(struct interface_counts *interfaces, const char *text);

/* Finds the interface of the default route with the lowest metric in the text of /proc/net/route.
 * Returns false if there is no default route. */
bool counters_parse_route(char name[INTERFACE_NAME], const char *text);

struct process_counts {
    char state; /* state letter; 'Z': zombie, which has ended but was not waited for */
    int parent;
    /* processor time of the process and of the children that it has waited for (clock ticks) */
    double user_ticks, sys_ticks;
    int64_t start_ticks; /* start time since boot; identifies the process together with its id */
    double resident_pages;
};

/* Parses the text of /proc/PID/stat, "PID (NAME) STATE PARENT ...". The name may contain blanks and
 * parentheses. Returns false if the text is malformed. */
bool counters_parse_process(struct process_counts *process, const char *text);

/* Returns the id of the process that was started last on the node; -1 if it is missing. `text`:
 * contents of /proc/loadavg, whose last word is this id. */
long counters_parse_last_process(const char *text);

/* Returns the increase of a counter between two readings. A fall from the upper to the lower half
 * of the 32-bit range is taken as a wrap, any other fall as a reset to 0. */
int64_t counters_advance(int64_t before, int64_t after);
