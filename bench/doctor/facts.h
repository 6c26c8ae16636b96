/* What a node's system says of itself. */
#pragma once

#include "bench/doctor/table.h"

/* Fills what files below `root` ("" but in tests) tell: machine, kernel, cpu, governor, turbo, clock_source,
 * memory_gib, huge_pages, fabric. What is not told is left as it is. */
void facts_read(struct doctor_node *node, const char *root);

/* What has gone out of this node so far, by the interface that counted it. */
struct counted {
    char interface[DOCTOR_TEXT];
    double bytes;
};
enum { COUNTED_MAX = 64 };

/* Interfaces of the network, then ports of fast networks; how many. */
int facts_count_sent(struct counted *counted, const char *root);

/* The name of the one that advanced by at least half of `bytes`, the furthest of them; "" where none did. */
const char *facts_carrier(const struct counted *before, int n_before, const struct counted *after,
                          int n_after, double bytes);
