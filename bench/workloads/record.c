#include "bench/workloads/record.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

enum status recorder_open(struct recorder *r, const char *dir, int rank, struct error *e)
{
    *r = (struct recorder){.dir = dir, .rank = rank, .lines = json_array()};
    return r->lines != NULL ? OK : error_set(e, ERR_MEMORY, "no memory for a record");
}

enum status recorder_add(struct recorder *r, json_t *line, struct error *e)
{
    if (r->dir == NULL) {
        json_decref(line);
        return OK;
    }
    if (line == NULL || json_array_append_new(r->lines, line) != 0) {
        return error_set(e, ERR_MEMORY,
                         "no memory for a record's line, or a value JSON cannot hold");
    }
    return OK;
}

static int write_lines(const json_t *lines, FILE *out)
{
    size_t i;
    json_t *line;
    json_array_foreach(lines, i, line)
    {
        if (json_dumpf(line, out, JSON_COMPACT | JSON_REAL_PRECISION(17)) != 0)
            return -1;
        if (fputc('\n', out) == EOF)
            return -1;
    }
    return 0;
}

enum status recorder_write(struct recorder *r, struct error *e)
{
    if (r->dir == NULL)
        return OK;
    char path[4096];
    snprintf(path, sizeof path, "%s/rank.%d.jsonl", r->dir, r->rank);
    FILE *out = fopen(path, "w");
    if (out == NULL)
        return error_at(e, ERR_SYSTEM, path, 0, 0, "cannot be written: %s", strerror(errno));
    int failed = write_lines(r->lines, out);
    if (fclose(out) != 0 || failed) {
        return error_at(e, ERR_SYSTEM, path, 0, 0, "cannot be written in full: %s",
                        strerror(errno));
    }
    return OK;
}

void recorder_close(struct recorder *r)
{
    json_decref(r->lines);
    r->lines = NULL;
}
