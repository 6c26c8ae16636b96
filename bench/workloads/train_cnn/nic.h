/* Counters of a network interface. */
#pragma once

#include <stdint.h>

/* Bytes that the interface `name` has sent since it came up, headers included; -1 where there is no
 * such interface. */
int64_t nic_bytes_sent(const char *name);
