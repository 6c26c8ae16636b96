/* Tests the CSV writer: cells of each type, unknown values, quotes, the dictionary. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdlib.h>

#include "bench/record/csv.h"

struct sample_row {
    CSV_CELL_TEXT label;
    CSV_CELL_INT ranks;
    CSV_CELL_REAL step_ms, step_ms_lo, step_ms_hi;
    CSV_CELL_BOOL timed;
};

static const struct column columns[] = {
    CSV_COLUMN("sample.csv", sample_row, label, TEXT, "", "what it is")
        CSV_COLUMN("sample.csv", sample_row, ranks, INT, "ranks", "MPI processes")
            CSV_COLUMN("sample.csv", sample_row, step_ms, REAL, "ms", "median, of steps")
                CSV_COLUMN("sample.csv", sample_row, timed, BOOL, "", "whether it counts")};
static const struct csv_file file = {"sample.csv", "One row per sample", columns,
                                     sizeof columns / sizeof *columns};

static void assert_rows(const struct sample_row *row, const char *expected)
{
    char *text;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    csv_write_row(out, &file, row);
    fclose(out);
    assert_string_equal(text, expected);
    free(text);
}

static void cells_are_written_by_their_type(void **state)
{
    struct sample_row row = {.label = "ring", .ranks = 1e12, .step_ms = 1.0 / 3, .timed = 1};
    assert_rows(&row, "ring,1000000000000,0.3333333333,1\n");
    row = (struct sample_row){.label = "a, \"b\"", .ranks = 2, .step_ms = INFINITY, .timed = 0};
    assert_rows(&row, "\"a, \"\"b\"\"\",2,Inf,0\n");
}

static void unknown_cells_are_empty(void **state)
{
    struct sample_row row;
    csv_clear_row(&file, &row);
    assert_rows(&row, ",,,\n");
}

static void an_interval_fills_three_cells(void **state)
{
    struct sample_row row;
    const struct {
        double lo, mid, hi;
    } interval = {1, 2, 4};
    CSV_SET_INTERVAL(&row, step_ms, interval, 10);
    assert_true(row.step_ms_lo == 10 && row.step_ms == 20 && row.step_ms_hi == 40);
}

static void the_dictionary_has_a_row_a_column(void **state)
{
    char *text;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    csv_begin_dictionary(out);
    csv_add_to_dictionary(out, file.columns, file.n);
    csv_write_header(out, &file);
    fclose(out);
    assert_string_equal(text, "file,column,type,unit,meaning\n"
                              "sample.csv,label,TEXT,,what it is\n"
                              "sample.csv,ranks,INT,ranks,MPI processes\n"
                              "sample.csv,step_ms,REAL,ms,\"median, of steps\"\n"
                              "sample.csv,timed,BOOL,,whether it counts\n"
                              "label,ranks,step_ms,timed\n");
    free(text);
}

static void what_cannot_be_written_is_an_error(void **state)
{
    struct error e;
    FILE *out = fopen("/dev/full", "w");
    if (out == NULL)
        skip();
    csv_write_header(out, &file);
    assert_int_equal(csv_close(out, "sample.csv", &e), ERR_SYSTEM);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cells_are_written_by_their_type),
        cmocka_unit_test(unknown_cells_are_empty),
        cmocka_unit_test(an_interval_fills_three_cells),
        cmocka_unit_test(the_dictionary_has_a_row_a_column),
        cmocka_unit_test(what_cannot_be_written_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
