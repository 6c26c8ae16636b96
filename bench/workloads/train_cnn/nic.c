#include "bench/workloads/train_cnn/nic.h"

#include <inttypes.h>
#include <stdio.h>

int64_t nic_bytes_sent(const char *name)
{
    char path[256];
    int64_t bytes;
    int length = snprintf(path, sizeof path, "/sys/class/net/%s/statistics/tx_bytes", name);
    FILE *file = length < (int)sizeof path ? fopen(path, "r") : NULL;
    if (file == NULL)
        return -1;
    if (fscanf(file, "%" SCNd64, &bytes) != 1)
        bytes = -1;
    fclose(file);
    return bytes;
}
