/* Measures the cost of probing a launch. `speed_view PAIRS CPUS COMMAND...` runs the command 2
 * PAIRS times, by turns with and without the probes that a campaign takes. It prints one line per
 * pair: both times in ms, "with without". The first CPUS processors of this program are probed.
 * Part of `make bench-overhead`. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench/place/cpu_list.h"
#include "bench/place/place.h"
#include "bench/place/view.h"
#include "kernels/base/clock.h"

enum { PROCESSORS = 4096 };

/* Returns whether the command succeeded. */
static bool run(char **command)
{
    int status = -1;
    pid_t child = fork();
    if (child == 0) {
        int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
        if (nowhere >= 0 && dup2(nowhere, STDOUT_FILENO) >= 0)
            execvp(command[0], command);
        _exit(127);
    }
    return child > 0 && waitpid(child, &status, 0) == child && status == 0;
}

/* Returns the time of a launch expected to take wall_s, in seconds; 0 if it failed. */
static double time_launch(char **command, const bool *cpus, bool look, double wall_s)
{
    struct view view;
    int64_t begin = clock_ns();
    double probe_s = look ? probe_seconds(wall_s, cpus, PROCESSORS) : 0;
    if (look)
        view_before(&view, cpus, PROCESSORS, probe_s);
    if (!run(command))
        return 0;
    if (look)
        view_after(&view, cpus, PROCESSORS, probe_s);
    return clock_seconds_since(begin);
}

/* Alternates which of the two comes first. The expected time is the time of the last launch without
 * probes, since a campaign's times of launches exclude the probes. */
static bool print_pairs(long pairs, char **command, const bool *cpus)
{
    double plain_s = time_launch(command, cpus, false, 0);
    for (long i = 0; i < pairs && plain_s > 0; i++) {
        double looked_s = 0;
        for (int turn = 0; turn < 2; turn++)
            if ((turn + i) % 2 == 0)
                looked_s = time_launch(command, cpus, true, plain_s);
            else
                plain_s = time_launch(command, cpus, false, 0);
        if (!(looked_s > 0 && plain_s > 0))
            return false;
        printf("%.6f %.6f\n", 1e3 * looked_s, 1e3 * plain_s);
    }
    return plain_s > 0;
}

int main(int argc, char **argv)
{
    char list[PROCESSORS];
    int numbers[PROCESSORS];
    bool cpus[PROCESSORS] = {false};
    struct error e = {0};
    if (argc < 4 || place_read_back(list, sizeof list, &e) != OK) {
        fprintf(stderr, "speed_view PAIRS CPUS COMMAND...\n");
        return 2;
    }
    int n = cpu_list_parse(list, numbers, PROCESSORS);
    for (int i = 0; i < n && i < atoi(argv[2]); i++)
        cpus[numbers[i]] = true;
    if (print_pairs(strtol(argv[1], NULL, 10), argv + 3, cpus))
        return 0;
    fprintf(stderr, "speed_view: the command failed\n");
    return 1;
}
