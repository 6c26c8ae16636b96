#include "bench/record/record.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "kernels/base/output.h"

static void name_file(char *path, size_t size, const char *dir, int rank)
{
    snprintf(path, size, "%s/rank.%d.jsonl", dir, rank);
}

static enum status cannot_write(const struct recorder *r, const char *how, struct error *e)
{
    char path[4096];
    name_file(path, sizeof path, r->dir, r->rank);
    return error_at(e, ERR_SYSTEM, path, 0, 0, "cannot be written%s: %s", how, strerror(errno));
}

enum status recorder_open(struct recorder *r, const char *dir, int rank, struct error *e)
{
    char path[4096];
    *r = (struct recorder){.dir = dir, .rank = rank};
    if (dir == NULL)
        return OK;
    name_file(path, sizeof path, dir, rank);
    r->out = fopen(path, "w");
    return r->out != NULL ? OK : cannot_write(r, "", e);
}

enum status recorder_check(const char *dir, int rank, struct error *e)
{
    char path[4096];
    if (dir == NULL)
        return OK;
    name_file(path, sizeof path, dir, rank);
    return output_check("--record", path, e);
}

json_t *record_real(double x)
{
    return isfinite(x) ? json_real(x) : json_string(isnan(x) ? "nan" : x > 0 ? "inf" : "-inf");
}

enum status recorder_add(struct recorder *r, json_t *line, struct error *e)
{
    enum status status = OK;
    if (r->dir != NULL && line == NULL)
        status =
            error_set(e, ERR_MEMORY, "no memory for a record's line, or a value JSON cannot hold");
    else if (r->dir != NULL && (json_dumpf(line, r->out, JSON_COMPACT | JSON_REAL_PRECISION(17)) ||
                                fputc('\n', r->out) == EOF))
        status = cannot_write(r, " in full", e);
    json_decref(line);
    return status;
}

enum status recorder_finish(struct recorder *r, struct error *e)
{
    FILE *out = r->out;
    r->out = NULL;
    return out == NULL || fclose(out) == 0 ? OK : cannot_write(r, " in full", e);
}

void recorder_close(struct recorder *r)
{
    if (r->out != NULL)
        fclose(r->out);
    r->out = NULL;
}
