/* Facts that a node's system reports. */
#pragma once

#include "bench/doctor/table.h"

/* Reads files below `root` ("" except in tests) into machine, kernel, cpu, governor, turbo,
 * clock_source, memory_gib, huge_pages and fabric. Facts without a file keep their values. */
void facts_read(struct doctor_node *node, const char *root);

/* Bytes that an interface of this node has sent so far. */
struct counted {
    char interface[DOCTOR_TEXT];
    double bytes;
};
enum { COUNTED_MAX = 64 };

/* Counts network interfaces first, then ports of fast networks. Returns their number. */
int facts_count_sent(struct counted *counted, const char *root);

/* Returns the interface whose counter advanced most, if by at least half of `bytes`; else "". */
const char *facts_carrier(const struct counted *before, int n_before, const struct counted *after,
                          int n_after, double bytes);
