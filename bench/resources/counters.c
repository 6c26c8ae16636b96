#include "bench/resources/counters.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

/* Returns the start of the line after `line`; NULL at the end of the text. */
static const char *next_line(const char *line)
{
    const char *end = strchr(line, '\n');
    return end != NULL && end[1] != '\0' ? end + 1 : NULL;
}

/* ---- Interfaces ---- */

/* Parses a line such as
 *   "  eth0: BYTES PACKETS errs drop fifo frame compressed multicast BYTES PACKETS ...".
 * The last colon ends the name, since the name of an alias contains a colon. Names with a quote or
 * a backslash are rejected, since JSON is written without escapes. */
static bool parse_interface(struct interface_counts *interface, const char *line)
{
    char own[256];
    snprintf(own, sizeof own, "%.*s", (int)strcspn(line, "\n"), line);
    const char *colon = strrchr(own, ':'), *name = own + strspn(own, " ");
    int64_t *c = interface->counts;
    if (colon == NULL || colon <= name || colon - name >= INTERFACE_NAME)
        return false;
    snprintf(interface->name, sizeof interface->name, "%.*s", (int)(colon - name), name);
    if (strpbrk(interface->name, "\"\\") != NULL)
        return false;
    return sscanf(colon + 1, "%" SCNd64 " %" SCNd64 " %*s %*s %*s %*s %*s %*s %" SCNd64 " %" SCNd64,
                  &c[TRAFFIC_RX_BYTES], &c[TRAFFIC_RX_PACKETS], &c[TRAFFIC_TX_BYTES],
                  &c[TRAFFIC_TX_PACKETS]) == TRAFFIC_COUNTS;
}

static bool is_silent(const struct interface_counts *interface)
{
    for (int i = 0; i < TRAFFIC_COUNTS; i++)
        if (interface->counts[i] != 0)
            return false;
    return true;
}

int counters_parse_interfaces(struct interface_counts *interfaces, const char *text)
{
    int n = 0;
    for (const char *line = text; line != NULL && n < INTERFACES_MAX; line = next_line(line))
        n += parse_interface(&interfaces[n], line) && !is_silent(&interfaces[n]);
    return n;
}

/* Parses lines "Iface Destination Gateway Flags RefCnt Use Metric ...", in which Destination is
 * hexadecimal and Metric decimal. */
bool counters_parse_route(char name[INTERFACE_NAME], const char *text)
{
    long least = LONG_MAX;
    for (const char *line = text; line != NULL; line = next_line(line)) {
        char own[INTERFACE_NAME];
        unsigned long to;
        long metric;
        if (sscanf(line, "%15s %lx %*s %*s %*s %*s %ld", own, &to, &metric) == 3 && to == 0 &&
            metric < least) {
            least = metric;
            strcpy(name, own);
        }
    }
    return least < LONG_MAX;
}

/* ---- Processes ---- */

bool counters_parse_process(struct process_counts *process, const char *text)
{
    double user, sys, children_user, children_sys;
    const char *name_end = strrchr(text, ')');
    if (name_end == NULL ||
        sscanf(name_end,
               ") %c %d %*s %*s %*s %*s %*s %*s %*s %*s %*s %lf %lf %lf %lf %*s %*s %*s %*s "
               "%" SCNd64 " %*s %lf",
               &process->state, &process->parent, &user, &sys, &children_user, &children_sys,
               &process->start_ticks, &process->resident_pages) != 8)
        return false;
    process->user_ticks = user + children_user;
    process->sys_ticks = sys + children_sys;
    return true;
}

long counters_parse_last_process(const char *text)
{
    long last;
    return sscanf(text, "%*s %*s %*s %*s %ld", &last) == 1 ? last : -1;
}

int64_t counters_advance(int64_t before, int64_t after)
{
    const int64_t full = (int64_t)1 << 32;
    if (after >= before)
        return after - before;
    bool wrapped = before < full && before >= full / 2 && after < full / 2;
    return wrapped ? after + full - before : after;
}
