#include "bench/launch/processes.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/resources/members.h"
#include "bench/resources/proc_file.h"

static bool is_alive(const struct members *m, pid_t pid)
{
    struct process_counts process;
    return members_read_process(&process, m, pid) && process.state != 'Z';
}

int processes_signal_below(pid_t root, int signal)
{
    struct members m;
    int count = 0;
    if (members_open(&m, "/proc", root, NULL) == OK)
        members_look(&m, NULL);
    for (size_t i = 1; i < m.n; i++) {
        if (!is_alive(&m, m.all[i].pid))
            continue;
        count++;
        kill(m.all[i].pid, signal);
    }
    members_close(&m);
    return count;
}

/* Returns the wait status of a process that has ended but was not waited for (a zombie); 0: any
 * other process. */
static int wait_status_of(const char *pid)
{
    char name[32], text[1024];
    snprintf(name, sizeof name, "%s/stat", pid);
    const char *field =
        proc_file_read(text, sizeof text, "/proc", name) ? strrchr(text, ')') : NULL;
    if (field == NULL || strncmp(field, ") Z", strlen(") Z")) != 0)
        return 0;
    for (int i = 2; i < 52 && field != NULL;
         i++) /* move from the name (field 2 of /proc/PID/stat, see proc(5)) to exit_code (52) */
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
