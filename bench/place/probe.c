#include "bench/place/probe.h"

#include <errno.h>
#include <math.h>
#include <sched.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench/base/file.h"
#include "kernels/base/clock.h"
#include "kernels/base/stats.h"

enum { LANES = 16, PIECE = 4096, REPETITIONS_MAX = 1024 };

/* Result of one probe process, in memory shared with its parent. */
struct finding {
    double work_us, mhz;
    float sum; /* result of the computation; stored so that the compiler keeps it */
};

/* Duration of one probe, as a share of the launch's time. PROBE_MAX_S limits the duration. */
#define PROBE_SHARE 0.01
/* Seconds to start and end a child process (measured on a virtual machine). */
#define PROBE_CHILD_S 0.0005
/* Largest share of a launch's time that its two probes and their child processes may take. */
#define PROBE_ALL 0.05
/* Shortest and longest probe, in seconds. If a launch is too short for the shortest probe, it gets
 * none. */
#define PROBE_MIN_S 0.001
#define PROBE_MAX_S 0.010

static int count(const bool *cpus, int n)
{
    int used = 0;
    for (int cpu = 0; cpu < n; cpu++)
        used += cpus[cpu];
    return used;
}

double probe_seconds(double wall_s, const bool *cpus, int n)
{
    double seconds = fmin(PROBE_SHARE * wall_s, PROBE_MAX_S);
    double all_s = 2 * (seconds + count(cpus, n) * PROBE_CHILD_S);
    return seconds >= PROBE_MIN_S && all_s <= PROBE_ALL * wall_s ? seconds : 0;
}

/* Does the work that a probe times: additions and multiplications in registers, so that the speed
 * does not depend on memory. */
static float compute(float x)
{
    float lanes[LANES], sum = 0;
    for (int i = 0; i < LANES; i++)
        lanes[i] = x + (float)i;
    for (int k = 0; k < PIECE; k++)
        for (int i = 0; i < LANES; i++)
            lanes[i] = lanes[i] * 0.999f + 0.001f;
    for (int i = 0; i < LANES; i++)
        sum += lanes[i];
    return sum;
}

/* Reads the current frequency of a processor in MHz from a file in kHz. NAN if the frequency driver
 * does not provide the file. */
static double read_mhz(int cpu)
{
    char path[96];
    snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/cpufreq/scaling_cur_freq", cpu);
    return file_number(path) / 1e3;
}

/* Repeats the computation on one processor for `seconds`. Stores the median time, without the first
 * repetition (wake-up), and the frequency in *finding. Leaves *finding unchanged if the processor
 * cannot be used. */
static void work(struct finding *finding, int cpu, double seconds)
{
    double times[REPETITIONS_MAX];
    int n = 0;
    cpu_set_t *set = CPU_ALLOC(cpu + 1);
    size_t size = CPU_ALLOC_SIZE(cpu + 1);
    if (set == NULL)
        return;
    CPU_ZERO_S(size, set);
    CPU_SET_S((size_t)cpu, size, set);
    if (sched_setaffinity(0, size, set) != 0)
        return;
    int64_t begin = clock_ns(), last = begin;
    while (n < REPETITIONS_MAX && (n < 2 || (double)(last - begin) < 1e9 * seconds)) {
        finding->sum = compute(finding->sum);
        int64_t now = clock_ns();
        times[n++] = 1e-3 * (double)(now - last);
        last = now;
    }
    finding->mhz = read_mhz(cpu);
    finding->work_us = stats_median(times + 1, (size_t)n - 1);
}

static pid_t start(struct finding *finding, int cpu, double seconds)
{
    finding->work_us = finding->mhz = NAN;
    pid_t child = fork();
    if (child == 0) {
        work(finding, cpu, seconds);
        _exit(0);
    }
    return child;
}

/* Returns the mean frequency (MHz) of the processors, from lines such as "cpu MHz : 2100.000" in
 * /proc/cpuinfo; NAN if there are none. */
static double read_mean_mhz(const bool *cpus, int n)
{
    char line[256];
    int cpu = -1, found = 0;
    double mhz, sum = 0;
    FILE *file = fopen("/proc/cpuinfo", "re");
    while (file != NULL && fgets(line, sizeof line, file) != NULL) {
        if (sscanf(line, "processor : %d", &cpu) == 1 || sscanf(line, "cpu MHz : %lf", &mhz) != 1 ||
            cpu < 0 || cpu >= n || !cpus[cpu])
            continue;
        sum += mhz;
        found++;
    }
    if (file != NULL)
        fclose(file);
    return found > 0 ? sum / found : NAN;
}

static struct probe summarise(const struct finding *findings, const bool *cpus, int n, int used)
{
    struct probe probe = {.work_us = 0, .mhz = 0};
    for (int i = 0; i < used; i++) {
        bool known = probe.work_us >= 0 && findings[i].work_us > 0;
        probe.work_us = known ? fmax(probe.work_us, findings[i].work_us) : NAN;
        probe.mhz += findings[i].mhz / used;
    }
    if (isnan(probe.mhz))
        probe.mhz = read_mean_mhz(cpus, n);
    return probe;
}

struct probe probe_run(const bool *cpus, int n, double seconds)
{
    int used = count(cpus, n);
    size_t room = (size_t)used * (sizeof(struct finding) + sizeof(pid_t));
    void *memory = used > 0
                       ? mmap(NULL, room, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0)
                       : MAP_FAILED;
    if (memory == MAP_FAILED)
        return (struct probe){.work_us = NAN, .mhz = NAN};
    struct finding *findings = memory;
    pid_t *children = (pid_t *)(findings + used);
    for (int cpu = 0, i = 0; cpu < n; cpu++)
        if (cpus[cpu]) {
            children[i] = start(&findings[i], cpu, seconds);
            i++;
        }
    for (int i = 0; i < used; i++)
        while (children[i] > 0 && waitpid(children[i], NULL, 0) < 0 && errno == EINTR)
            ;
    struct probe probe = summarise(findings, cpus, n, used);
    munmap(memory, room);
    return probe;
}
