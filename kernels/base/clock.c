#include "kernels/base/clock.h"

#include <time.h>

static int64_t read_ns(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

int64_t clock_ns(void)
{
    return read_ns(CLOCK_MONOTONIC);
}

int64_t clock_process_ns(void)
{
    return read_ns(CLOCK_PROCESS_CPUTIME_ID);
}

double clock_date_s(void)
{
    return 1e-9 * (double)read_ns(CLOCK_REALTIME);
}

double clock_seconds_since(int64_t begin_ns)
{
    return 1e-9 * (double)(clock_ns() - begin_ns);
}

void clock_calibrate(int64_t *resolution_ns, int64_t *overhead_ns)
{
    enum { ROUNDS = 20, READINGS = 500 };
    *resolution_ns = INT64_MAX;
    *overhead_ns = INT64_MAX;
    for (int round = 0; round < ROUNDS; round++) {
        int64_t begin = clock_ns(), last = begin;
        for (int i = 0; i < READINGS; i++) {
            int64_t now = clock_ns();
            if (now > last && now - last < *resolution_ns)
                *resolution_ns = now - last;
            last = now;
        }
        if ((last - begin) / READINGS < *overhead_ns)
            *overhead_ns = (last - begin) / READINGS;
    }
}
