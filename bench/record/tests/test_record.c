/* Tests records: every field of every line is written and read back. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#include "bench/record/record.h"
#include "bench/record/records.h"

static const struct field *field_named(enum record_line line, const char *name)
{
    const struct field *field = NULL;
    while ((field = field_next(line, field)) != NULL && strcmp(field->name, name) != 0)
        ;
    assert_non_null(field);
    return field;
}

/* Compares fields only: padding between them is not initialised. */
static void assert_fields_equal(enum record_line line, const void *a, const void *b)
{
    const struct field *field = NULL;
    while ((field = field_next(line, field)) != NULL)
        assert_memory_equal((const char *)a + field->offset, (const char *)b + field->offset,
                            field->size);
}

static void fill(enum record_line line, void *values)
{
    const struct field *field = NULL;
    while ((field = field_next(line, field)) != NULL) {
        char *to = (char *)values + field->offset;
        switch (field->kind) {
        case FIELD_TEXT:
            snprintf(to, field->size, "%.6s", field->name);
            break;
        case FIELD_COUNT:
            *(int64_t *)to = (int64_t)strlen(field->name);
            break;
        case FIELD_REAL:
            *(double *)to = 0.1 * (double)strlen(field->name);
            break;
        case FIELD_LOSS:
            *(double *)to = -INFINITY;
            break;
        case FIELD_VERDICT:
            *(enum record_verdict *)to = VERDICT_TRUE;
        }
    }
}

static void add(struct recorder *r, enum record_line line, const void *values)
{
    struct error e;
    assert_int_equal(recorder_add(r, record_json(line, values), &e), OK);
}

static void every_field_comes_back(void **state)
{
    char dir[] = "/tmp/test_record.XXXXXX", command[64];
    struct error e = {.status = OK};
    struct recorder recorder;
    struct rank_record *r;
    struct record_hello hello = {0};
    struct record_step step = {0};
    struct record_epoch epoch = {0};
    struct record_eval eval = {0};
    struct record_end end = {0};
    fill(RECORD_hello, &hello);
    fill(RECORD_step, &step);
    fill(RECORD_epoch, &epoch);
    fill(RECORD_eval, &eval);
    fill(RECORD_end, &end);
    hello.schema = RECORD_SCHEMA;
    hello.rank = 0;
    hello.ranks = 1;
    strncpy(end.status, "ok", sizeof end.status);
    assert_non_null(mkdtemp(dir));
    assert_int_equal(recorder_open(&recorder, dir, 0, &e), OK);
    add(&recorder, RECORD_hello, &hello);
    add(&recorder, RECORD_step, &step);
    add(&recorder, RECORD_epoch, &epoch);
    add(&recorder, RECORD_eval, &eval);
    add(&recorder, RECORD_end, &end);
    assert_int_equal(recorder_finish(&recorder, &e), OK);
    if (records_read(&r, dir, 1, &e) != OK)
        fail_msg("%s:%d: %s", e.file, e.line, e.text);
    assert_fields_equal(RECORD_hello, &r->hello, &hello);
    assert_int_equal(r->steps.n, 1);
    assert_fields_equal(RECORD_step, r->steps.items, &step);
    assert_fields_equal(RECORD_epoch, r->epochs.items, &epoch);
    assert_fields_equal(RECORD_eval, r->evals.items, &eval);
    assert_fields_equal(RECORD_end, &r->end, &end);
    records_free(r, 1);
    snprintf(command, sizeof command, "rm -r %s", dir);
    assert_int_equal(system(command), 0);
}

/* Unknown optional fields are left out; other unknown fields are null. */
static void unknown_values(void **state)
{
    struct record_end end = {.status = "ok", .bytes_nic = NAN, .data_mib = 2, .rss_mib = NAN};
    json_t *json = record_json(RECORD_end, &end);
    assert_string_equal(json_string_value(json_object_get(json, "type")), "end");
    assert_null(json_object_get(json, "bytes_nic"));
    assert_null(json_object_get(json, "diverged"));
    assert_true(json_is_null(json_object_get(json, "rss_mib")));
    assert_true(json_is_null(json_object_get(json, "weights_equal")));
    assert_int_equal(json_integer_value(json_object_get(json, "data_mib")), 2);
    json_decref(json);
}

/* A field that no code sets is unknown, not 0. */
static void what_nobody_tells_is_unknown(void **state)
{
    struct record_end end;
    memset(&end, 0x55, sizeof end);
    record_clear(RECORD_end, &end);
    json_t *json = record_json(RECORD_end, &end);
    assert_null(json_object_get(json, "params_mib"));
    assert_null(json_object_get(json, "diverged"));
    assert_true(json_is_null(json_object_get(json, "rss_mib")));
    assert_true(json_is_null(json_object_get(json, "weights_equal")));
    assert_string_equal(json_string_value(json_object_get(json, "check")), "");
    assert_true(json_is_integer(json_object_get(json, "calls")));
    assert_int_equal(json_integer_value(json_object_get(json, "calls")), 0);
    json_decref(json);
}

static void identity_is_a_part_of_hello(void **state)
{
    struct record_hello hello = {.ranks = 2, .precision = "f64"};
    json_t *json = record_identity_json(&hello);
    assert_string_equal(json_string_value(json_object_get(json, "precision")), "f64");
    assert_null(json_object_get(json, "ranks"));
    json_decref(json);
}

static void units_are_converted(void **state)
{
    struct record_end end = {.poll_ns = 2500000, .user_s = 3};
    assert_true(field_number(field_named(RECORD_end, "poll_ns"), &end, "ms") == 2.5);
    assert_true(field_number(field_named(RECORD_end, "poll_ns"), &end, "s") == 0.0025);
    assert_true(field_number(field_named(RECORD_end, "user_s"), &end, "s") == 3);
}

/* Peers read from this list which fields they may and must write. */
static void fields_are_listed(void **state)
{
    json_t *json = record_fields_json();
    const json_t *step = json_object_get(json, "step");
    assert_true(json_is_true(json_object_get(step, "load_ns")));
    assert_true(json_is_false(json_object_get(step, "inject_ns")));
    assert_null(json_object_get(step, "load_ms"));
    json_decref(json);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_field_comes_back),
                                       cmocka_unit_test(unknown_values),
                                       cmocka_unit_test(what_nobody_tells_is_unknown),
                                       cmocka_unit_test(identity_is_a_part_of_hello),
                                       cmocka_unit_test(units_are_converted),
                                       cmocka_unit_test(fields_are_listed)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
