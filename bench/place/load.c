#include "bench/place/load.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench/place/place.h"
#include "kernels/base/clock.h"

/* Adds the times of a line "cpu1 user nice system idle iowait irq softirq steal ..." (in ticks) to
 * `load`. Returns false for other lines and for processors outside `cpus`. `user` includes the time
 * of guests. */
static bool add_line(struct load *load, const char *line, double ticks_per_s, const bool *cpus,
                     int n)
{
    int cpu;
    double user, nice, system, idle, iowait, irq, softirq, steal;
    if (sscanf(line, "cpu%d %lf %lf %lf %lf %lf %lf %lf %lf", &cpu, &user, &nice, &system, &idle,
               &iowait, &irq, &softirq, &steal) != 9 ||
        cpu < 0 || cpu >= n || !cpus[cpu])
        return false;
    double busy = user + nice + system + irq + softirq;
    load->busy_s += busy / ticks_per_s;
    load->steal_s += steal / ticks_per_s;
    load->total_s += (busy + steal + idle + iowait) / ticks_per_s;
    return true;
}

bool load_parse(struct load *load, const char *text, double ticks_per_s, const bool *cpus, int n)
{
    bool found = false;
    *load = (struct load){0};
    for (const char *line = text; line != NULL; line = strchr(line, '\n')) {
        line += *line == '\n';
        found |= add_line(load, line, ticks_per_s, cpus, n);
    }
    return found;
}

bool load_read(struct load *load, const bool *cpus, int n)
{
    char *text = NULL;
    size_t size = 0;
    FILE *file = fopen("/proc/stat", "re");
    if (file == NULL)
        return false;
    bool read = getdelim(&text, &size, '\0', file) > 0 &&
                load_parse(load, text, (double)sysconf(_SC_CLK_TCK), cpus, n);
    free(text);
    fclose(file);
    return read;
}

bool load_read_list(struct load *load, const char *list)
{
    bool cpus[CPUS_MAX] = {false};
    return cpu_list_mark(cpus, list) && load_read(load, cpus, CPUS_MAX);
}

double load_foreign_pct(const struct load *before, const struct load *after, double own_s)
{
    double total_s = after->total_s - before->total_s;
    double others_s = fmax(0, after->busy_s - before->busy_s - own_s);
    double steal_s = after->steal_s - before->steal_s;
    return total_s > 0 ? fmin(100, 100 * (others_s + steal_s) / total_s) : NAN;
}

double load_steal_pct(const struct load *before, const struct load *after)
{
    double total_s = after->total_s - before->total_s;
    return total_s > 0 ? 100 * (after->steal_s - before->steal_s) / total_s : NAN;
}

/* ---- Load seen by one process ---- */

void load_mark_take(struct load_mark *mark)
{
    bool known = place_read_back(mark->cpus, sizeof mark->cpus, NULL) == OK;
    if (!known || !load_read_list(&mark->load, mark->cpus))
        mark->cpus[0] = '\0';
    mark->own_s = 1e-9 * (double)clock_process_ns();
}

struct load_share load_since(const struct load_mark *mark)
{
    struct load now;
    const struct load *then = &mark->load;
    if (!load_read_list(&now, mark->cpus))
        return (struct load_share){NAN, NAN, NAN, NAN};
    return (struct load_share){.total_s = now.total_s - then->total_s,
                               .busy_s = now.busy_s - then->busy_s,
                               .steal_s = now.steal_s - then->steal_s,
                               .own_s = 1e-9 * (double)clock_process_ns() - mark->own_s};
}
