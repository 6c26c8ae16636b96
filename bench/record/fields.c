#include "bench/record/fields.h"

#include <string.h>

#define KIND_TEXT(bytes) FIELD_TEXT
#define KIND_COUNT       FIELD_COUNT
#define KIND_REAL        FIELD_REAL
#define KIND_LOSS        FIELD_LOSS
#define KIND_VERDICT     FIELD_VERDICT

/* Short names of the flags, used in metrics.def. */
enum { SAME = FIELD_SAME, IDENTITY = FIELD_IDENTITY, OPTIONAL = FIELD_OPTIONAL };

static const struct field fields[] = {
#define FIELD(line, field, kind, flags)                                                            \
    {#field,                                                                                       \
     RECORD_##line,                                                                                \
     KIND_##kind,                                                                                  \
     offsetof(struct record_##line, field),                                                        \
     sizeof((struct record_##line *)0)->field,                                                     \
     flags},
#include "bench/record/metrics.def"
};

const char *const record_line_names[] = {"hello", "step", "span", "epoch", "eval", "end"};

const struct field *field_get(enum field_id id)
{
    return &fields[id];
}

double field_number(const struct field *field, const void *line, const char *unit)
{
    const char *value = (const char *)line + field->offset;
    size_t length = strlen(field->name);
    bool is_time = length > 3 && strcmp(field->name + length - 3, "_ns") == 0;
    double x =
        field->kind == FIELD_COUNT ? (double)*(const int64_t *)value : *(const double *)value;
    if (is_time && strcmp(unit, "ms") == 0)
        return x / 1e6;
    return is_time && strcmp(unit, "s") == 0 ? x / 1e9 : x;
}

const struct field *field_next(enum record_line line, const struct field *last)
{
    const struct field *end = fields + sizeof fields / sizeof *fields;
    const struct field *next = last == NULL ? fields : last + 1;
    while (next < end && next->line != line)
        next++;
    return next < end ? next : NULL;
}
