#include "bench/resources/members.h"

#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "bench/resources/proc_file.h"
#include "kernels/base/mem.h"

/* Upper bound of the length of /proc/PID/stat. */
enum { STAT_BYTES = 1024 };

enum status members_open(struct members *m, const char *proc, pid_t launcher, struct error *e)
{
    *m = (struct members){.proc = proc,
                          .ticks_per_s = (double)sysconf(_SC_CLK_TCK),
                          .page_mib = (double)sysconf(_SC_PAGESIZE) / 0x1p20,
                          .last_process = -1};
    TRY(MEM_GROW(m->all, m->n, "the processes of a launch", e));
    m->all[m->n++] = (struct member){.pid = launcher};
    return OK;
}

void members_close(struct members *m)
{
    free(m->all);
    free(m->known);
    *m = (struct members){.proc = NULL};
}

bool members_read_process(struct process_counts *process, const struct members *m, pid_t pid)
{
    char name[32], text[STAT_BYTES];
    snprintf(name, sizeof name, "%d/stat", (int)pid);
    return proc_file_read(text, sizeof text, m->proc, name) &&
           counters_parse_process(process, text);
}

/* ---- Find new processes ---- */

/* Process that the previous scan did not find. */
struct newcomer {
    pid_t pid, parent;
    int64_t start_ticks;
};

struct newcomers {
    struct newcomer *items;
    size_t n;
};

static int by_pid(const void *a, const void *b)
{
    pid_t x = *(const pid_t *)a, y = *(const pid_t *)b;
    return (x > y) - (x < y);
}

static enum status list_processes(pid_t **pids, size_t *n, const char *proc, struct error *e)
{
    DIR *folder = opendir(proc);
    enum status status = OK;
    *pids = NULL;
    *n = 0;
    for (struct dirent *entry; folder != NULL && (entry = readdir(folder)) != NULL;) {
        pid_t pid = (pid_t)atol(entry->d_name);
        if (pid <= 0)
            continue;
        THEN(status, MEM_GROW(*pids, *n, "the processes of a node", e));
        if (status == OK)
            (*pids)[(*n)++] = pid;
    }
    if (folder != NULL)
        closedir(folder);
    if (*n > 0)
        qsort(*pids, *n, sizeof **pids, by_pid);
    return status;
}

static enum status find_newcomers(struct newcomers *new, const struct members *m, const pid_t *pids,
                                  size_t n, struct error *e)
{
    struct process_counts process;
    for (size_t i = 0; i < n; i++) {
        if (m->n_known > 0 &&
            bsearch(&pids[i], m->known, m->n_known, sizeof *m->known, by_pid) != NULL)
            continue;
        if (!members_read_process(&process, m, pids[i]))
            continue;
        TRY(MEM_GROW(new->items, new->n, "the processes of a node", e));
        new->items[new->n++] =
            (struct newcomer){pids[i], (pid_t)process.parent, process.start_ticks};
    }
    return OK;
}

static bool is_member(const struct members *m, pid_t pid)
{
    for (size_t i = 0; i < m->n; i++)
        if (m->all[i].pid == pid)
            return true;
    return false;
}

/* Adds new processes whose parent is a member. Repeats this until no further process is added,
 * since a child may have a lower id than its parent. */
static enum status add_newcomers(struct members *m, const struct newcomers *new, struct error *e)
{
    for (size_t before = m->n + 1; before != m->n;) {
        before = m->n;
        for (size_t i = 0; i < new->n; i++) {
            const struct newcomer *p = &new->items[i];
            if (!is_member(m, p->parent) || is_member(m, p->pid))
                continue;
            TRY(MEM_GROW(m->all, m->n, "the processes of a launch", e));
            m->all[m->n++] = (struct member){.pid = p->pid, .start_ticks = p->start_ticks};
        }
    }
    return OK;
}

static enum status look(struct members *m, struct error *e)
{
    pid_t *pids;
    size_t n;
    struct newcomers new = {.items = NULL};
    enum status status = list_processes(&pids, &n, m->proc, e);
    THEN(status, find_newcomers(&new, m, pids, n, e));
    THEN(status, add_newcomers(m, &new, e));
    free(new.items);
    free(m->known);
    m->known = pids;
    m->n_known = n;
    return status;
}

enum status members_look(struct members *m, struct error *e)
{
    char text[256];
    long last = proc_file_read(text, sizeof text, m->proc, "loadavg")
                    ? counters_parse_last_process(text)
                    : -1;
    if (last >= 0 && last == m->last_process)
        return OK;
    m->last_process = last;
    return look(m, e);
}

/* ---- Add up resources ---- */

/* Reads a member's counters. Returns false if the process has ended or its id now belongs to
 * another process. */
static bool read_member(struct process_counts *process, const struct members *m,
                        const struct member *member)
{
    return members_read_process(process, m, member->pid) &&
           (member->start_ticks == 0 || member->start_ticks == process->start_ticks);
}

/* Returns the processor time (s), `sum` + *lost, and stores it in *last. If the result would be
 * below the old *last, raises *lost so that the result equals the old *last. `sum` falls if a
 * process ends and its parent does not wait for it, because the time of this process then
 * vanishes. */
static double keep_rising(double sum, double *last, double *lost)
{
    if (sum + *lost < *last)
        *lost = *last - sum;
    return *last = sum + *lost;
}

/* Adds up the counters of all members. Removes members that have ended, except the launcher's
 * process, because new members are found as its descendants. */
void members_add_up(struct members *m, double values[SAMPLE_VALUES])
{
    struct process_counts process;
    double user = 0, sys = 0, pages = 0;
    size_t kept = 0, n = 0;
    for (size_t i = 0; i < m->n; i++) {
        bool there = read_member(&process, m, &m->all[i]);
        if (there || i == 0)
            m->all[kept++] = m->all[i];
        if (!there)
            continue;
        user += process.user_ticks;
        sys += process.sys_ticks;
        pages += process.resident_pages;
        n++;
    }
    bool known = n > 0;
    m->n = kept;
    values[SAMPLE_processes] = known ? (double)n : NAN;
    values[SAMPLE_resident_mib] = known ? pages * m->page_mib : NAN;
    values[SAMPLE_user_s] =
        known ? keep_rising(user / m->ticks_per_s, &m->user_s, &m->lost_user_s) : NAN;
    values[SAMPLE_sys_s] =
        known ? keep_rising(sys / m->ticks_per_s, &m->sys_s, &m->lost_sys_s) : NAN;
}
