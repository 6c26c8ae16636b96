/* Reads the records of a launch. The required fields come from metrics.def; a missing field or a
 * field of the wrong type is reported with file and line. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "bench/base/file.h"
#include "bench/base/json.h"
#include "bench/record/record.h"
#include "bench/record/records.h"
#include "kernels/base/mem.h"
#include "kernels/base/names.h"
#include "kernels/base/text.h"

static void *list_add(struct list *list, size_t size, struct error *e)
{
    if (mem_grow(&list->items, list->n, size, "the lines of a record", e) != OK)
        return NULL;
    return (char *)list->items + size * list->n++;
}

/* File and line number of a record's line, and where to put the error. */
struct place {
    const char *path;
    int line;
    struct error *e;
};

/* The record that is being read, its rank, and the expected number of ranks. */
struct reading {
    struct rank_record *r;
    int rank, ranks;
};

static enum status wrong_field(const struct place *at, const struct field *field, const char *what)
{
    return error_at(at->e, ERR_DATA, at->path, at->line, 0, "%s: '%s' %s",
                    record_line_names[field->line], field->name, what);
}

typedef enum status store(const struct place *at, const struct field *field, const json_t *value,
                          void *to);

static enum status store_text(const struct place *at, const struct field *field,
                              const json_t *value, void *to)
{
    if (!json_is_string(value))
        return wrong_field(at, field, "is not a text");
    if (json_string_length(value) >= field->size)
        return wrong_field(at, field, "is too long");
    memcpy(to, json_string_value(value), json_string_length(value) + 1);
    return OK;
}

static enum status store_real(const struct place *at, const struct field *field,
                              const json_t *value, void *to)
{
    static const char *const names[] = {"nan", "inf", "-inf"};
    const double numbers[] = {text_not_a_number(), INFINITY, -INFINITY};
    const char *name = field->kind == FIELD_LOSS ? json_string_value(value) : NULL;
    int known = name != NULL ? name_index(name, names, sizeof names / sizeof *names) : -1;
    if (known < 0 && !json_is_number(value) && !json_is_null(value))
        return wrong_field(at, field, "is not a number");
    *(double *)to = known >= 0            ? numbers[known]
                    : json_is_null(value) ? NAN
                                          : json_number_value(value);
    return OK;
}

static enum status store_count(const struct place *at, const struct field *field,
                               const json_t *value, void *to)
{
    if (!json_is_integer(value))
        return wrong_field(at, field, "is not an integer");
    if (json_integer_value(value) < 0)
        return wrong_field(at, field, "is negative");
    *(int64_t *)to = json_integer_value(value);
    return OK;
}

static enum status store_verdict(const struct place *at, const struct field *field,
                                 const json_t *value, void *to)
{
    if (!json_is_boolean(value) && !json_is_null(value))
        return wrong_field(at, field, "is not true or false");
    *(enum record_verdict *)to = json_is_null(value)   ? VERDICT_UNKNOWN
                                 : json_is_true(value) ? VERDICT_TRUE
                                                       : VERDICT_FALSE;
    return OK;
}

static store *const stores[] = {[FIELD_TEXT] = store_text,
                                [FIELD_COUNT] = store_count,
                                [FIELD_REAL] = store_real,
                                [FIELD_LOSS] = store_real,
                                [FIELD_VERDICT] = store_verdict};

/* Copies the fields of a JSON line into the line's struct. Optional fields that are missing keep
 * the values that record_clear set. */
static enum status store_fields(const struct place *at, enum record_line kind, const json_t *line,
                                void *to)
{
    const struct field *field = NULL;
    record_clear(kind, to);
    while ((field = field_next(kind, field)) != NULL) {
        const json_t *value = json_object_get(line, field->name);
        if (value != NULL)
            TRY(stores[field->kind](at, field, value, (char *)to + field->offset));
        else if ((field->flags & FIELD_OPTIONAL) == 0)
            return wrong_field(at, field, "is missing");
    }
    return OK;
}

static enum status take_hello(struct rank_record *r, const struct place *at, const json_t *line,
                              int rank, int ranks)
{
    if (r->hello_line > 0)
        return error_at(at->e, ERR_DATA, at->path, at->line, 0,
                        "found a second line of type 'hello', expected one");
    TRY(store_fields(at, RECORD_hello, line, &r->hello));
    if (r->hello.schema != RECORD_SCHEMA)
        return error_at(
            at->e, ERR_DATA, at->path, at->line, 0,
            "another version of scalebench wrote this record: found schema %lld, expected %d",
            (long long)r->hello.schema, RECORD_SCHEMA);
    if (r->hello.rank != rank || r->hello.ranks != ranks)
        return error_at(at->e, ERR_DATA, at->path, at->line, 0,
                        "found the record of rank %lld of %lld, expected rank %d of %d",
                        (long long)r->hello.rank, (long long)r->hello.ranks, rank, ranks);
    r->hello_line = at->line;
    return OK;
}

static enum status take_listed(struct list *list, const struct place *at, enum record_line kind,
                               size_t size, const json_t *line)
{
    void *to = list_add(list, size, at->e);
    return to != NULL ? store_fields(at, kind, line, to) : ERR_MEMORY;
}

static enum status take_end(struct rank_record *r, const struct place *at, const json_t *line)
{
    TRY(store_fields(at, RECORD_end, line, &r->end));
    if (strcmp(r->end.status, "ok") != 0)
        return error_at(at->e, ERR_DATA, at->path, at->line, 0,
                        "the rank ended with status '%s', expected 'ok'", r->end.status);
    if (r->end.timed_steps > 0 && r->end.window_ns <= 0)
        return error_at(at->e, ERR_DATA, at->path, at->line, 0,
                        "line of type 'end': window_ns, the time of %lld timed steps, must be "
                        "above 0",
                        (long long)r->end.timed_steps);
    r->end_line = at->line;
    return OK;
}

static enum status wrong_classes(const struct place *at, const char *what)
{
    return error_at(at->e, ERR_DATA, at->path, at->line, 0, "eval: %s", what);
}

/* Returns the image counts of class i. The result's `samples` is negative if the JSON values are
 * not valid counts. */
static struct class_count class_count_of(const json_t *samples, const json_t *correct, size_t i)
{
    const json_t *all = json_array_get(samples, i), *right = json_array_get(correct, i);
    struct class_count count = {-1, -1};
    if (json_is_integer(all) && json_is_integer(right))
        count = (struct class_count){json_integer_value(all), json_integer_value(right)};
    if (count.correct < 0 || count.correct > count.samples)
        count.samples = -1;
    return count;
}

/* Reads the lists class_samples and class_correct. A workload may leave out both. */
static enum status take_classes(struct rank_record *r, const struct place *at, const json_t *line)
{
    const json_t *samples = json_object_get(line, "class_samples");
    const json_t *correct = json_object_get(line, "class_correct");
    const struct record_eval *eval = (const struct record_eval *)r->evals.items + r->evals.n - 1;
    int64_t left = eval->samples;
    r->classes.n = 0;
    if (samples == NULL && correct == NULL)
        return OK;
    if (!json_is_array(samples) || json_array_size(samples) != json_array_size(correct))
        return wrong_classes(at, "'class_samples' and 'class_correct' are not lists of one length");
    for (size_t i = 0; i < json_array_size(samples); i++) {
        struct class_count count = class_count_of(samples, correct, i), *to;
        if (count.samples < 0 || count.samples > left)
            return wrong_classes(
                at, "a class is not 0 <= correct <= its samples <= all samples in whole numbers");
        to = list_add(&r->classes, sizeof *to, at->e);
        if (to == NULL)
            return ERR_MEMORY;
        *to = count;
        left -= count.samples;
    }
    return left == 0 ? OK : wrong_classes(at, "'class_samples' does not add up to 'samples'");
}

static enum status take_eval(struct rank_record *r, const struct place *at, const json_t *line)
{
    TRY(take_listed(&r->evals, at, RECORD_eval, sizeof(struct record_eval), line));
    return take_classes(r, at, line);
}

static enum status take_line(void *arg, const json_t *line, int number, struct error *e)
{
    const struct reading *reading = arg;
    struct rank_record *r = reading->r;
    const struct place place = {r->path, number, e}, *at = &place;
    const char *type = json_string_value(json_object_get(line, "type"));
    if (type == NULL)
        return error_at(at->e, ERR_DATA, at->path, at->line, 0, "the key 'type' is missing");
    if (r->end_line > 0)
        return error_at(at->e, ERR_DATA, at->path, at->line, 0,
                        "found a line after the line of type 'end', which must be the last");
    int kind = name_index(type, record_line_names, RECORD_LINES);
    if (kind != RECORD_hello && r->hello_line == 0)
        return error_at(at->e, ERR_DATA, at->path, at->line, 0,
                        "the first line must have type 'hello', found '%s'", type);
    switch (kind) {
    case RECORD_hello:
        return take_hello(r, at, line, reading->rank, reading->ranks);
    case RECORD_step:
        return take_listed(json_is_true(json_object_get(line, "timed")) ? &r->steps : &r->warmup,
                           at, RECORD_step, sizeof(struct record_step), line);
    case RECORD_span:
        return take_listed(&r->spans, at, RECORD_span, sizeof(struct record_span), line);
    case RECORD_epoch:
        return take_listed(&r->epochs, at, RECORD_epoch, sizeof(struct record_epoch), line);
    case RECORD_eval:
        return take_eval(r, at, line);
    case RECORD_end:
        return take_end(r, at, line);
    }
    return error_at(at->e, ERR_DATA, at->path, at->line, 0,
                    "type '%s' is unknown; known: hello step span epoch eval end", type);
}

static enum status read_rank(struct rank_record *r, const char *dir, int rank, int ranks,
                             struct error *e)
{
    snprintf(r->path, sizeof r->path, "%s/rank.%d.jsonl", dir, rank);
    const char *why;
    FILE *file = file_open_stream(r->path, &why);
    if (file == NULL)
        return error_at(e, ERR_DATA, r->path, 0, 0, "cannot read the record of rank %d of %d: %s",
                        rank, ranks, why);
    int lines;
    struct reading reading = {r, rank, ranks};
    enum status status = json_read_lines(file, r->path, take_line, &reading, &lines, e);
    fclose(file);
    if (status == OK && r->end_line == 0)
        status = error_at(e, ERR_DATA, r->path, lines, 0,
                          "the line of type 'end' is missing: the rank did not finish");
    return status;
}

static const char *field_text(char text[64], const struct field *field, const void *line)
{
    const char *value = (const char *)line + field->offset;
    if (field->kind == FIELD_TEXT)
        return value;
    snprintf(text, 64, "%lld", (long long)*(const int64_t *)value);
    return text;
}

/* Checks that the fields flagged SAME are equal in a rank's line (`mine`) and in rank 0's
 * (`first`). */
static enum status check_fields(const struct rank_record *r, int at, enum record_line line,
                                const void *mine, const void *first, struct error *e)
{
    const struct field *field = NULL;
    while ((field = field_next(line, field)) != NULL) {
        char a[64], b[64];
        if ((field->flags & FIELD_SAME) == 0)
            continue;
        const char *here = field_text(a, field, mine), *there = field_text(b, field, first);
        if (strcmp(here, there) != 0)
            return error_at(e, ERR_DATA, r->path, at, 0,
                            "ranks disagree on '%s': '%s' on this rank, '%s' on rank 0",
                            field->name, here, there);
    }
    return OK;
}

static enum status check_steps(const struct rank_record *r, const struct list *steps,
                               const struct list *of_first, const char *what, struct error *e)
{
    if (steps->n != of_first->n)
        return error_at(e, ERR_DATA, r->path, r->end_line, 0,
                        "ranks disagree on the number of %s steps: %zu on this rank, %zu on rank 0",
                        what, steps->n, of_first->n);
    const struct record_step *mine = steps->items, *theirs = of_first->items;
    for (size_t i = 0; i < steps->n; i++)
        TRY(check_fields(r, r->end_line, RECORD_step, &mine[i], &theirs[i], e));
    return OK;
}

static enum status check_agreement(const struct rank_record *records, int ranks, struct error *e)
{
    const struct rank_record *first = &records[0];
    for (int i = 1; i < ranks; i++) {
        const struct rank_record *r = &records[i];
        TRY(check_fields(r, r->hello_line, RECORD_hello, &r->hello, &first->hello, e));
        TRY(check_fields(r, r->end_line, RECORD_end, &r->end, &first->end, e));
        TRY(check_steps(r, &r->steps, &first->steps, "timed", e));
        TRY(check_steps(r, &r->warmup, &first->warmup, "untimed", e));
    }
    return OK;
}

void records_free(struct rank_record *records, int ranks)
{
    for (int i = 0; records != NULL && i < ranks; i++) {
        free(records[i].steps.items);
        free(records[i].warmup.items);
        free(records[i].spans.items);
        free(records[i].epochs.items);
        free(records[i].evals.items);
        free(records[i].classes.items);
    }
    free(records);
}

enum status records_read(struct rank_record **records, const char *dir, int ranks, struct error *e)
{
    *records = NULL;
    if (ranks < 1)
        return error_set(e, ERR_ARGUMENT, "expected at least 1 rank, found %d", ranks);
    TRY(MEM_NEW(*records, (size_t)ranks, "the records of a launch", e));
    for (int i = 0; i < ranks; i++)
        TRY(read_rank(&(*records)[i], dir, i, ranks, e));
    records_take_clocks(*records, ranks);
    return check_agreement(*records, ranks, e);
}
