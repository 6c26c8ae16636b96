/* Tests of published numbers: CSV files, matching of rows to points, and the message for every
 * mistake in file or spec. */
#include "bench/collect/tests/fake_folder.h"

#include <glob.h>

#include "bench/collect/published.h"
#include "bench/record/csv_reader.h"

/* Asserts the place and text of an error in the table, as "12: text". */
static void assert_error(const struct error *e, const char *file, const char *text)
{
    char found[1200];
    snprintf(found, sizeof found, "%d: %s", e->line, e->text);
    assert_string_equal(e->file, file);
    assert_string_equal(found, text);
}

/* ---- CSV files ---- */

static void cells_are_read_as_they_are(void **state)
{
    struct csv_table table;
    struct error e;
    double x;
    fake_write(path_of("a.csv"), "# a remark, with a comma\n# another\n"
                                 "name,\"x, y\",z\r\n"
                                 "plain,1.5e2,\n"
                                 "\"a \"\"b\"\"\",,\"two\nlines\"\r\n"
                                 "last,-3,0");
    assert_int_equal(csv_table_read(&table, path_of("a.csv"), &e), OK);
    assert_int_equal(table.columns, 3);
    assert_int_equal(table.rows, 3);
    assert_string_equal(table.names[1], "x, y");
    assert_int_equal(csv_table_find(&table, "z"), 2);
    assert_int_equal(csv_table_find(&table, "y"), -1);
    assert_string_equal(csv_table_cell(&table, 0, 2), "");
    assert_string_equal(csv_table_cell(&table, 1, 0), "a \"b\"");
    assert_string_equal(csv_table_cell(&table, 1, 2), "two\nlines");
    assert_int_equal(csv_table_number(&table, 0, 1, &x, &e), OK);
    assert_true(x == 150);
    assert_int_equal(csv_table_number(&table, 1, 1, &x, &e), OK);
    assert_true(isnan(x));
    assert_int_equal(table.lines[0], 4);
    assert_int_equal(table.lines[2], 7);
    assert_int_equal(csv_table_number(&table, 1, 2, &x, &e), ERR_DATA);
    assert_error(&e, path_of("a.csv"), "5: z: 'two\nlines' is not a number");
    csv_table_free(&table);
}

static void refuse_csv(const char *text, const char *expected)
{
    struct csv_table table;
    struct error e = {.status = OK};
    fake_write(path_of("bad.csv"), text);
    assert_int_equal(csv_table_read(&table, path_of("bad.csv"), &e), ERR_DATA);
    assert_error(&e, path_of("bad.csv"), expected);
    csv_table_free(&table);
}

static void byte_order_marks_are_no_names(void **state)
{
    static const char *const texts[] = {"\xef\xbb\xbfranks,ms\r\n1,5\r\n",
                                        "\xef\xbb\xbf# a remark\nranks,ms\n1,5\n"};
    for (size_t i = 0; i < 2; i++) {
        struct csv_table table;
        struct error e;
        size_t column;
        double ranks;
        fake_write(path_of("marked.csv"), texts[i]);
        assert_int_equal(csv_table_read(&table, path_of("marked.csv"), &e), OK);
        assert_int_equal(csv_table_column(&table, "ranks", &column, &e), OK);
        assert_int_equal(csv_table_number(&table, 0, column, &ranks, &e), OK);
        assert_true(ranks == 1);
        csv_table_free(&table);
    }
    refuse_csv("\xef\xbb\xbf", "1: column 1 has no name");
}

#define CARRIAGE_RETURN(line) #line ": expected \\n or \\r\\n at the end of a line, found \\r alone"

static void malformed_tables_are_refused(void **state)
{
    struct csv_table table;
    struct error e;
    refuse_csv("", "1: the file is empty: expected a row of column names");
    refuse_csv("a,b\n1,2\n3\n", "3: expected 2 cells as in the first row, found 1");
    refuse_csv("a,b\n1,2,3\n", "2: expected 2 cells as in the first row, found 3");
    refuse_csv("a,b\n1,2\n\n", "3: expected 2 cells as in the first row, found 1");
    refuse_csv("# remark\na,b,a\n", "2: two columns are called 'a'");
    refuse_csv("a,,b\n", "1: column 2 has no name");
    refuse_csv("a,b\n1,\"2\n3,4\n", "2: a quotation mark is not closed");
    refuse_csv("a,b\n\"\"\"", "2: a quotation mark is not closed");
    refuse_csv(
        "a,b\n\"1\"x,2\n",
        "2: expected a comma or the end of the line after a closing quotation mark, found 'x'");
    refuse_csv("a,b\n1,2\r3,4\r", CARRIAGE_RETURN(2));
    refuse_csv("a,b\r1,2\r", CARRIAGE_RETURN(1));
    refuse_csv("a,b\n1,2\n\"3\",4\r", CARRIAGE_RETURN(3));
    assert_int_equal(csv_table_read(&table, path_of("none.csv"), &e), ERR_DATA);
    assert_error(&e, path_of("none.csv"), "0: cannot be read: No such file or directory");
    csv_table_free(&table);
}

/* Counting rows and splitting rows must agree on line ends. */
static void many_rows_are_read(void **state)
{
    enum { ROWS = 3000 };
    struct csv_table table;
    struct error e;
    char *text = malloc(16 * ROWS), *at = text;
    assert_non_null(text);
    at += sprintf(at, "a,b\n");
    for (int i = 0; i < ROWS; i++)
        at += sprintf(at, "%d,\"\r\"%s", i, i % 2 ? "\n" : "\r\n");
    fake_write(path_of("many.csv"), text);
    free(text);
    assert_int_equal(csv_table_read(&table, path_of("many.csv"), &e), OK);
    assert_int_equal(table.rows, ROWS);
    assert_string_equal(csv_table_cell(&table, ROWS - 1, 0), "2999");
    assert_string_equal(csv_table_cell(&table, ROWS - 1, 1), "\r");
    assert_int_equal(table.lines[ROWS - 1], ROWS + 1);
    csv_table_free(&table);
}

/* ---- Rows and points ---- */

#define HEAD                                                                                       \
    "name: p\nscaling: strong\nmodel: lenet_21k\ntrain: {global_batch: 64}\n"                      \
    "matrix: {ranks: [1, 2, 4], sync.strategy: [none, allreduce]}\n"

/* Reads a table with the rest of a spec; overwrites both. */
static enum status read_table(struct published *p, struct spec *spec, const char *table,
                              const char *rest, struct error *e)
{
    char text[1024];
    struct spec_machine machine = {.usable_cores = 8};
    fake_write(path_of("table.csv"), table);
    snprintf(text, sizeof text, HEAD "published: {file: %s, %s}\n", path_of("table.csv"), rest);
    fake_write(path_of("spec.yaml"), text);
    struct error inner;
    if (spec_load(spec, path_of("spec.yaml"), NULL, &machine, &inner) != OK)
        fail_msg("%s", inner.text);
    return published_read(p, spec, e);
}

static double value_at(const struct published *p, const struct spec *spec, const char *label,
                       size_t k)
{
    for (size_t i = 0; i < spec->n_points; i++)
        if (strcmp(spec->points[i].label, label) == 0)
            return p->values[i * p->n + k];
    fail_msg("no point %s", label);
    return NAN;
}

static void rows_find_their_points(void **state)
{
    struct published p;
    struct spec spec;
    struct error e;
    assert_int_equal(read_table(&p, &spec, "W,s,acc\n1,10,98\n2,6,\n8,1,90\n",
                                "keys: [ranks = W], values: [step_ms_median = s * 1000, "
                                "test_acc_pct = acc]",
                                &e),
                     OK);
    assert_string_equal(p.file, "table.csv");
    assert_int_equal(p.rows, 3);
    assert_int_equal(p.matched, 2);
    assert_true(value_at(&p, &spec, "ranks=1 allreduce", 0) == 10000);
    assert_true(value_at(&p, &spec, "ranks=2 allreduce", 0) == 6000);
    assert_true(isnan(value_at(&p, &spec, "ranks=2 allreduce", 1)));
    assert_true(isnan(value_at(&p, &spec, "ranks=4 allreduce", 0)));
    assert_true(value_at(&p, &spec, "ranks=1 none", 1) == 98);
    assert_true(isnan(value_at(&p, &spec, "ranks=2 none", 0))); /* ranks of strategy none train
                                                                   apart */
    published_free(&p);
    spec_free(&spec);
}

static void keys_may_be_texts_and_products(void **state)
{
    struct published p;
    struct spec spec;
    struct error e;
    assert_int_equal(read_table(&p, &spec, "how,n,test_loss\nallreduce,128,1\nnone,64,2\n",
                                "keys: [sync.strategy = how, ranks * train.global_batch = n], "
                                "values: [test_loss]",
                                &e),
                     OK);
    assert_true(value_at(&p, &spec, "ranks=2 allreduce", 0) == 1);
    assert_true(isnan(value_at(&p, &spec, "ranks=1 allreduce", 0)));
    assert_true(value_at(&p, &spec, "ranks=1 none", 0) == 2);
    published_free(&p);
    spec_free(&spec);
}

static void refuse_table(const char *table, const char *rest, const char *file,
                         const char *expected)
{
    struct published p;
    struct spec spec;
    struct error e = {.status = OK};
    assert_int_not_equal(read_table(&p, &spec, table, rest, &e), OK);
    assert_error(&e, path_of(file), expected);
    published_free(&p);
    spec_free(&spec);
}

static void mistakes_are_named(void **state)
{
    static const char good[] = "ranks,s\n1,10\n", rest[] = "values: [read_s = s]";
    refuse_table("ranks,s\n", rest, "table.csv", "0: expected rows below the header, found none");
    refuse_table("ranks,s\n1,10\n2,fast\n", rest, "table.csv", "3: s: 'fast' is not a number");
    refuse_table("ranks,s\none,10\n", rest, "table.csv", "2: ranks: 'one' is not a number");
    refuse_table("ranks,s\n1,10\n2,4\n1,11\n", rest, "table.csv",
                 "4: this row and the row in line 2 both match point 'ranks=1 none'. In "
                 "published.keys, add a key that distinguishes the two rows");
    refuse_table(
        good, "values: [reed_s = s]", "spec.yaml",
        "6: published.values: 'reed_s': not a column of summary.csv with measured numbers; "
        "nearest 'read_s'");
    refuse_table(good, "values: [read_s = s * ten]", "spec.yaml",
                 "6: published.values: 'ten': not a number");
    refuse_table(good, "values: [read_s = s * 0]", "spec.yaml",
                 "6: published.values: 'read_s = s * 0': a factor of 0 makes every published value "
                 "0. Use another factor");
    refuse_table(good, "values: [read_s =]", "spec.yaml",
                 "6: published.values: 'read_s =': expected 'ours', 'ours = theirs' or 'ours "
                 "= theirs * factor'");
    refuse_table(
        good, "keys: [rank = ranks], values: [read_s = s]", "spec.yaml",
        "6: published.keys: 'rank': neither ranks_per_node nor an option that points have; "
        "nearest 'ranks'");
}

/* The error is at the option of the spec that names a missing column. */
static void a_column_that_is_not_there_is_named(void **state)
{
    static const struct {
        const char *table, *key, *expected;
    } rows[] = {
        {"# facts\nranks,t\n1,10\n", "published.values",
         "2: column 's' is unknown; known: ranks t"},
        {"rank,s\n1,10\n", "published.keys",
         "1: column 'ranks' is unknown; nearest 'rank'; known: rank s"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char expected[400];
        snprintf(expected, sizeof expected, "6: %s: %s:%s", rows[i].key, path_of("table.csv"),
                 rows[i].expected);
        refuse_table(rows[i].table, "values: [read_s = s]", "spec.yaml", expected);
    }
}

static void a_file_that_is_not_there_is_named(void **state)
{
    struct spec spec;
    struct spec_machine machine = {.usable_cores = 8};
    struct error e;
    char expected[400];
    fake_write(path_of("spec.yaml"), HEAD "published: {file: nowhere.csv, values: [test_loss]}\n");
    assert_int_equal(spec_load(&spec, path_of("spec.yaml"), NULL, &machine, &e), ERR_SPEC);
    snprintf(expected, sizeof expected,
             "6: published.file: 'nowhere.csv' not found in %s, the current folder, "
             "results/published/, results/",
             path_of(""));
    assert_error(&e, path_of("spec.yaml"), expected);
    spec_free(&spec);
}

/* ---- Committed numbers of the reports ---- */

static void read_committed(struct csv_table *table, const char *path)
{
    struct error e;
    if (csv_table_read(table, path, &e) != OK)
        fail_msg("%s:%d: %s", e.file, e.line, e.text);
}

static const char *cell_of(const struct csv_table *table, size_t row, const char *name)
{
    int column = csv_table_find(table, name);
    if (column < 0)
        fail_msg("%s has no column %s", table->path, name);
    return csv_table_cell(table, row, (size_t)column);
}

/* Returns whether the number that ends here names a figure, table or section. Any other number in a
 * remark should be a column. */
static bool names_a_place(const char *remark, const char *number)
{
    static const char *const places[] = {"figure ", "figures ", "table ", "section ", "sections "};
    const char *word = number;
    while (word > remark && strchr("0123456789. to", word[-1]) != NULL)
        word--;
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        size_t length = strlen(places[i]);
        for (const char *at = word; at <= number; at++)
            if ((size_t)(at - remark) >= length && strncmp(at - length, places[i], length) == 0)
                return true;
    }
    return false;
}

static void check_remark(const char *path)
{
    char remark[512], *number = remark;
    FILE *in = fopen(path, "r");
    assert_non_null(in);
    assert_non_null(fgets(remark, sizeof remark, in));
    fclose(in);
    if (remark[0] != '#')
        fail_msg("%s: the first line names no report", path);
    while ((number = strpbrk(number, "0123456789")) != NULL) {
        if (!names_a_place(remark, number))
            fail_msg("%s: a number in its remark belongs into a row: %s", path, number);
        number += strspn(number, "0123456789.");
    }
}

/* Returns the dictionary's text for a column of a file; NULL: none. */
static const char *entry_of(const struct csv_table *dictionary, const char *file, const char *name,
                            const char *what)
{
    for (size_t row = 0; row < dictionary->rows; row++)
        if (strcmp(cell_of(dictionary, row, "file"), file) == 0 &&
            strcmp(cell_of(dictionary, row, "column"), name) == 0)
            return cell_of(dictionary, row, what);
    return NULL;
}

static bool is_mark(const char *text)
{
    return strlen(text) == 1 && strchr("scid", text[0]) != NULL;
}

/* Checks that every row has its source and kind of fact, and that every column is explained. */
static size_t check_committed(const char *path, const struct csv_table *dictionary)
{
    static const char *const provenance[] = {"place", "mark", "doubt"};
    struct csv_table table;
    read_committed(&table, path);
    check_remark(path);
    assert_true(table.rows > 0 && table.columns > 3);
    for (size_t i = 0; i < 3; i++)
        assert_string_equal(table.names[table.columns - 3 + i], provenance[i]);
    for (size_t row = 0; row < table.rows; row++)
        if (!*cell_of(&table, row, "place") || !is_mark(cell_of(&table, row, "mark")))
            fail_msg("%s:%d: no place, or another mark than s, c, i, d", path, table.lines[row]);
    for (size_t i = 0; i < table.columns; i++) {
        const char *meaning =
            entry_of(dictionary, strrchr(path, '/') + 1, table.names[i], "meaning");
        if (meaning == NULL || !*meaning)
            fail_msg("columns.csv does not explain %s of %s", table.names[i], path);
    }
    size_t columns = table.columns;
    csv_table_free(&table);
    return columns;
}

static void committed_files_say_where_they_are_from(void **state)
{
    static const char dictionary_path[] = "results/published/columns.csv";
    struct csv_table dictionary;
    glob_t found;
    size_t columns = 0;
    read_committed(&dictionary, dictionary_path);
    assert_int_equal(glob("results/published/*.csv", 0, NULL, &found), 0);
    for (size_t i = 0; i < found.gl_pathc; i++)
        if (strcmp(found.gl_pathv[i], dictionary_path) != 0)
            columns += check_committed(found.gl_pathv[i], &dictionary);
    assert_true(found.gl_pathc > 20);
    assert_int_equal(columns, dictionary.rows); /* the dictionary has no entry without a column */
    globfree(&found);
    csv_table_free(&dictionary);
}

/* Shows that the check of remarks can fail. */
static void numbers_in_remarks_are_found(void **state)
{
    static const char remark[] = "# Wang: figures 1 to 3, section 4.1: total 97.32 s, table 2";
    assert_true(names_a_place(remark, strstr(remark, "1 to")));
    assert_true(names_a_place(remark, strstr(remark, "3, s")));
    assert_true(names_a_place(remark, strstr(remark, "4.1")));
    assert_false(names_a_place(remark, strstr(remark, "97.32")));
    assert_true(names_a_place(remark, strrchr(remark, '2')));
}

/* Published accuracies on real digits are not compared with generated data. */
static void generated_data_are_not_compared(void **state)
{
    struct published p;
    struct spec spec;
    struct error e;
    assert_int_equal(read_table(&p, &spec, "ranks,acc,s\n1,98,10\n",
                                "values: [test_acc_pct = acc, read_s = s]", &e),
                     OK);
    char *cells[COLUMNS] = {0}, *sources[] = {"real", "generated"};
    struct point_summary point = {.cells = cells};
    struct summary s = {.spec = &spec, .points = &point, .n = 1, .published = &p};
    size_t first = 0;
    while (strcmp(spec.points[first].label, "ranks=1 none") != 0)
        first++;
    for (int generated = 0; generated < 2; generated++) {
        cells[COLUMN_data_source] = sources[generated];
        assert_true(isnan(published_value(&s, first, COLUMN_test_acc_pct)) == generated);
        assert_true(published_value(&s, first, COLUMN_read_s) == 10);
        assert_true(published_withholds(&s) == generated);
        assert_true(published_is_withheld(&s, "loss") == generated); /* `loss` is a column of
                                                                        steps.csv */
        assert_false(published_is_withheld(&s, "step_ms"));
    }
    published_free(&p);
    spec_free(&spec);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cells_are_read_as_they_are),
        cmocka_unit_test(byte_order_marks_are_no_names),
        cmocka_unit_test(malformed_tables_are_refused),
        cmocka_unit_test(many_rows_are_read),
        cmocka_unit_test(rows_find_their_points),
        cmocka_unit_test(keys_may_be_texts_and_products),
        cmocka_unit_test(mistakes_are_named),
        cmocka_unit_test(a_column_that_is_not_there_is_named),
        cmocka_unit_test(a_file_that_is_not_there_is_named),
        cmocka_unit_test(committed_files_say_where_they_are_from),
        cmocka_unit_test(numbers_in_remarks_are_found),
        cmocka_unit_test(generated_data_are_not_compared),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
