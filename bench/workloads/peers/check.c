#include "bench/workloads/peers/check.h"

#include <string.h>

bool peer_take_check(int *argc, char **argv)
{
    int n = 1;
    for (int i = 1; i < *argc; i++)
        if (strcmp(argv[i], "--check") != 0 && strncmp(argv[i], "--check=", 8) != 0)
            argv[n++] = argv[i];
    bool found = n < *argc;
    *argc = n;
    argv[n] = NULL;
    return found;
}
