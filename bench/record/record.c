#include "bench/record/record.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bench/base/json.h"
#include "bench/base/output.h"

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

void recorder_announce(const char *dir, int rank)
{
    char path[4096];
    if (dir == NULL || rank < 0)
        return;
    name_file(path, sizeof path, dir, rank);
    int file = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NONBLOCK, 0666);
    if (file >= 0)
        close(file);
}

void recorder_withdraw(const char *dir, int rank)
{
    char path[4096];
    struct stat info;
    if (dir == NULL)
        return;
    name_file(path, sizeof path, dir, rank);
    if (stat(path, &info) == 0 && S_ISREG(info.st_mode) && info.st_size == 0)
        unlink(path);
}

int recorder_count(const char *dir, int ranks)
{
    char path[4096];
    int n = 0;
    for (int rank = 0; rank < ranks; rank++) {
        name_file(path, sizeof path, dir, rank);
        n += access(path, F_OK) == 0;
    }
    return n;
}

/* Sets reals to NAN instead of 0, so that tables show an empty cell for an unset real and not a
 * measured 0. */
void record_clear(enum record_line line, void *values)
{
    const struct field *field = NULL;
    while ((field = field_next(line, field)) != NULL) {
        char *value = (char *)values + field->offset;
        memset(value, 0, field->size);
        if (field->kind == FIELD_REAL || field->kind == FIELD_LOSS)
            *(double *)value = NAN;
    }
}

/* Converts a number to JSON. Infinity and NaN, which JSON lacks, become a text such as "inf" if
 * `loss` is true, otherwise null. */
static json_t *real_json(double x, bool loss)
{
    bool whole = !loss && fabs(x) < 1e15 && x == floor(x);
    if (whole)
        return json_integer((json_int_t)x);
    if (isfinite(x))
        return json_real(x);
    return loss ? json_string(isnan(x) ? "nan" : x > 0 ? "inf" : "-inf") : json_null();
}

static json_t *field_json(const struct field *field, const char *value)
{
    switch (field->kind) {
    case FIELD_TEXT:
        return json_string(value);
    case FIELD_COUNT:
        return json_integer(*(const int64_t *)value);
    case FIELD_REAL:
        return real_json(*(const double *)value, false);
    case FIELD_LOSS:
        return real_json(*(const double *)value, true);
    case FIELD_VERDICT:
        break;
    }
    enum record_verdict verdict = *(const enum record_verdict *)value;
    return verdict == VERDICT_UNKNOWN ? json_null() : json_boolean(verdict == VERDICT_TRUE);
}

static bool is_left_out(const struct field *field, const json_t *value)
{
    bool empty = json_is_string(value) && json_string_length(value) == 0;
    return (field->flags & FIELD_OPTIONAL) != 0 && (empty || json_is_null(value));
}

/* Adds fields of a line to `json`: only fields that have one of `flags`, or all fields if `flags`
 * is 0. Leaves out optional fields without a value. Returns `json`. If memory runs out, or if JSON
 * cannot represent a value, frees `json` and returns NULL. */
static json_t *add_fields(json_t *json, enum record_line line, unsigned flags, const void *values)
{
    const struct field *field = NULL;
    while (json != NULL && (field = field_next(line, field)) != NULL) {
        if (flags != 0 && (field->flags & flags) == 0)
            continue;
        json_t *value = field_json(field, (const char *)values + field->offset);
        if (is_left_out(field, value)) {
            json_decref(value);
        } else if (json_object_set_new(json, field->name, value) != 0) {
            json_decref(json);
            json = NULL;
        }
    }
    return json;
}

json_t *record_json(enum record_line line, const void *values)
{
    return add_fields(json_pack("{s:s}", "type", record_line_names[line]), line, 0, values);
}

json_t *record_identity_json(const struct record_hello *hello)
{
    return add_fields(json_object(), RECORD_hello, FIELD_IDENTITY, hello);
}

json_t *record_fields_json(void)
{
    json_t *lines = json_object();
    for (int line = 0; line < RECORD_LINES; line++) {
        json_t *names = json_object();
        const struct field *field = NULL;
        while ((field = field_next((enum record_line)line, field)) != NULL)
            json_object_set_new(names, field->name,
                                json_boolean((field->flags & FIELD_OPTIONAL) == 0));
        json_object_set_new(lines, record_line_names[line], names);
    }
    return lines;
}

enum status recorder_add(struct recorder *r, json_t *line, struct error *e)
{
    enum status status = OK;
    if (r->dir != NULL && line == NULL)
        status = error_set(
            e, ERR_MEMORY,
            "cannot format a line of the record: no memory, or a value that JSON cannot represent");
    else if (r->dir != NULL && !json_put(r->out, line, JSON_LINE))
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
