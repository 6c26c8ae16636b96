/* Prints summaries of the tables that sweeps write: comm.csv, kernels.csv, limits.csv and
 * compare.csv. */
#include <math.h>
#include <string.h>

#include "bench/collect/table/table.h"
#include "bench/record/csv_reader.h"
#include "kernels/base/names.h"
#include "kernels/base/text.h"

struct csv_row {
    const struct csv_table *table;
    size_t row;
};

/* Returns the text of a cell; "" if the table lacks the column. */
static const char *text(struct csv_row l, const char *name)
{
    return csv_table_text(l.table, l.row, name);
}

static bool is(struct csv_row l, const char *name, const char *value)
{
    return strcmp(text(l, name), value) == 0;
}

static double number(struct csv_row l, const char *name)
{
    return csv_table_value(l.table, l.row, name);
}

static bool begins(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

/* ---- comm.csv and compare.csv ---- */

static void print_problem(FILE *out, struct csv_row l)
{
    fprintf(out, "%-14s %9.0f bytes", text(l, "model"), number(l, "bytes"));
}

static void print_ratio(FILE *out, struct csv_row l)
{
    fprintf(out, "%.2f [%.2f; %.2f]", number(l, "ratio"), number(l, "ratio_lo"),
            number(l, "ratio_hi"));
}

static bool print_wrong(FILE *out, struct csv_row l)
{
    if (!begins(text(l, "verdict"), "wrong"))
        return false;
    fputs("WRONG: ", out);
    print_problem(out, l);
    fprintf(out, ", %s: %s\n", text(l, "name"), text(l, "verdict"));
    return true;
}

/* Prints a row of comm.csv if it belongs to MPI_Allreduce or to strategy `allreduce` or `shm`.
 * Skips parts link and best, and rows with verdict "cannot run". The row of MPI_Allreduce begins a
 * line with the latency (us). The row of a strategy appends the strategy's speed-up over
 * MPI_Allreduce to this line. */
static void print_common(FILE *out, struct csv_row l, bool *inside)
{
    if (is(l, "part", "link") || is(l, "part", "best") || is(l, "verdict", "cannot run"))
        return;
    if (is(l, "name", "MPI_Allreduce")) {
        fputs(*inside ? "\n" : "Times as fast as the library's call, in the same rounds:\n", out);
        print_problem(out, l);
        fprintf(out, "  %s %.1f us", text(l, "operation"), number(l, "latency_us"));
        *inside = true;
    } else if (is(l, "name", "allreduce") || is(l, "name", "shm")) {
        fprintf(out, "   %s ", text(l, "name"));
        print_ratio(out, l);
    }
}

/* Prints row l if it describes the fastest strategy. The same line shows MPI's fastest algorithm if
 * the next row describes it. *inside: whether the heading has been printed. */
static void print_best(FILE *out, struct csv_row l, bool *inside)
{
    char ours[96], theirs[96] = "";
    struct csv_row next = {l.table, l.row + 1};
    if (!is(l, "part", "best") || is(l, "verdict", "cannot run") || begins(text(l, "name"), "MPI_"))
        return;
    snprintf(ours, sizeof ours, "%s %.1f us", text(l, "name"), number(l, "latency_us"));
    if (next.row < l.table->rows && is(next, "part", "best"))
        snprintf(theirs, sizeof theirs, "%s %.1f us", text(next, "name"),
                 number(next, "latency_us"));
    if (!*inside)
        fputs("Best strategy that sums and best algorithm of the library, timed anew in rounds:\n",
              out);
    *inside = true;
    print_problem(out, l);
    fprintf(out, "  %-34s %-48s ", ours, theirs);
    print_ratio(out, l);
    fprintf(out, " %s\n", text(l, "compared"));
}

static size_t print_comm(FILE *out, const struct csv_table *table)
{
    size_t wrong = 0;
    bool inside = false;
    for (size_t i = 0; i < table->rows; i++)
        wrong += print_wrong(out, (struct csv_row){table, i});
    for (size_t i = 0; i < table->rows; i++)
        print_common(out, (struct csv_row){table, i}, &inside);
    fputs(inside ? "\n" : "", out);
    inside = false;
    for (size_t i = 0; i < table->rows; i++)
        print_best(out, (struct csv_row){table, i}, &inside);
    return wrong;
}

static size_t print_compare(FILE *out, const struct csv_table *table)
{
    size_t wrong = 0;
    for (struct csv_row l = {table, 0}; l.row < table->rows; l.row++) {
        wrong += print_wrong(out, l);
        if (is(l, "part", "link") || is(l, "verdict", "cannot run"))
            continue;
        print_problem(out, l);
        fprintf(out, "  %-28s %10.1f us  ", text(l, "name"), number(l, "latency_us"));
        print_ratio(out, l);
        fprintf(out, " times as fast as %s: %s\n", text(l, "other"), text(l, "compared"));
    }
    return wrong;
}

/* ---- kernels.csv ---- */

static void print_net(FILE *out, struct csv_row l)
{
    fprintf(out, "%-14s %-9s %-11s %-8s %8.2f ms %7.1f GFLOP/s effective %4.0f %% of peak done",
            text(l, "model"), text(l, "plan"), text(l, "isa"), text(l, "pass"),
            number(l, "time_ms"), number(l, "gflop_per_s"), number(l, "peak_pct"));
    if (!is(l, "other_plan", "")) {
        bool same = is(l, "other_plan", text(l, "plan"));
        fputs("  ", out);
        print_ratio(out, l);
        fprintf(out, " x as fast as %s", text(l, same ? "other_isa" : "other_plan"));
    }
    if (is(l, "pass", "train"))
        fprintf(out, "  whole step, FLOPs done: %.1f [%.1f; %.1f] %% of the matrix product",
                number(l, "done_pct"), number(l, "done_pct_lo"), number(l, "done_pct_hi"));
    fputc('\n', out);
}

static size_t print_kernels(FILE *out, const struct csv_table *table)
{
    size_t wrong = 0;
    for (struct csv_row l = {table, 0}; l.row < table->rows; l.row++) {
        if (is(l, "part", "net"))
            print_net(out, l);
        if (is(l, "verdict", "ok"))
            continue;
        wrong++;
        fprintf(out, "WRONG: %s %s %s %s %s: residual %s, bound %s\n", text(l, "model"),
                text(l, "plan"), text(l, "part"), text(l, "layers"), text(l, "pass"),
                text(l, "residual"), text(l, "bound"));
    }
    return wrong;
}

/* ---- limits.csv ---- */

/* Prints the core's peak compute rate (GFLOP/s), the upper bound for the ops of the step that
 * begins at row l. If some of these ops multiply bf16 numbers, and the peak rate of bf16 products
 * is higher, prints that rate too. */
static void print_units(FILE *out, struct csv_row l)
{
    double least = INFINITY, most = 0;
    for (; l.row < l.table->rows && !is(l, "op", "step"); l.row++) {
        least = fmin(least, number(l, "unit_gflop_per_s")); /* fmin and fmax ignore NAN */
        most = fmax(most, number(l, "unit_gflop_per_s"));
    }
    fprintf(out, "Measured in turns with the ops, best of all: compute %.0f", least);
    if (most > least)
        fprintf(out, " (bf16: %.0f)", most);
    fputs(" GFLOP/s", out);
}

static void print_limits_head(FILE *out, struct csv_row l)
{
    fprintf(out, "%s, %s: plan %s, %s, batch %.0f, one core, best of %.0f steps\n",
            text(l, "model"), text(l, "precision"), text(l, "plan"), text(l, "isa"),
            number(l, "batch"), number(l, "repeats"));
    print_units(out, l);
    fprintf(out, ", l2 %.0f, ", number(l, "l2_gbyte_per_s"));
    if (!is(l, "l3_gbyte_per_s", ""))
        fprintf(out, "l3 %.0f, ", number(l, "l3_gbyte_per_s"));
    fprintf(out, "memory %.0f GB/s\n%-34s %-8s %9s %6s  %-8s%9s %9s  note\n",
            number(l, "memory_gbyte_per_s"), "op", "pass", "ms", "share", "bound", "bound ms",
            "distance");
}

static void print_limit(FILE *out, struct csv_row l)
{
    char op[128], distance[32];
    bool zeros = number(l, "skips_zeros") == 1;
    const char *layers = text(l, "layers"), *more = strrchr(layers, '+');
    snprintf(op, sizeof op, "%s %.*s%s%s", text(l, "op"), (int)strcspn(layers, "+"), layers,
             more != NULL ? ".." : "", more != NULL ? more + 1 : "");
    snprintf(distance, sizeof distance, "%s%.2f", zeros ? "> " : "", number(l, "distance"));
    fprintf(out, "%-34s %-8s %9.4f %4.1f %%  %-8s%9.4f %9s", op, text(l, "pass"),
            number(l, "time_ms"), number(l, "share_pct"), text(l, "bound"), number(l, "bound_ms"),
            distance);
    fprintf(out, "%s%s\n", is(l, "note", "") ? "" : "  far: ", text(l, "note"));
}

/* Prints each op beside its bound. Returns the number of ops that are far from their bounds without
 * a known reason. */
static size_t print_limits(FILE *out, const struct csv_table *table)
{
    size_t unknown = 0;
    bool begins_step = true;
    fputs("Bounds count the FLOPs that kernels compute: Winograd's products, not the network as "
          "written.\n",
          out);
    for (struct csv_row l = {table, 0}; l.row < table->rows; l.row++) {
        if (begins_step)
            print_limits_head(out, l);
        print_limit(out, l);
        unknown += is(l, "note", "no reason known");
        begins_step = is(l, "op", "step");
    }
    return unknown;
}

/* ---- Table names ---- */

static const char *const names[] = {"comm.csv", "kernels.csv", "limits.csv", "compare.csv"};

const char *const *table_sweep_names(size_t *n)
{
    *n = sizeof names / sizeof *names;
    return names;
}

enum status table_print_sweep(FILE *out, const char *path, bool *all_well, struct error *e)
{
    static const struct {
        size_t (*print)(FILE *out, const struct csv_table *table);
        const char *wrong;
        bool is_advice; /* whether the command succeeds even if rows have the problem that `wrong`
                           names. `print` returns the number of these rows */
    } kinds[] = {{print_comm, "wrong", false},
                 {print_kernels, "beyond their bound", false},
                 {print_limits, "far from their bound without a known reason", true},
                 {print_compare, "wrong", false}};
    enum { KINDS = sizeof kinds / sizeof *kinds };
    char why[256];
    const char *slash = strrchr(path, '/'), *name = slash != NULL ? slash + 1 : path;
    int kind = name_index(name, names, KINDS);
    if (kind < 0)
        return error_set(e, ERR_ARGUMENT, "table: expected the table of a sweep: %s",
                         name_explain(why, sizeof why, name, names, KINDS));
    struct csv_table table;
    char rows[TEXT_NUMBER];
    enum status status = csv_table_read(&table, path, e);
    if (status == OK) {
        size_t wrong = kinds[kind].print(out, &table);
        fprintf(out, "%s, %zu %s\n", text_plural(rows, (long)table.rows, "row"), wrong,
                kinds[kind].wrong);
        *all_well = wrong == 0 || kinds[kind].is_advice;
    }
    csv_table_free(&table);
    return status;
}
