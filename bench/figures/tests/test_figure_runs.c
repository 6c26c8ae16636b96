/* One figure over several runs. */
#include "bench/figures/tests/drawn.h"

#include "bench/record/csv_reader.h"

/* Reads *n values from the rows of a series file in which a column has this text. */
static void read_values(double *values, size_t *n, const char *dir, const char *figure,
                        const char *column, const char *wanted)
{
    struct csv_table table;
    struct error e = {.status = OK};
    char path[256];
    size_t at, value;
    snprintf(path, sizeof path, "%s/series_%s.csv", dir, figure);
    assert_int_equal(csv_table_read(&table, path, &e), OK);
    assert_int_equal(csv_table_column(&table, column, &at, &e), OK);
    assert_int_equal(csv_table_column(&table, "value", &value, &e), OK);
    *n = 0;
    for (size_t row = 0; row < table.rows; row++)
        if (strstr(csv_table_cell(&table, row, at), wanted) != NULL)
            csv_table_number(&table, row, value, &values[(*n)++], &e);
    csv_table_free(&table);
}

static void assert_alike(const char *own, const char *joined, const char *figure, const char *name)
{
    double before[32], after[32];
    size_t n, m;
    read_values(before, &n, own, figure, "name", "");
    read_values(after, &m, joined, figure, "name", name);
    assert_true(n > 3);
    assert_int_equal(n, m);
    for (size_t i = 0; i < n; i++)
        assert_true(before[i] == after[i] || (isnan(before[i]) && isnan(after[i])));
}

static struct summary measured(struct fake_run *run, double step_ms)
{
    fake_open(run, spec_text);
    add(run, 1, "none", step_ms);
    add(run, 2, "none", 51);
    add(run, 2, "allreduce", step_ms / 2 + 5);
    add(run, 4, "allreduce", 30);
    struct summary s = summarise(run);
    draw(&s, run->dir);
    return s;
}

/* The same points measured twice: each run keeps its own base, launches and interval. */
static void runs_are_drawn_beside_each_other(void **state)
{
    static const char *const figures[] = {"time", "speedup", "efficiency"};
    static const char *const lines[] = {">before, allreduce<", ">after, allreduce<", NULL};
    struct fake_run before, after, out;
    struct error e = {.status = OK};
    struct summary s = measured(&before, 100), t = measured(&after, 120);
    fake_open(&out, spec_text);
    const struct figures_run joined[] = {{&s, before.dir, "before"}, {&t, after.dir, "after"}};
    if (figures_draw(joined, 2, out.dir, "plots", FIGURES_PICTURES, &e) != OK)
        fail_msg("%s: %s", e.file, e.text);
    for (size_t i = 0; i < sizeof figures / sizeof *figures; i++) {
        char file[32];
        snprintf(file, sizeof file, "%s.svg", figures[i]);
        assert_says(out.dir, file, lines);
        assert_alike(before.dir, out.dir, figures[i], "before, ");
        assert_alike(after.dir, out.dir, figures[i], "after, ");
    }
    summary_free(&s);
    summary_free(&t);
    fake_close(&before);
    fake_close(&after);
    fake_close(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(runs_are_drawn_beside_each_other),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
