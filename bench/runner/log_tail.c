#include "bench/runner/log_tail.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* At the beginning a rank of each node says which processes its ranks are; at the end launcher and
 * ranks say what was wrong. */
#define PART_BYTES 16384

/* In what a rank says then: "train_cnn: note: rank 0 1 on vm: process 511 512". */
#define NOTE_OF_RANKS ": note: rank "
#define NOTE_OF_NODE  " on "
#define NOTE_OF_PIDS  ": process "

static size_t read_part(const char *path, bool end, char *text, size_t size)
{
    FILE *f = fopen(path, "re");
    text[0] = '\0';
    if (!f)
        return 0;
    if (end && fseek(f, -(long)(size - 1), SEEK_END) != 0)
        rewind(f); /* shorter than that */
    size_t n = fread(text, 1, size - 1, f);
    fclose(f);
    text[n] = '\0';
    return n;
}

/* The last line with anything in it; NULL if none. Cuts `text`. */
static char *last_line(char *text)
{
    for (;;) {
        size_t n = strlen(text);
        while (n > 0 && (unsigned char)text[n - 1] <= ' ')
            text[--n] = '\0';
        char *newline = strrchr(text, '\n');
        if (newline)
            return newline + 1;
        return n > 0 ? text : NULL;
    }
}

/* Which of the numbers in a list is `wanted`; -1: none. */
static int place_of(const char *list, long wanted)
{
    char *end;
    for (int i = 0;; i++, list = end) {
        long number = strtol(list, &end, 10);
        if (end == list)
            return -1;
        if (number == wanted)
            return i;
    }
}

static long number_at(const char *list, int place)
{
    char *end = (char *)list;
    long number = -1;
    for (int i = 0; i <= place; i++)
        number = strtol(end, &end, 10);
    return number;
}

/* Looks at one line; -1 when it does not know the process. */
static long rank_in_line(char *line, long pid, const char *host)
{
    char *ranks = strstr(line, NOTE_OF_RANKS);
    char *node = ranks ? strstr(ranks, NOTE_OF_NODE) : NULL;
    char *pids = node ? strstr(node, NOTE_OF_PIDS) : NULL;
    if (!pids)
        return -1;
    node += strlen(NOTE_OF_NODE);
    *pids = '\0';
    int place = strcmp(node, host) == 0 ? place_of(pids + strlen(NOTE_OF_PIDS), pid) : -1;
    return place < 0 ? -1 : number_at(ranks + strlen(NOTE_OF_RANKS), place);
}

/* The rank that hydra's banner means by "=   PID 512 RUNNING AT vm"; -1 when nobody said. */
static long rank_of(const char *path, const char *banner)
{
    char head[PART_BYTES], host[256];
    long pid, rank = -1;
    const char *named = strstr(banner, "PID ");
    if (!named || sscanf(named, "PID %ld RUNNING AT %255s", &pid, host) != 2)
        return -1;
    read_part(path, false, head, sizeof head);
    char *rest = head;
    for (char *line; rank < 0 && (line = strsep(&rest, "\n"));)
        rank = rank_in_line(line, pid, host);
    return rank;
}

void log_tail(const char *path, char *text, size_t size)
{
    char tail[PART_BYTES], who[32] = "";
    read_part(path, true, tail, sizeof tail);
    char *banner = strstr(tail, "\n=====");
    char *said = banner ? strstr(banner, "EXIT STRING: ") : NULL;
    long rank = banner ? rank_of(path, banner) : -1;
    if (rank >= 0)
        snprintf(who, sizeof who, "rank %ld: ", rank);
    if (said) {
        said += strlen("EXIT STRING: ");
        said[strcspn(said, "\n")] = '\0';
    }
    if (banner)
        *banner = '\0';
    char *line = last_line(tail);
    if (line && strstr(line, NOTE_OF_RANKS))
        line = NULL; /* nobody's last words */
    if (said && line)
        snprintf(text, size, "%s%s; last line: %s", who, said, line);
    else
        snprintf(text, size, "%s%s", said ? who : "", said ? said : line ? line : "");
}
