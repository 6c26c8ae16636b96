/* Stores the results of a simulated launch, which has no ranks that could write records. */
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "bench/base/json.h"
#include "bench/collect/collect.h"

/* Type, offset and size of each result in struct launch_result. */
static const struct {
    const char *name;
    enum csv_type type;
    size_t offset, size;
} results[] = {
#define RESULT(id, type, unit, launches, meaning)                                                  \
    {#id, CSV_##type, offsetof(struct launch_result, id), sizeof((struct launch_result *)0)->id},
#define METRIC(id, type, unit, line, field, kind, flags, ranks, launches, meaning)                 \
    RESULT(id, type, unit, launches, meaning)
#include "bench/record/metrics.def"
};

enum { RESULTS = sizeof results / sizeof *results };

#define PATH_BYTES 4352

static void file_path(char path[PATH_BYTES], const char *dir)
{
    snprintf(path, PATH_BYTES, "%s/simulated.json", dir);
}

/* Adds the result that results[i] describes to the JSON object `all`, unless the result is
 * unknown. */
static void put(json_t *all, size_t i, const struct launch_result *result)
{
    const void *from = (const char *)result + results[i].offset;
    if (results[i].type == CSV_TEXT && *(const char *)from != '\0')
        json_object_set_new(all, results[i].name, json_text(from));
    else if (results[i].type == CSV_BOOL && *(const int *)from >= 0)
        json_object_set_new(all, results[i].name, json_integer(*(const int *)from));
    else if (results[i].type == CSV_INT || results[i].type == CSV_REAL)
        json_set_known(all, results[i].name, *(const double *)from);
}

enum status launch_simulated_write(const char *dir, const struct launch_result *result,
                                   struct error *e)
{
    char path[PATH_BYTES];
    json_t *all = json_object(), *waits = json_array();
    file_path(path, dir);
    for (size_t i = 0; i < RESULTS; i++)
        put(all, i, result);
    for (int r = 0; r < RANK_WAITS && isfinite(result->rank_waits[r]); r++)
        json_array_append_new(waits, json_real(result->rank_waits[r]));
    json_object_set_new(all, "rank_waits", waits);
    int failed = all == NULL || json_dump_file(all, path, JSON_INDENT(1)) != 0;
    json_decref(all);
    return failed ? error_at(e, ERR_SYSTEM, path, 0, 0, "the results cannot be written") : OK;
}

static void take(const json_t *all, size_t i, struct launch_result *result)
{
    void *to = (char *)result + results[i].offset;
    const json_t *value = json_object_get(all, results[i].name);
    if (results[i].type == CSV_TEXT)
        snprintf(to, results[i].size, "%s", json_text_of(all, results[i].name));
    else if (results[i].type == CSV_BOOL)
        *(int *)to = json_is_integer(value) ? json_integer_value(value) != 0 : -1;
    else
        *(double *)to = json_known(all, results[i].name);
}

enum status launch_simulated_read(const char *dir, struct launch_result *result, struct error *e)
{
    char path[PATH_BYTES];
    json_error_t wrong;
    file_path(path, dir);
    json_t *all = json_load_file(path, 0, &wrong);
    if (all == NULL)
        return error_at(e, ERR_DATA, path, wrong.line > 0 ? wrong.line : 0, 0, "%s", wrong.text);
    launch_clear(result);
    for (size_t i = 0; i < RESULTS; i++)
        take(all, i, result);
    const json_t *waits = json_object_get(all, "rank_waits");
    for (size_t r = 0; r < RANK_WAITS && r < json_array_size(waits); r++)
        result->rank_waits[r] = json_number_value(json_array_get(waits, r));
    enum status status = result->step_ms > 0 ? OK : ERR_DATA;
    if (status != OK)
        error_at(e, status, path, 0, 0, "step_ms: expected a time above 0, found %g",
                 result->step_ms);
    json_decref(all);
    return status;
}
