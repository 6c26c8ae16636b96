/* Defines one struct per kind of line of a rank's record. Structs and tables are generated from
 * metrics.def, which documents the fields. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RECORD_SCHEMA 1

enum record_line {
    RECORD_hello,
    RECORD_step,
    RECORD_span,
    RECORD_epoch,
    RECORD_eval,
    RECORD_end,
    RECORD_LINES
};

/* Values of the JSON member `type`, one per kind of line: "hello", "step" and so on. */
extern const char *const record_line_names[RECORD_LINES];

/* C types of the field kinds in metrics.def: C_TYPE_<kind>, with array sizes C_SIZE_<kind>. A
 * VERDICT is an enum record_verdict. An unknown REAL or LOSS is NAN. */
enum record_verdict { VERDICT_UNKNOWN, VERDICT_FALSE, VERDICT_TRUE };

#define C_TYPE_TEXT(bytes) char
#define C_SIZE_TEXT(bytes) [bytes]
#define C_TYPE_COUNT       int64_t
#define C_SIZE_COUNT
#define C_TYPE_REAL double
#define C_SIZE_REAL
#define C_TYPE_LOSS double
#define C_SIZE_LOSS
#define C_TYPE_VERDICT enum record_verdict
#define C_SIZE_VERDICT

#define IN_hello(member)
#define IN_step(member)
#define IN_span(member)
#define IN_epoch(member)
#define IN_eval(member)
#define IN_end(member)
#define MEMBER(line, field, kind, flags) IN_##line(C_TYPE_##kind field C_SIZE_##kind;)

#undef IN_hello
#define IN_hello(member) member
struct record_hello {
#define FIELD MEMBER
#include "bench/record/metrics.def"
};
#undef IN_hello
#define IN_hello(member)

#undef IN_step
#define IN_step(member) member
struct record_step {
#define FIELD MEMBER
#include "bench/record/metrics.def"
};
#undef IN_step
#define IN_step(member)

#undef IN_span
#define IN_span(member) member
struct record_span {
#define FIELD MEMBER
#include "bench/record/metrics.def"
};
#undef IN_span
#define IN_span(member)

#undef IN_epoch
#define IN_epoch(member) member
struct record_epoch {
#define FIELD MEMBER
#include "bench/record/metrics.def"
};
#undef IN_epoch
#define IN_epoch(member)

#undef IN_eval
#define IN_eval(member) member
struct record_eval {
#define FIELD MEMBER
#include "bench/record/metrics.def"
};
#undef IN_eval
#define IN_eval(member)

#undef IN_end
#define IN_end(member) member
struct record_end {
#define FIELD MEMBER
#include "bench/record/metrics.def"
};

#undef IN_hello
#undef IN_step
#undef IN_span
#undef IN_epoch
#undef IN_eval
#undef IN_end
#undef MEMBER

enum field_id {
#define FIELD(line, field, kind, flags) FIELD_##line##_##field,
#include "bench/record/metrics.def"
    FIELDS
};

enum field_kind { FIELD_TEXT, FIELD_COUNT, FIELD_REAL, FIELD_LOSS, FIELD_VERDICT };
enum { FIELD_SAME = 1, FIELD_IDENTITY = 2, FIELD_OPTIONAL = 4 };

struct field {
    const char *name;
    enum record_line line;
    enum field_kind kind;
    /* offset and size of the field in the struct of `line`, such as struct record_hello */
    size_t offset, size;
    unsigned flags;
};

const struct field *field_get(enum field_id id);

/* Returns the value of a COUNT, REAL or LOSS field; NAN if unknown. `line`: struct that holds the
 * field, such as struct record_step. Nanoseconds are converted if `unit` is "ms" or "s". */
double field_number(const struct field *field, const void *line, const char *unit);

/* Iterates over the fields of a kind of line: returns the field after `last`, or the first if
 * `last` is NULL. NULL at the end. */
const struct field *field_next(enum record_line line, const struct field *last);
