#include "bench/workloads/train_cnn/nic.h"

#include <inttypes.h>
#include <stdio.h>

static bool read_counter(int64_t *count, const char *name, const char *counter)
{
    char path[256];
    int length = snprintf(path, sizeof path, "/sys/class/net/%s/statistics/%s", name, counter);
    FILE *file = length < (int)sizeof path ? fopen(path, "r") : NULL;
    if (file == NULL)
        return false;
    bool read = fscanf(file, "%" SCNd64, count) == 1;
    fclose(file);
    return read;
}

bool nic_read(struct nic_counts *counts, const char *name)
{
    return read_counter(&counts->bytes_sent, name, "tx_bytes") &&
           read_counter(&counts->bytes_received, name, "rx_bytes") &&
           read_counter(&counts->packets_sent, name, "tx_packets") &&
           read_counter(&counts->packets_received, name, "rx_packets");
}
