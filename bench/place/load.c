#include "bench/place/load.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* "cpu1 user nice system idle iowait irq softirq steal ...", in ticks; time of guests is part of
 * user. */
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
