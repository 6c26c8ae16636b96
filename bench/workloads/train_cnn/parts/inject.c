#include "bench/workloads/train_cnn/parts/inject.h"

#include <math.h>
#include <signal.h>
#include <time.h>

#include "kernels/base/clock.h"

int64_t inject_sleep(const struct inject *in, enum inject_phase phase, uint64_t step)
{
    if (inject_kills(in, phase, step))
        raise(SIGKILL);
    double seconds = inject_seconds(in, phase, step);
    if (seconds <= 0)
        return 0;
    int64_t begin_ns = clock_ns();
    struct timespec left = {.tv_sec = (time_t)seconds,
                            .tv_nsec = (long)(1e9 * (seconds - floor(seconds)))};
    while (nanosleep(&left, &left) != 0)
        ;
    return clock_ns() - begin_ns;
}
