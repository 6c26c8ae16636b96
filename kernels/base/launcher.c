#include "kernels/base/launcher.h"

#include <ctype.h>
#include <dirent.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

/* Hydra's and srun's. */
static const char *const NAMES[] = {"PMI_RANK", "SLURM_PROCID"};
enum { N_NAMES = sizeof NAMES / sizeof *NAMES };

/* "3" to 3; -1 for anything else. */
static int parse_rank(const char *text)
{
    char *end;
    long rank = strtol(text, &end, 10);
    return end == text || *end != '\0' || rank < 0 || rank > 0x7fffffff ? -1 : (int)rank;
}

int launcher_rank(void)
{
    for (int i = 0; i < N_NAMES; i++) {
        const char *text = getenv(NAMES[i]);
        if (text != NULL)
            return parse_rank(text);
    }
    return -1;
}

/* Reads a file of /proc whole, as far as it fits; bytes read. */
static size_t read_entry(const char *pid, const char *name, char *text, size_t size)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%.20s/%s", pid, name);
    FILE *in = fopen(path, "re");
    size_t n = in != NULL ? fread(text, 1, size - 1, in) : 0;
    if (in != NULL)
        fclose(in);
    text[n] = '\0';
    return n;
}

/* A program's name, which stands in parentheses, may have any character in it. */
static bool is_stopped_sibling(const char *pid)
{
    char text[512], state;
    int parent;
    read_entry(pid, "stat", text, sizeof text);
    const char *after = strrchr(text, ')');
    return after != NULL && sscanf(after + 1, " %c %d", &state, &parent) == 2 &&
           parent == (int)getppid() && (state == 'T' || state == 't');
}

/* Strings that each end with a 0. */
static int rank_of(const char *pid)
{
    static const size_t ENVIRONMENT_BYTES = 131072;
    char *text = malloc(ENVIRONMENT_BYTES);
    size_t n = text != NULL ? read_entry(pid, "environ", text, ENVIRONMENT_BYTES) : 0;
    int rank = -1;
    for (int i = 0; i < N_NAMES && rank < 0; i++) {
        size_t length = strlen(NAMES[i]);
        for (size_t at = 0; at < n && rank < 0; at += strlen(text + at) + 1)
            if (strncmp(text + at, NAMES[i], length) == 0 && text[at + length] == '=')
                rank = parse_rank(text + at + length + 1);
    }
    free(text);
    return rank;
}

bool launcher_name_stopped(char *text, size_t size)
{
    DIR *all = opendir("/proc");
    size_t used = (size_t)snprintf(text, size, "rank"), empty = used;
    for (struct dirent *entry; all != NULL && (entry = readdir(all)) != NULL;) {
        if (!isdigit((unsigned char)entry->d_name[0]) || !is_stopped_sibling(entry->d_name))
            continue;
        int rank = rank_of(entry->d_name);
        if (rank >= 0 && used < size)
            used += (size_t)snprintf(text + used, size - used, " %d", rank);
    }
    if (all != NULL)
        closedir(all);
    return used > empty;
}

void launcher_say_finalized(void)
{
    static const char words[] = "cmd=finalize\n";
    const char *text = getenv("PMI_FD");
    struct pollfd connection = {.events = POLLIN};
    char answer[64];
    if (text == NULL)
        return;
    connection.fd = atoi(text);
    if (write(connection.fd, words, sizeof words - 1) == (ssize_t)sizeof words - 1 &&
        poll(&connection, 1, 1000) == 1)
        (void)!read(connection.fd, answer, sizeof answer);
}
