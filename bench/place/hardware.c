#include "bench/place/hardware.h"

#include <stdio.h>
#include <string.h>

#include "bench/base/file.h"

void hardware_cpu(char *text, size_t size)
{
    static const char *const keys[] = {"model name", "CPU part"};
    char line[512];
    FILE *f = fopen("/proc/cpuinfo", "re");
    text[0] = '\0';
    while (f != NULL && text[0] == '\0' && fgets(line, sizeof line, f) != NULL) {
        char *colon = strstr(line, ": ");
        line[strcspn(line, "\n")] = '\0';
        for (size_t i = 0; colon != NULL && i < sizeof keys / sizeof *keys; i++)
            if (strncmp(line, keys[i], strlen(keys[i])) == 0)
                snprintf(text, size, "%s", colon + 2);
    }
    if (f != NULL)
        fclose(f);
}

void hardware_machine(char *text, size_t size)
{
    file_first_line("/proc/sys/kernel/random/boot_id", text, size);
}

void hardware_caches(char *text, size_t size)
{
    char path[96], line[64];
    size_t used = 0;
    text[0] = '\0';
    for (int i = 0; used < size; i++) {
        snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu0/cache/index%d/size", i);
        if (!file_first_line(path, line, sizeof line))
            return;
        used += (size_t)snprintf(text + used, size - used, "%s%s", i > 0 ? " " : "", line);
    }
}

void hardware_class(char text[HARDWARE_CLASS_BYTES], const struct place_machine *m)
{
    char cpu[256], caches[256];
    hardware_cpu(cpu, sizeof cpu);
    hardware_caches(caches, sizeof caches);
    snprintf(text, HARDWARE_CLASS_BYTES,
             "%s, caches %s, cores %d (usable %d, of the machine %d, quota %.17g), hardware "
             "threads %d, NUMA nodes %d",
             cpu, caches, m->cores, m->usable_cores, m->machine_cores, m->quota_cores, m->hwthreads,
             m->numa_nodes);
}
