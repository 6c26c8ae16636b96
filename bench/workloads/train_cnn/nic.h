/* Counters of a network interface. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Of an interface since it came up: bytes, headers included, and packets, as the kernel hands them on. */
struct nic_counts {
    int64_t bytes_sent, bytes_received, packets_sent, packets_received;
};

/* False where there is no interface `name`. */
bool nic_read(struct nic_counts *counts, const char *name);
