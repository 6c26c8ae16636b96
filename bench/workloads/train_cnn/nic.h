/* Counters of a network interface. */
#ifndef SCALEBENCH_BENCH_WORKLOADS_TRAIN_CNN_NIC_H
#define SCALEBENCH_BENCH_WORKLOADS_TRAIN_CNN_NIC_H

#include <stdint.h>

/* Bytes that the interface `name` has sent since it came up, headers included; -1 where there is no
 * such interface. */
int64_t nic_bytes_sent(const char *name);

#endif
