#include "bench/resources/sampler.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "bench/base/descriptors.h"
#include "bench/resources/members.h"
#include "bench/resources/proc_file.h"
#include "kernels/base/clock.h"

#define PROC "/proc"

/* Time (ns) between two scans for new processes. Samples in between read only the known processes,
 * since a scan takes longer. During the first LOOK_NS of a launch, each sample includes a scan. */
#define LOOK_NS ((int64_t)1000000000)

/* Bytes for the text of /proc/net/dev, whose lines have about 120 bytes. */
enum { NET_BYTES = 120 * (INTERFACES_MAX + 2) + 1 };

struct sampler {
    const struct sampler_options *options;
    pid_t rank;
    int alive; /* pidfd of process `rank`, readable after its end; -1: no pidfds in this kernel */
    int file;
    FILE *out;
    char nic[INTERFACE_NAME];
    struct members members;
    int64_t begin_ns, looked_ns;
};

/* ---- Choose the network interface ---- */

/* Reads the counters of all interfaces with traffic in this process's network namespace. Returns
 * the number of interfaces; 0 also if the counters cannot be read. */
static int read_interfaces(struct interface_counts *interfaces)
{
    char text[NET_BYTES];
    return proc_file_read(text, sizeof text, PROC, "self/net/dev")
               ? counters_parse_interfaces(interfaces, text)
               : 0;
}

static bool is_there(const char *nic)
{
    char path[64];
    snprintf(path, sizeof path, "/sys/class/net/%.15s", nic);
    return access(path, F_OK) == 0;
}

/* Sets `nic` to the only interface with traffic besides the loopback; "" if there is none or more
 * than one. */
static void take_only_one(char nic[INTERFACE_NAME])
{
    struct interface_counts interfaces[INTERFACES_MAX];
    int n = read_interfaces(interfaces), others = 0;
    for (int i = 0; i < n; i++)
        if (strcmp(interfaces[i].name, "lo") != 0 && others++ == 0)
            strcpy(nic, interfaces[i].name);
    if (others != 1)
        nic[0] = '\0';
}

static enum status find_nic(struct sampler *s, struct error *e)
{
    char text[4096];
    const char *given = s->options->nic;
    if (given != NULL && (strlen(given) >= sizeof s->nic || !is_there(given)))
        return error_set(e, ERR_ARGUMENT, "network interface '%s' not found on this node", given);
    if (given != NULL)
        strcpy(s->nic, given);
    else if (!proc_file_read(text, sizeof text, PROC, "self/net/route") ||
             !counters_parse_route(s->nic, text))
        take_only_one(s->nic);
    return OK;
}

/* ---- Write samples ---- */

static void write_node(const struct sampler *s)
{
    char host[64] = "";
    gethostname(host, sizeof host - 1);
    fprintf(
        s->out,
        "{\"type\":\"node\",\"schema\":%d,\"host\":\"%s\",\"interval_ns\":%.0f,\"nic\":\"%s\"}\n",
        SAMPLE_SCHEMA, host, s->options->interval_s * 1e9, s->nic);
}

static void write_interfaces(FILE *out)
{
    struct interface_counts interfaces[INTERFACES_MAX];
    int n = read_interfaces(interfaces);
    fputs(",\"interfaces\":{", out);
    for (int i = 0; i < n; i++) {
        fprintf(out, "%s\"%s\":[", i > 0 ? "," : "", interfaces[i].name);
        for (int k = 0; k < TRAFFIC_COUNTS; k++)
            fprintf(out, "%s%" PRId64, k > 0 ? "," : "", interfaces[i].counts[k]);
        fputc(']', out);
    }
    fputc('}', out);
}

/* Collects the values of a sample. If memory runs out during a scan for new processes, the values
 * of this and later samples may omit some of the new processes. */
static void take_values(struct sampler *s, double values[SAMPLE_VALUES])
{
    int64_t now = clock_ns();
    if (now - s->begin_ns < LOOK_NS || now - s->looked_ns >= LOOK_NS) {
        members_look(&s->members, NULL);
        s->looked_ns = now;
    }
    members_add_up(&s->members, values);
    values[SAMPLE_sampler_s] = 1e-9 * (double)clock_process_ns();
}

/* Writes one line and flushes it, so that the file is complete up to the moment the sampler is
 * killed. */
static void take(struct sampler *s)
{
    double values[SAMPLE_VALUES];
    fprintf(s->out, "{\"type\":\"sample\",\"t_ns\":%" PRId64, clock_ns());
    take_values(s, values);
    for (int i = 0; i < SAMPLE_VALUES; i++)
        if (isnan(values[i]))
            fprintf(s->out, ",\"%s\":null", sample_names()[i]);
        else
            fprintf(s->out, ",\"%s\":%.10g", sample_names()[i], values[i]);
    write_interfaces(s->out);
    fputs("}\n", s->out);
    fflush(s->out);
}

/* ---- Run the sampler ---- */

/* Waits until the rank ends, but not beyond until_ns. Returns whether the rank has ended. */
static bool rank_ends_before(const struct sampler *s, int64_t until_ns)
{
    int64_t left_ns = until_ns - clock_ns();
    struct timespec left = {0};
    struct pollfd alive = {.fd = s->alive, .events = POLLIN};
    if (left_ns > 0)
        left = (struct timespec){left_ns / 1000000000, left_ns % 1000000000};
    if (ppoll(&alive, 1, &left, NULL) > 0)
        return true;
    return s->alive < 0 && kill(s->rank, 0) != 0 && errno == ESRCH;
}

/* Takes a sample at begin_ns, at each multiple of the interval thereafter, and after the end of the
 * rank. Skips a multiple that passes while another sample is taken. */
static void sample_until_end(struct sampler *s)
{
    int64_t interval_ns = (int64_t)(s->options->interval_s * 1e9), next_ns;
    s->begin_ns = clock_ns();
    do {
        take(s);
        next_ns = s->begin_ns + ((clock_ns() - s->begin_ns) / interval_ns + 1) * interval_ns;
    } while (!rank_ends_before(s, next_ns));
    take(s);
}

static void close_all_but(int a, int b)
{
    DIR *folder = opendir(PROC "/self/fd");
    for (struct dirent *entry; folder != NULL && (entry = readdir(folder)) != NULL;) {
        int fd = atoi(entry->d_name);
        if (entry->d_name[0] != '.' && fd != a && fd != b && fd != dirfd(folder))
            close(fd);
    }
    if (folder != NULL)
        closedir(folder);
    descriptors_open_standard();
}

static _Noreturn void live(struct sampler *s)
{
    prctl(PR_SET_NAME, "sampler");
    close_all_but(s->file, s->alive);
    s->out = fdopen(s->file, "a");
    if (s->out == NULL || members_open(&s->members, PROC, s->options->launcher, NULL) != OK)
        _exit(1);
    write_node(s);
    sample_until_end(s);
    _exit(fclose(s->out) == 0 ? 0 : 1);
}

/* Starts the sampler as a grandchild of the rank. The child between them exits at once, so that the
 * rank has no unexpected child. */
static enum status fork_away(struct sampler *s, struct error *e)
{
    pid_t child = fork();
    if (child < 0)
        return error_set(e, ERR_SYSTEM, "cannot start the sampler: fork: %s", strerror(errno));
    if (child == 0) {
        pid_t sampler = fork();
        if (sampler == 0)
            live(s);
        _exit(sampler < 0);
    }
    int status = 1;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        continue;
    return status == 0
               ? OK
               : error_set(e, ERR_SYSTEM, "cannot start the sampler: the second fork failed");
}

static enum status open_file(struct sampler *s, struct error *e)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/node.%ld.jsonl", s->options->folder, s->options->rank);
    s->file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0666);
    if (s->file < 0)
        return error_at(e, ERR_SYSTEM, path, 0, 0, "cannot be written: %s", strerror(errno));
    return OK;
}

enum status sampler_start(const struct sampler_options *options, struct error *e)
{
    struct sampler s = {.options = options, .rank = getpid()};
    TRY(find_nic(&s, e));
    TRY(open_file(&s, e));
    s.alive = (int)syscall(SYS_pidfd_open, s.rank, 0);
    enum status status = fork_away(&s, e);
    close(s.file);
    if (s.alive >= 0)
        close(s.alive);
    return status;
}
