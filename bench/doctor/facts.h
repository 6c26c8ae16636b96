/* Reads facts about a node that its operating system reports. */
#pragma once

#include "bench/doctor/table.h"

/* Sets the facts that the kernel reports in files below `root` ("" except in tests). Call
 * doctor_clear before: facts whose file is missing then stay unknown. */
void facts_read(struct doctor_node *node, const char *root);

/* A network interface of this node, and the number of bytes that it has sent since boot. */
struct counted {
    char interface[DOCTOR_TEXT];
    double bytes;
};
enum { COUNTED_MAX = 64 };

/* Writes to `counted` [COUNTED_MAX] the bytes each interface has sent since boot: network
 * interfaces with traffic, then ports of fast networks such as InfiniBand. Returns the number of
 * interfaces. */
int facts_count_sent(struct counted *counted, const char *root);

/* Returns the interface that sent the most bytes between two readings, if it sent at least half of
 * `bytes`; otherwise "". */
const char *facts_carrier(const struct counted *before, int n_before, const struct counted *after,
                          int n_after, double bytes);
