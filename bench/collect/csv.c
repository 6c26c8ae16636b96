/* raw.csv and summary.csv: RFC 4180 with line feeds, one row of names, an unknown value empty. */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "bench/collect/collect.h"
#include "bench/collect/summary.h"

static void write_field(FILE *out, const char *text)
{
    if (!strpbrk(text, ",\"\r\n")) {
        fputs(text, out);
        return;
    }
    fputc('"', out);
    for (; *text; text++) {
        if (*text == '"')
            fputc('"', out);
        fputc(*text, out);
    }
    fputc('"', out);
}

static void write_separated(FILE *out, const char *text, bool last)
{
    write_field(out, text);
    fputc(last ? '\n' : ',', out);
}

/* --- raw.csv: the fields of a launch -------------------------------------------------------------
 */

enum raw_type { RAW_REAL, RAW_INT, RAW_LONG, RAW_BOOL, RAW_TEXT };

struct raw_column {
    const char *name;
    enum raw_type type;
    size_t offset; /* in struct launch_result */
};

#define RAW(field, type)                                                                           \
    {                                                                                              \
#field, type, offsetof(struct launch_result, field)                                        \
    }

static const struct raw_column raw_columns[] = {
    RAW(ranks, RAW_INT),
    RAW(steps, RAW_INT),
    RAW(step_ms, RAW_REAL),
    RAW(load_ms, RAW_REAL),
    RAW(forward_ms, RAW_REAL),
    RAW(backward_ms, RAW_REAL),
    RAW(pack_ms, RAW_REAL),
    RAW(comm_total_ms, RAW_REAL),
    RAW(comm_exposed_ms, RAW_REAL),
    RAW(wait_ms, RAW_REAL),
    RAW(optimizer_ms, RAW_REAL),
    RAW(last_rank, RAW_INT),
    RAW(last_rank_pct, RAW_REAL),
    RAW(read_s, RAW_REAL),
    RAW(epoch_s, RAW_REAL),
    RAW(calls, RAW_REAL),
    RAW(bytes_payload, RAW_REAL),
    RAW(bytes_wire, RAW_REAL),
    RAW(messages_wire, RAW_REAL),
    RAW(wire_source, RAW_TEXT),
    RAW(poll_s, RAW_REAL),
    RAW(user_s, RAW_REAL),
    RAW(sys_s, RAW_REAL),
    RAW(rss_mib, RAW_REAL),
    RAW(cpu_pct, RAW_REAL),
    RAW(train_loss, RAW_REAL),
    RAW(train_acc_pct, RAW_REAL),
    RAW(test_loss, RAW_REAL),
    RAW(test_acc_pct, RAW_REAL),
    RAW(batch_per_rank, RAW_REAL),
    RAW(global_batch, RAW_LONG),
    RAW(weights_checked, RAW_BOOL),
    RAW(weights_equal, RAW_BOOL),
    RAW(check, RAW_TEXT),
    RAW(bound, RAW_TEXT),
    RAW(dataset, RAW_TEXT),
    RAW(data_source, RAW_TEXT),
    RAW(precision, RAW_TEXT),
    RAW(params, RAW_LONG),
    RAW(flops_per_image, RAW_REAL),
    RAW(host, RAW_TEXT),
    RAW(mpi, RAW_TEXT),
    RAW(blas, RAW_TEXT),
};

#define RAW_COLUMNS (sizeof raw_columns / sizeof raw_columns[0])

static const char *raw_text(char text[TEXT_NUMBER], const struct raw_column *column,
                            const struct launch_result *result)
{
    const char *field = (const char *)result + column->offset;
    switch (column->type) {
    case RAW_REAL:
        return text_real(text, *(const double *)field);
    case RAW_INT:
        return text_real(text, *(const int *)field);
    case RAW_LONG:
        return text_real(text, (double)*(const long *)field);
    case RAW_BOOL:
        return *(const bool *)field ? "1" : "0";
    case RAW_TEXT:
        break;
    }
    return field;
}

static const char *status_text(const struct journal_launch *journal,
                               const struct summary_launch *launch)
{
    if (journal->status == LAUNCH_OK)
        return launch->ok ? "ok" : "failed";
    if (journal->status == LAUNCH_RUNNING)
        return "interrupted";
    return journal->status == LAUNCH_TIMEOUT ? "timeout" : "failed";
}

static const char *label_of(const struct spec *spec, const char *id)
{
    for (size_t i = 0; i < spec->n_points; i++)
        if (strcmp(spec->points[i].id, id) == 0)
            return spec->points[i].label;
    return "";
}

static void write_launch(FILE *out, const struct spec *spec, const struct journal_launch *journal,
                         const struct summary_launch *launch)
{
    char number[TEXT_NUMBER];
    bool timed = journal->run == RUN_TIME;
    write_separated(out, journal->launch, false);
    write_separated(out, journal->point, false);
    write_separated(out, label_of(spec, journal->point), false);
    write_separated(out, timed ? "time" : "accuracy", false);
    write_separated(out, timed ? text_real(number, journal->block) : "", false);
    write_separated(out, text_real(number, (double)journal->seed), false);
    write_separated(out, status_text(journal, launch), false);
    write_separated(out, launch->reason, false);
    bool ended = journal->status != LAUNCH_RUNNING;
    write_separated(out, ended ? text_real(number, journal->wall_s) : "", false);
    for (size_t i = 0; i < RAW_COLUMNS; i++)
        write_separated(out, launch->ok ? raw_text(number, &raw_columns[i], &launch->result) : "",
                        i + 1 == RAW_COLUMNS);
}

static void write_raw(FILE *out, const struct summary *s, const struct journal *journal)
{
    fputs("launch,point,label,run,block,seed,status,reason,wall_s,", out);
    for (size_t i = 0; i < RAW_COLUMNS; i++)
        write_separated(out, raw_columns[i].name, i + 1 == RAW_COLUMNS);
    for (size_t i = 0; i < s->n_launches; i++)
        write_launch(out, s->spec, &journal->launches[i], &s->launches[i]);
}

/* --- summary.csv
 * ------------------------------------------------------------------------------------ */

static void write_summary(FILE *out, const struct summary *s, const struct journal *journal)
{
    (void)journal;
    for (int i = 0; i < COLUMNS; i++)
        write_separated(out, column_get(i)->name, i + 1 == COLUMNS);
    for (size_t k = 0; k < s->n; k++)
        for (int i = 0; i < COLUMNS; i++)
            write_separated(out, s->points[k].cells[i], i + 1 == COLUMNS);
}

/* --- Files
 * ------------------------------------------------------------------------------------------- */

typedef void write_function(FILE *out, const struct summary *s, const struct journal *journal);

/* A reader sees the old file or the new one, never half of one. */
static enum status write_file(const char *run_dir, const char *name, write_function *write_rows,
                              const struct summary *s, const struct journal *journal,
                              struct error *e)
{
    char path[4096], temporary[4096 + 8];
    snprintf(path, sizeof path, "%s/%s", run_dir, name);
    snprintf(temporary, sizeof temporary, "%s.part", path);
    FILE *out = fopen(temporary, "w");
    if (!out)
        return error_set(e, ERR_SYSTEM, "cannot write %s: %s", temporary, strerror(errno));
    write_rows(out, s, journal);
    bool failed = ferror(out);
    failed = fclose(out) != 0 || failed;
    if (!failed && rename(temporary, path) == 0)
        return OK;
    enum status status = error_set(e, ERR_SYSTEM, "cannot write %s: %s", path, strerror(errno));
    unlink(temporary);
    return status;
}

enum status summary_write(const struct summary *s, const char *run_dir,
                          const struct journal *journal, struct error *e)
{
    if (journal->n_launches != s->n_launches)
        return error_set(e, ERR_ARGUMENT, "a summary of %zu launches for a journal of %zu",
                         s->n_launches, journal->n_launches);
    enum status status = write_file(run_dir, "raw.csv", write_raw, s, journal, e);
    return status == OK ? write_file(run_dir, "summary.csv", write_summary, s, journal, e) : status;
}
