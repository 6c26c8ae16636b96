#include "bench/workloads/record.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "kernels/base/output.h"

enum status recorder_open(struct recorder *r, const char *dir, int rank, struct error *e)
{
    *r = (struct recorder){.dir = dir, .rank = rank, .lines = json_array()};
    return r->lines != NULL ? OK : error_set(e, ERR_MEMORY, "no memory for a record");
}

static void name_file(char *path, size_t size, const char *dir, int rank)
{
    snprintf(path, size, "%s/rank.%d.jsonl", dir, rank);
}

enum status recorder_check(const char *dir, int rank, struct error *e)
{
    char path[4096];
    if (dir == NULL)
        return OK;
    name_file(path, sizeof path, dir, rank);
    return output_check("--record", path, e);
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
    name_file(path, sizeof path, r->dir, r->rank);
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
