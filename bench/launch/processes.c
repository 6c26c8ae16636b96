#include "bench/launch/processes.h"

#include <dirent.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct process {
    pid_t pid, parent;
    char state;
};

struct table {
    struct process *processes; /* by pid, ascending */
    size_t n, capacity;
};

/* "STATE PARENT ..." of "PID (NAME) STATE PARENT ...", in `text`; a name may hold spaces and parentheses. NULL: it
 * has ended meanwhile. */
static const char *read_stat(char *text, size_t size, const char *pid)
{
    char path[64];
    if (snprintf(path, sizeof path, "/proc/%s/stat", pid) >= (int)sizeof path)
        return NULL;
    FILE *f = fopen(path, "re");
    if (f == NULL)
        return NULL;
    size_t n = fread(text, 1, size - 1, f);
    fclose(f);
    text[n] = '\0';
    const char *name_end = strrchr(text, ')');
    return name_end != NULL && name_end[1] == ' ' ? name_end + 2 : NULL;
}

static bool read_process(const char *pid, struct process *process)
{
    char text[512];
    const char *stat = read_stat(text, sizeof text, pid);
    process->pid = (pid_t)atol(pid);
    return stat != NULL && sscanf(stat, "%c %d", &process->state, &process->parent) == 2;
}

static bool table_add(struct table *t, const struct process *process)
{
    if (t->n == t->capacity) {
        size_t capacity = t->capacity ? 2 * t->capacity : 256;
        struct process *grown = realloc(t->processes, capacity * sizeof *grown);
        if (grown == NULL)
            return false;
        t->processes = grown;
        t->capacity = capacity;
    }
    t->processes[t->n++] = *process;
    return true;
}

static int by_pid(const void *a, const void *b)
{
    const struct process *x = a, *y = b;
    return (x->pid > y->pid) - (x->pid < y->pid);
}

static bool table_read(struct table *t)
{
    DIR *proc = opendir("/proc");
    if (proc == NULL)
        return false;
    struct dirent *entry;
    struct process process;
    bool complete = true;
    while (complete && (entry = readdir(proc)) != NULL)
        if (entry->d_name[0] >= '1' && entry->d_name[0] <= '9' &&
            read_process(entry->d_name, &process))
            complete = table_add(t, &process);
    closedir(proc);
    if (t->n > 0)
        qsort(t->processes, t->n, sizeof *t->processes, by_pid);
    return complete;
}

/* Whether `root` is above. A chain of parents is never longer than the table, which also ends a
 * walk through a table that changed while it was read. */
static bool is_below(const struct table *t, const struct process *process, pid_t root)
{
    for (size_t hops = 0; process != NULL && hops <= t->n; hops++) {
        if (process->parent == root)
            return true;
        struct process key = {.pid = process->parent};
        process = bsearch(&key, t->processes, t->n, sizeof key, by_pid);
    }
    return false;
}

int processes_signal_below(pid_t root, int signal)
{
    struct table t = {0};
    int count = -1;
    if (table_read(&t)) {
        count = 0;
        for (size_t i = 0; i < t.n; i++) {
            const struct process *p = &t.processes[i];
            if (p->state == 'Z' || !is_below(&t, p, root))
                continue;
            count++;
            if (signal != 0)
                kill(p->pid, signal);
        }
    }
    free(t.processes);
    return count;
}

/* Of a zombie; 0 of others. */
static int wait_status_of(const char *pid)
{
    char text[512];
    const char *field = read_stat(text, sizeof text, pid);
    if (field == NULL || *field != 'Z')
        return 0;
    for (int i = 3; i < 52 && field != NULL; i++) /* proc(5): from state, field 3, to exit_code */
        field = strchr(field + 1, ' ');
    return field != NULL ? atoi(field) : 0;
}

int processes_failed_child(pid_t parent)
{
    char path[64], pid[16];
    int status = 0;
    snprintf(path, sizeof path, "/proc/%ld/task/%ld/children", (long)parent, (long)parent);
    FILE *f = fopen(path, "re");
    while (f != NULL && status == 0 && fscanf(f, "%15s", pid) == 1)
        status = wait_status_of(pid);
    if (f != NULL)
        fclose(f);
    return status;
}
