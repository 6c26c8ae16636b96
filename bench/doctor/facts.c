#include "bench/doctor/facts.h"

#include <dirent.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/base/file.h"
#include "bench/resources/counters.h"

enum { PATH = 512, LINE = 512 };

static FILE *open_below(const char *root, const char *path)
{
    char whole[2 * PATH];
    snprintf(whole, sizeof whole, "%s%s", root, path);
    return fopen(whole, "re");
}

/* Reads the first line of a file, without the newline. Returns false and sets `text` to "" if the
 * file cannot be read or its first line is empty. */
static bool read_line(char *text, size_t size, const char *root, const char *path)
{
    char whole[2 * PATH];
    snprintf(whole, sizeof whole, "%s%s", root, path);
    return file_first_line(whole, text, size);
}

/* Reads a number from a file; NAN if the file does not begin with a number or is missing. */
static double read_number(const char *root, const char *path)
{
    char whole[2 * PATH];
    snprintf(whole, sizeof whole, "%s%s", root, path);
    return file_number(whole);
}

/* ---- Processor and clock ---- */

/* Reads the value of `key` from lines such as "MemTotal: 123 kB". Returns false, with `text`
 * unchanged, if the file lacks the key. */
static bool read_key(char *text, size_t size, const char *root, const char *path, const char *key)
{
    char line[LINE];
    bool found = false;
    FILE *in = open_below(root, path);
    while (in != NULL && !found && fgets(line, sizeof line, in) != NULL) {
        const char *colon = strchr(line, ':');
        found = strncmp(line, key, strlen(key)) == 0 && colon != NULL;
        if (found)
            snprintf(text, size, "%.*s", (int)strcspn(colon + 1 + strspn(colon + 1, " \t"), "\n"),
                     colon + 1 + strspn(colon + 1, " \t"));
    }
    if (in != NULL)
        fclose(in);
    return found;
}

/* Writes the frequency governors in use to `text`, separated by blanks, such as "performance
 * powersave". A governor that several processors use is written once. "": no governor was found. */
static void read_governors(char *text, size_t size, const char *root)
{
    char path[PATH], one[64];
    text[0] = '\0';
    for (int cpu = 0; cpu < 4096; cpu++) {
        size_t used = strlen(text);
        snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/cpufreq/scaling_governor", cpu);
        if (!read_line(one, sizeof one, root, path)) {
            if (cpu > 0)
                return;
        } else if (strstr(text, one) == NULL) {
            snprintf(text + used, size - used, "%s%s", used > 0 ? " " : "", one);
        }
    }
}

static void read_turbo(char *text, size_t size, const char *root)
{
    double off = read_number(root, "/sys/devices/system/cpu/intel_pstate/no_turbo");
    double on = read_number(root, "/sys/devices/system/cpu/cpufreq/boost");
    if (!isnan(off))
        snprintf(text, size, "%s", off > 0 ? "off" : "on");
    else if (!isnan(on))
        snprintf(text, size, "%s", on > 0 ? "on" : "off");
}

/* ---- Memory ---- */

/* Reads the setting of transparent huge pages, which is in brackets: "always [madvise] never" gives
 * madvise. */
static void read_huge_pages(char *text, size_t size, const char *root)
{
    char line[128];
    if (!read_line(line, sizeof line, root, "/sys/kernel/mm/transparent_hugepage/enabled"))
        return;
    const char *open = strchr(line, '['), *close = open != NULL ? strchr(open, ']') : NULL;
    if (close != NULL)
        snprintf(text, size, "%.*s", (int)(close - open - 1), open + 1);
}

/* Reads the machine's memory (GiB), or the memory limit at the top of /sys/fs/cgroup if this limit
 * is lower. In a container, this is the container's limit. */
static void read_memory(double *gib, const char *root)
{
    static const char *const limits[] = {"/sys/fs/cgroup/memory.max",
                                         "/sys/fs/cgroup/memory/memory.limit_in_bytes"};
    char text[64];
    if (read_key(text, sizeof text, root, "/proc/meminfo", "MemTotal"))
        *gib = strtod(text, NULL) / 1048576;
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++)
        *gib = fmin(*gib, read_number(root, limits[i]) / 1073741824);
}

/* ---- Fast networks ---- */

#define FABRICS "/sys/class/infiniband"

static void visit_ports(const char *root,
                        void (*visit)(void *arg, const char *root, const char *path,
                                      const char *device, int port),
                        void *arg)
{
    char path[PATH];
    struct dirent **devices = NULL;
    snprintf(path, sizeof path, "%s" FABRICS, root);
    int n = scandir(path, &devices, NULL, alphasort);
    for (int i = 0; i < n; i++) {
        for (int port = 1; devices[i]->d_name[0] != '.' && port <= 8; port++) {
            snprintf(path, sizeof path, FABRICS "/%.100s/ports/%d", devices[i]->d_name, port);
            visit(arg, root, path, devices[i]->d_name, port);
        }
        free(devices[i]);
    }
    free(devices);
}

/* Appends the name of an InfiniBand device and the rate of its port to the text `arg`; nothing if
 * the port is not active. The kernel's files read "4: ACTIVE" and "100 Gb/sec (4X EDR)". */
static void add_active(void *arg, const char *root, const char *path, const char *device, int port)
{
    char *text = arg, file[PATH + 32], state[64], rate[64] = "";
    size_t used = strlen(text);
    (void)port;
    snprintf(file, sizeof file, "%s/state", path);
    if (!read_line(state, sizeof state, root, file) || strstr(state, "ACTIVE") == NULL)
        return;
    snprintf(file, sizeof file, "%s/rate", path);
    read_line(rate, sizeof rate, root, file);
    snprintf(text + used, DOCTOR_TEXT - used, "%s%s %s", used > 0 ? ", " : "", device, rate);
}

struct counting {
    struct counted *counted;
    int n;
};

/* Appends a port, with the number of bytes it has sent, to the list in `arg` (struct counting). The
 * kernel counts in words of four bytes. */
static void add_port(void *arg, const char *root, const char *path, const char *device, int port)
{
    struct counting *c = arg;
    char file[PATH + 32];
    snprintf(file, sizeof file, "%s/counters/port_xmit_data", path);
    double words = read_number(root, file);
    if (c->n >= COUNTED_MAX || isnan(words))
        return;
    struct counted *one = &c->counted[c->n++];
    snprintf(one->interface, sizeof one->interface, "%.100s:%d", device, port);
    one->bytes = 4 * words;
}

/* ---- All facts ---- */

void facts_read(struct doctor_node *node, const char *root)
{
    read_line(node->machine, DOCTOR_TEXT, root, "/proc/sys/kernel/random/boot_id");
    read_line(node->kernel, DOCTOR_TEXT, root, "/proc/sys/kernel/osrelease");
    if (!read_key(node->cpu, DOCTOR_TEXT, root, "/proc/cpuinfo", "model name"))
        read_key(node->cpu, DOCTOR_TEXT, root, "/proc/cpuinfo", "CPU part");
    read_governors(node->governor, DOCTOR_TEXT, root);
    read_turbo(node->turbo, DOCTOR_TEXT, root);
    read_line(node->clock_source, DOCTOR_TEXT, root,
              "/sys/devices/system/clocksource/clocksource0/current_clocksource");
    read_memory(&node->memory_gib, root);
    read_huge_pages(node->huge_pages, DOCTOR_TEXT, root);
    node->fabric[0] = '\0';
    visit_ports(root, add_active, node->fabric);
}

int facts_count_sent(struct counted *counted, const char *root)
{
    char text[16384];
    struct interface_counts interfaces[INTERFACES_MAX];
    struct counting c = {counted, 0};
    FILE *in = open_below(root, "/proc/net/dev");
    text[in != NULL ? fread(text, 1, sizeof text - 1, in) : 0] = '\0';
    if (in != NULL)
        fclose(in);
    int n = counters_parse_interfaces(interfaces, text);
    for (int i = 0; i < n && c.n < COUNTED_MAX / 2; i++) {
        struct counted *one = &counted[c.n++];
        snprintf(one->interface, sizeof one->interface, "%.15s", interfaces[i].name);
        one->bytes = (double)interfaces[i].counts[TRAFFIC_TX_BYTES];
    }
    visit_ports(root, add_port, &c);
    return c.n;
}

static double bytes_of(const struct counted *all, int n, const char *interface)
{
    for (int i = 0; i < n; i++)
        if (strcmp(all[i].interface, interface) == 0)
            return all[i].bytes;
    return 0;
}

const char *facts_carrier(const struct counted *before, int n_before, const struct counted *after,
                          int n_after, double bytes)
{
    const char *carrier = "";
    double most = bytes / 2;
    for (int i = 0; i < n_after; i++) {
        double advance = after[i].bytes - bytes_of(before, n_before, after[i].interface);
        if (advance >= most) {
            most = advance;
            carrier = after[i].interface;
        }
    }
    return carrier;
}
