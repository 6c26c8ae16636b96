/* Counters of a network interface. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Bytes of an interface since it came up, headers included. */
struct nic_bytes {
    int64_t sent, received;
};

/* False where there is no interface `name`. */
bool nic_read(struct nic_bytes *bytes, const char *name);
