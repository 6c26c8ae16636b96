/* Reads the records of one launch. Each kind of line has a table of the fields it must carry, so
 * that a missing or mistyped one is named with its place. */
#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "bench/record/records.h"
#include "kernels/base/file.h"
#include "kernels/base/names.h"
#include "kernels/base/text.h"

/* The version of bench/record/record.h that this file reads. */
#define SCHEMA_READ 1

enum field_type {
    FIELD_TEXT,
    FIELD_COUNT,      /* integer, not negative */
    FIELD_REAL,       /* any number; null is unknown */
    FIELD_RESULT,     /* the same, or "nan", "inf", "-inf" */
    FIELD_VERDICT,    /* true, false; null is unknown */
    FIELD_OPTIONAL,   /* a real that a workload may leave out: unknown */
    FIELD_COUNT_OR_0, /* a count that a workload may leave out: 0 */
    FIELD_NOTE,       /* a text that a workload may leave out: "" */
};

struct field {
    const char *name;
    enum field_type type;
    size_t offset, size;
    bool agreed; /* the same on every rank */
};

#define FIELD(record, field, type, agreed)                                                         \
    {                                                                                              \
#field, type, offsetof(struct record, field), sizeof((struct record *)0)->field, agreed    \
    }
#define FIELDS(table) table, sizeof table / sizeof table[0]

static const struct field hello_fields[] = {
    FIELD(hello, schema, FIELD_COUNT, false),
    FIELD(hello, rank, FIELD_COUNT, false),
    FIELD(hello, ranks, FIELD_COUNT, false),
    FIELD(hello, host, FIELD_TEXT, false),
    FIELD(hello, precision, FIELD_TEXT, true),
    FIELD(hello, model, FIELD_TEXT, true),
    FIELD(hello, params, FIELD_COUNT, true),
    FIELD(hello, flops_forward, FIELD_COUNT, true),
    FIELD(hello, flops_backward, FIELD_COUNT, true),
    FIELD(hello, dataset, FIELD_TEXT, true),
    FIELD(hello, data_source, FIELD_TEXT, true),
    FIELD(hello, read_s, FIELD_REAL, false),
    FIELD(hello, strategy, FIELD_TEXT, true),
    FIELD(hello, sync_variant, FIELD_TEXT, true),
    FIELD(hello, sync_algorithm, FIELD_TEXT, false),
    FIELD(hello, batch, FIELD_COUNT, false),
    FIELD(hello, global_batch, FIELD_COUNT, true),
    FIELD(hello, bound, FIELD_TEXT, false),
    FIELD(hello, mpi, FIELD_TEXT, false),
    FIELD(hello, blas, FIELD_TEXT, false),
    FIELD(hello, flops_done_forward, FIELD_OPTIONAL, false),
    FIELD(hello, flops_done_backward, FIELD_OPTIONAL, false),
    FIELD(hello, isa, FIELD_NOTE, true),
    FIELD(hello, data_hash, FIELD_NOTE, true),
    FIELD(hello, libraries, FIELD_NOTE, false),
    FIELD(hello, savings, FIELD_NOTE, true),
    FIELD(hello, kernels_tuned, FIELD_NOTE, true),
};

static const struct field step_fields[] = {
    FIELD(step, epoch, FIELD_COUNT, true),
    FIELD(step, step, FIELD_COUNT, true),
    FIELD(step, samples, FIELD_COUNT, false),
    FIELD(step, timed, FIELD_VERDICT, false),
    FIELD(step, begin_ns, FIELD_COUNT, false),
    FIELD(step, end_ns, FIELD_COUNT, false),
    FIELD(step, load_ns, FIELD_COUNT, false),
    FIELD(step, forward_ns, FIELD_COUNT, false),
    FIELD(step, backward_ns, FIELD_COUNT, false),
    FIELD(step, pack_ns, FIELD_COUNT, false),
    FIELD(step, comm_total_ns, FIELD_COUNT, false),
    FIELD(step, comm_exposed_ns, FIELD_COUNT, false),
    FIELD(step, optimizer_ns, FIELD_COUNT, false),
    FIELD(step, arrive_ns, FIELD_COUNT, false),
    FIELD(step, poll_ns, FIELD_COUNT, false),
    FIELD(step, progress_ns, FIELD_COUNT_OR_0, false),
    FIELD(step, inject_ns, FIELD_COUNT_OR_0, false),
    FIELD(step, loss_sum, FIELD_RESULT, false),
    FIELD(step, hash, FIELD_TEXT, false),
};

static const struct field epoch_fields[] = {
    FIELD(epoch, epoch, FIELD_COUNT, false),       FIELD(epoch, seconds, FIELD_REAL, false),
    FIELD(epoch, train_loss, FIELD_RESULT, false), FIELD(epoch, train_acc_pct, FIELD_REAL, false),
    FIELD(epoch, lr, FIELD_REAL, false),
};

static const struct field eval_fields[] = {
    FIELD(eval, epoch, FIELD_COUNT, false),       FIELD(eval, samples, FIELD_COUNT, false),
    FIELD(eval, seconds, FIELD_REAL, false),      FIELD(eval, test_loss, FIELD_RESULT, false),
    FIELD(eval, test_acc_pct, FIELD_REAL, false),
};

static const struct field end_fields[] = {
    FIELD(end, status, FIELD_TEXT, false),
    FIELD(end, steps, FIELD_COUNT, true),
    FIELD(end, timed_steps, FIELD_COUNT, true),
    FIELD(end, window_ns, FIELD_COUNT, false),
    FIELD(end, window_cpu_ns, FIELD_COUNT, false),
    FIELD(end, poll_ns, FIELD_COUNT, false),
    FIELD(end, calls, FIELD_COUNT, false),
    FIELD(end, bytes_payload, FIELD_COUNT, false),
    FIELD(end, bytes_wire, FIELD_COUNT, false),
    FIELD(end, messages_wire, FIELD_COUNT, false),
    FIELD(end, wire_source, FIELD_TEXT, false),
    FIELD(end, replay_ns, FIELD_OPTIONAL, false),
    FIELD(end, bytes_nic, FIELD_OPTIONAL, false),
    FIELD(end, fetch_s, FIELD_OPTIONAL, false),
    FIELD(end, infinite, FIELD_OPTIONAL, false),
    FIELD(end, diverged_step, FIELD_OPTIONAL, false),
    FIELD(end, diverged, FIELD_NOTE, false),
    FIELD(end, user_s, FIELD_REAL, false),
    FIELD(end, sys_s, FIELD_REAL, false),
    FIELD(end, rss_mib, FIELD_REAL, false),
    FIELD(end, data_mib, FIELD_OPTIONAL, false),
    FIELD(end, libraries_mib, FIELD_OPTIONAL, false),
    FIELD(end, check, FIELD_TEXT, false),
    FIELD(end, weights_equal, FIELD_VERDICT, false),
    FIELD(end, first_difference, FIELD_TEXT, false),
};

static void *list_add(struct list *list, size_t size)
{
    if (list->n == list->room) {
        size_t room = list->room ? 2 * list->room : 64;
        void *items = realloc(list->items, room * size);
        if (!items)
            return NULL;
        list->items = items;
        list->room = room;
    }
    return (char *)list->items + size * list->n++;
}

/* Where a line stands, for messages. */
struct place {
    const char *path;
    int line;
    struct error *e;
};

static enum status wrong_field(const struct place *at, const char *record,
                               const struct field *field, const char *what)
{
    return error_at(at->e, ERR_DATA, at->path, at->line, 0, "%s: '%s' %s", record, field->name,
                    what);
}

static enum status store_text(const struct place *at, const char *record, const struct field *field,
                              const json_t *value, char *to)
{
    if (!json_is_string(value))
        return wrong_field(at, record, field, "is not a text");
    if (json_string_length(value) >= field->size)
        return wrong_field(at, record, field, "is too long");
    memcpy(to, json_string_value(value), json_string_length(value) + 1);
    return OK;
}

static enum status store_real(const struct place *at, const char *record, const struct field *field,
                              const json_t *value, double *to)
{
    static const char *const names[] = {"nan", "inf", "-inf"};
    const double numbers[] = {text_not_a_number(), INFINITY, -INFINITY};
    const char *name = field->type == FIELD_RESULT ? json_string_value(value) : NULL;
    int known = name ? name_index(name, names, sizeof names / sizeof *names) : -1;
    if (known < 0 && !json_is_number(value) && !json_is_null(value))
        return wrong_field(at, record, field, "is not a number");
    *to = known >= 0 ? numbers[known] : json_is_null(value) ? NAN : json_number_value(value);
    return OK;
}

static enum status store_count(const struct place *at, const char *record,
                               const struct field *field, const json_t *value, int64_t *to)
{
    if (!json_is_integer(value))
        return wrong_field(at, record, field, "is not an integer");
    if (json_integer_value(value) < 0)
        return wrong_field(at, record, field, "is negative");
    *to = json_integer_value(value);
    return OK;
}

static enum status store_field(const struct place *at, const char *record,
                               const struct field *field, const json_t *line, char *to)
{
    const json_t *value = json_object_get(line, field->name);
    if (!value && field->type == FIELD_OPTIONAL) {
        *(double *)to = NAN;
        return OK;
    }
    if (!value && field->type == FIELD_COUNT_OR_0) {
        *(int64_t *)to = 0;
        return OK;
    }
    if (!value && field->type == FIELD_NOTE) {
        *to = '\0';
        return OK;
    }
    if (!value)
        return wrong_field(at, record, field, "is missing");
    switch (field->type) {
    case FIELD_TEXT:
    case FIELD_NOTE:
        return store_text(at, record, field, value, to);
    case FIELD_COUNT:
    case FIELD_COUNT_OR_0:
        return store_count(at, record, field, value, (int64_t *)to);
    case FIELD_REAL:
    case FIELD_RESULT:
    case FIELD_OPTIONAL:
        return store_real(at, record, field, value, (double *)to);
    case FIELD_VERDICT:
        if (!json_is_boolean(value) && !json_is_null(value))
            return wrong_field(at, record, field, "is not true or false");
        *(enum verdict *)to = json_is_null(value)   ? VERDICT_UNKNOWN
                              : json_is_true(value) ? VERDICT_TRUE
                                                    : VERDICT_FALSE;
        return OK;
    }
    return wrong_field(at, record, field, "has no known type");
}

static enum status store_fields(const struct place *at, const char *record,
                                const struct field *fields, size_t n, const json_t *line, void *to)
{
    enum status status = OK;
    for (size_t i = 0; i < n && status == OK; i++)
        status = store_field(at, record, &fields[i], line, (char *)to + fields[i].offset);
    return status;
}

static enum status take_hello(struct rank_record *r, const struct place *at, const json_t *line,
                              int rank, int ranks)
{
    if (r->hello_line)
        return error_at(at->e, ERR_DATA, at->path, at->line, 0, "a second hello");
    TRY(store_fields(at, "hello", FIELDS(hello_fields), line, &r->hello));
    if (r->hello.schema != SCHEMA_READ)
        return error_at(at->e, ERR_DATA, at->path, at->line, 0,
                        "records of schema %lld; this program reads schema %d",
                        (long long)r->hello.schema, SCHEMA_READ);
    if (r->hello.rank != rank || r->hello.ranks != ranks)
        return error_at(at->e, ERR_DATA, at->path, at->line, 0,
                        "written by rank %lld of %lld, expected rank %d of %d",
                        (long long)r->hello.rank, (long long)r->hello.ranks, rank, ranks);
    r->hello_line = at->line;
    return OK;
}

static enum status take_step(struct rank_record *r, const struct place *at, const json_t *line)
{
    struct step step = {0};
    TRY(store_fields(at, "step", FIELDS(step_fields), line, &step));
    struct step *to = list_add(step.timed == VERDICT_TRUE ? &r->steps : &r->warmup, sizeof step);
    if (!to)
        return error_set(at->e, ERR_MEMORY, "no memory for the steps of %s", at->path);
    *to = step;
    return OK;
}

static enum status take_end(struct rank_record *r, const struct place *at, const json_t *line)
{
    enum status status = store_fields(at, "end", FIELDS(end_fields), line, &r->end);
    if (status != OK)
        return status;
    if (strcmp(r->end.status, "ok") != 0)
        return error_at(at->e, ERR_DATA, at->path, at->line, 0,
                        "the rank ended with status '%s', expected 'ok'", r->end.status);
    if (r->end.timed_steps > 0 && r->end.window_ns <= 0)
        return error_at(at->e, ERR_DATA, at->path, at->line, 0,
                        "end: %lld timed steps in a window of 0 ns", (long long)r->end.timed_steps);
    r->end_line = at->line;
    return OK;
}

static enum status take_listed(struct list *list, const struct place *at, const char *record,
                               const struct field *fields, size_t n, size_t size,
                               const json_t *line)
{
    void *to = list_add(list, size);
    if (!to)
        return error_set(at->e, ERR_MEMORY, "no memory for the records of %s", at->path);
    return store_fields(at, record, fields, n, line, to);
}

static enum status wrong_classes(const struct place *at, const char *what)
{
    return error_at(at->e, ERR_DATA, at->path, at->line, 0, "eval: %s", what);
}

/* Image counts of class i; negative where they make no sense. */
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

/* Records of workloads that do not know classes lack both lists. */
static enum status take_classes(struct rank_record *r, const struct place *at, const json_t *line)
{
    const json_t *samples = json_object_get(line, "class_samples");
    const json_t *correct = json_object_get(line, "class_correct");
    const struct eval *eval = (const struct eval *)r->evals.items + r->evals.n - 1;
    int64_t left = eval->samples;
    r->classes.n = 0;
    if (!samples && !correct)
        return OK;
    if (!json_is_array(samples) || json_array_size(samples) != json_array_size(correct))
        return wrong_classes(at, "'class_samples' and 'class_correct' are not lists of one length");
    for (size_t i = 0; i < json_array_size(samples); i++) {
        struct class_count count = class_count_of(samples, correct, i), *to;
        if (count.samples < 0 || count.samples > left)
            return wrong_classes(
                at, "a class is not 0 <= correct <= its samples <= all samples in whole numbers");
        to = list_add(&r->classes, sizeof *to);
        if (!to)
            return error_set(at->e, ERR_MEMORY, "no memory for the classes of %s", at->path);
        *to = count;
        left -= count.samples;
    }
    return left == 0 ? OK : wrong_classes(at, "'class_samples' does not add up to 'samples'");
}

static enum status take_eval(struct rank_record *r, const struct place *at, const json_t *line)
{
    enum status status =
        take_listed(&r->evals, at, "eval", FIELDS(eval_fields), sizeof(struct eval), line);
    return status == OK ? take_classes(r, at, line) : status;
}

static enum status take_line(struct rank_record *r, const struct place *at, const json_t *line,
                             int rank, int ranks)
{
    const char *type = json_string_value(json_object_get(line, "type"));
    if (!type)
        return error_at(at->e, ERR_DATA, at->path, at->line, 0, "a line without 'type'");
    if (r->end_line)
        return error_at(at->e, ERR_DATA, at->path, at->line, 0, "a line after 'end'");
    if (strcmp(type, "hello") == 0)
        return take_hello(r, at, line, rank, ranks);
    if (!r->hello_line)
        return error_at(at->e, ERR_DATA, at->path, at->line, 0,
                        "the first line has type '%s', expected 'hello'", type);
    if (strcmp(type, "step") == 0)
        return take_step(r, at, line);
    if (strcmp(type, "epoch") == 0)
        return take_listed(&r->epochs, at, type, FIELDS(epoch_fields), sizeof(struct epoch), line);
    if (strcmp(type, "eval") == 0)
        return take_eval(r, at, line);
    if (strcmp(type, "end") == 0)
        return take_end(r, at, line);
    return error_at(at->e, ERR_DATA, at->path, at->line, 0,
                    "type '%s' is unknown; known: hello step epoch eval end", type);
}

/* A line that does not parse is an error, unless it is the last: the writer died over it. */
static enum status read_lines(struct rank_record *r, FILE *file, int rank, int ranks,
                              struct error *e)
{
    char *text = NULL;
    size_t room = 0;
    enum status status = OK;
    struct error torn = {.status = OK};
    struct place at = {.path = r->path, .e = e};
    for (ssize_t length; status == OK && (length = getline(&text, &room, file)) >= 0;) {
        at.line++;
        if (torn.status != OK) {
            if (e)
                *e = torn;
            status = torn.status;
            break;
        }
        json_error_t reason;
        json_t *line = json_loadb(text, (size_t)length, JSON_REJECT_DUPLICATES, &reason);
        if (json_is_object(line))
            status = take_line(r, &at, line, rank, ranks);
        else
            error_at(&torn, ERR_DATA, r->path, at.line, 0, "not a JSON object: %s",
                     line ? "another value" : reason.text);
        json_decref(line);
    }
    free(text);
    if (status == OK && ferror(file))
        status = error_set(e, ERR_SYSTEM, "cannot read %s: %s", r->path, strerror(errno));
    if (status == OK && !r->end_line)
        status = error_at(e, ERR_DATA, r->path, at.line, 0,
                          "the record ends without 'end': the rank did not finish");
    return status;
}

static enum status read_rank(struct rank_record *r, const char *dir, int rank, int ranks,
                             struct error *e)
{
    snprintf(r->path, sizeof r->path, "%s/rank.%d.jsonl", dir, rank);
    const char *why;
    FILE *file = file_open_stream(r->path, &why);
    if (!file)
        return error_at(e, ERR_DATA, r->path, 0, 0, "rank %d of %d left no record: %s", rank, ranks,
                        why);
    enum status status = read_lines(r, file, rank, ranks, e);
    fclose(file);
    return status;
}

/* A field as text, for messages. */
static const char *field_text(char text[64], const struct field *field, const void *record)
{
    const char *value = (const char *)record + field->offset;
    if (field->type == FIELD_TEXT || field->type == FIELD_NOTE)
        return value;
    snprintf(text, 64, "%lld", (long long)*(const int64_t *)value);
    return text;
}

/* Ranks of one launch did the same thing, or its times mean nothing. */
static enum status check_fields(const struct rank_record *r, int line, const struct field *fields,
                                size_t n, const void *mine, const void *first, struct error *e)
{
    for (size_t i = 0; i < n; i++) {
        char a[64], b[64];
        const char *here = field_text(a, &fields[i], mine);
        const char *there = field_text(b, &fields[i], first);
        if (fields[i].agreed && strcmp(here, there) != 0)
            return error_at(e, ERR_DATA, r->path, line, 0,
                            "ranks disagree on '%s': '%s' here, '%s' on rank 0", fields[i].name,
                            here, there);
    }
    return OK;
}

static enum status check_steps(const struct rank_record *r, const struct list *steps,
                               const struct list *of_first, const char *what, struct error *e)
{
    if (steps->n != of_first->n)
        return error_at(e, ERR_DATA, r->path, r->end_line, 0,
                        "ranks disagree on %s steps: %zu lines here, %zu on rank 0", what, steps->n,
                        of_first->n);
    const struct step *mine = steps->items, *theirs = of_first->items;
    enum status status = OK;
    for (size_t i = 0; i < steps->n && status == OK; i++)
        status = check_fields(r, r->end_line, FIELDS(step_fields), &mine[i], &theirs[i], e);
    return status;
}

static enum status check_agreement(const struct rank_record *records, int ranks, struct error *e)
{
    const struct rank_record *first = &records[0];
    enum status status = OK;
    for (int i = 1; i < ranks && status == OK; i++) {
        const struct rank_record *r = &records[i];
        status = check_fields(r, r->hello_line, FIELDS(hello_fields), &r->hello, &first->hello, e);
        if (status == OK)
            status = check_fields(r, r->end_line, FIELDS(end_fields), &r->end, &first->end, e);
        if (status == OK)
            status = check_steps(r, &r->steps, &first->steps, "timed", e);
        if (status == OK)
            status = check_steps(r, &r->warmup, &first->warmup, "untimed", e);
    }
    return status;
}

void records_free(struct rank_record *records, int ranks)
{
    for (int i = 0; records && i < ranks; i++) {
        free(records[i].steps.items);
        free(records[i].warmup.items);
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
        return error_set(e, ERR_ARGUMENT, "a launch of %d ranks; at least 1", ranks);
    *records = calloc((size_t)ranks, sizeof **records);
    if (!*records)
        return error_set(e, ERR_MEMORY, "no memory for the records of %d ranks", ranks);
    enum status status = OK;
    for (int i = 0; i < ranks && status == OK; i++)
        status = read_rank(&(*records)[i], dir, i, ranks, e);
    return status == OK ? check_agreement(*records, ranks, e) : status;
}
