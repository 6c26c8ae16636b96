/* Tests of output on a terminal: it fits the width, and contains no control characters. */
#include <fcntl.h>
#include <sys/ioctl.h>

#include "bench/base/progress.h"
#include "bench/collect/tests/collected.h"
#include "kernels/base/terminal.h"

static void control_characters_are_shown(void **state)
{
    char text[64], small[8];
    assert_string_equal(terminal_clean(text, sizeof text, "a\033[31mb\r\x7f"),
                        "a\\x1b[31mb\\x0d\\x7f");
    assert_string_equal(terminal_clean(text, sizeof text, "gr\xc3\xbc\xc3\x9f \xe7\xbd\x91"),
                        "gr\xc3\xbc\xc3\x9f \xe7\xbd\x91");
    /* Control Sequence Introducer of Latin-1, as UTF-8 and as a byte; a truncated character. */
    assert_string_equal(terminal_clean(text, sizeof text, "\xc2\x9b|\x9b|\xe7\xbd"),
                        "\\xc2\\x9b|\\x9b|\\xe7\\xbd");
    /* overlong, a surrogate, and a value beyond Unicode are invalid UTF-8 */
    assert_string_equal(terminal_clean(text, sizeof text, "\xe0\x80\xaf|\xed\xa0\x80"),
                        "\\xe0\\x80\\xaf|\\xed\\xa0\\x80");
    assert_string_equal(terminal_clean(text, sizeof text, "\xf0\x9f\x98\x80|\xf4\x90\x80\x80"),
                        "\xf0\x9f\x98\x80|\\xf4\\x90\\x80\\x80");
    assert_string_equal(terminal_clean(small, sizeof small, "abcdef\xc3\xbc"), "abcdef");
}

static void columns_are_not_bytes(void **state)
{
    assert_int_equal(terminal_columns("gr\xc3\xbc\xc3\x9f"), 4);
    assert_int_equal(terminal_columns("\xe7\xbd\x91\xe7\xbb\x9c"), 4);
    assert_int_equal(terminal_columns("e\xcc\x81"), 1); /* a combining accent */
    assert_int_equal(terminal_fit("\xe7\xbd\x91\xe7\xbb\x9c", 3), 3);
    assert_int_equal(terminal_fit("gr\xc3\xbc\xc3\x9f", 3), 4);
    assert_int_equal(terminal_fit("short", 80), 5);
}

/* Opens a terminal of this width; *screen reads its output. */
static FILE *open_terminal(int columns, int *screen)
{
    struct winsize size = {.ws_row = 24, .ws_col = (unsigned short)columns};
    *screen = posix_openpt(O_RDWR | O_NOCTTY);
    assert_true(*screen >= 0 && grantpt(*screen) == 0 && unlockpt(*screen) == 0);
    FILE *out = fopen(ptsname(*screen), "w");
    assert_non_null(out);
    assert_int_equal(ioctl(fileno(out), TIOCSWINSZ, &size), 0);
    return out;
}

static void progress_stays_on_its_line(void **state)
{
    static const char label[] = "model=gr\xc3\xbc\xc3\x9f\xe7\xbd\x91 sync.strategy=hierarchical";
    unsetenv("COLUMNS");
    for (int columns = 1; columns <= 100; columns++) {
        char shown[1024];
        int screen;
        struct progress p;
        FILE *out = open_terminal(columns, &screen);
        progress_begin(&p, out);
        assert_true(p.terminal);
        progress_next(&p, 3, 120, label, 500, columns % 2);
        fflush(out);
        ssize_t n = read(screen, shown, sizeof shown - 1);
        assert_true(n > 0);
        shown[n] = '\0';
        const char *line = shown + strlen("\r\033[K");
        assert_in_range(terminal_columns(line), 0, columns > 1 ? columns - 1 : 0);
        if (columns >= 40 && columns <= 70)
            assert_non_null(strstr(line, columns % 2 ? "..  0 s, up to 8 min 20 s left"
                                                     : "..  0 s, about 8 min 20 s left"));
        if (columns == 100)
            assert_non_null(strstr(line, "hierarchical  0 s, about 8 min 20 s left"));
        fclose(out);
        close(screen);
    }
}

static void the_terminal_says_how_wide_it_is(void **state)
{
    int screen;
    FILE *out = open_terminal(83, &screen), *file = tmpfile();
    unsetenv("COLUMNS");
    assert_int_equal(terminal_width(out), 83);
    assert_int_equal(terminal_width(file), 0);
    setenv("COLUMNS", "72", 1);
    assert_int_equal(terminal_width(out), 72);
    assert_int_equal(terminal_width(file), 72);
    setenv("COLUMNS", "wide", 1);
    assert_int_equal(terminal_width(out), 83);
    unsetenv("COLUMNS");
    fclose(out);
    fclose(file);
    close(screen);
}

static void entries_are_cut_at_words(void **state)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    terminal_print_entry(out, "  --a", 8, "one two  three", 16);
    terminal_print_entry(out, "  --longer", 8, "four", 16);
    terminal_print_entry(out, "", 0, "five six", 5);
    fclose(out);
    assert_string_equal(text, "  --a   one two\n"
                              "        three\n"
                              "  --longer\n"
                              "        four\n"
                              "five\nsix\n");
    free(text);
}

/* Several options vary, one of them a long path; one point failed with a long reason. */
static void open_wide(struct fake_run *run)
{
    fake_open(run,
              "name: wide\nscaling: strong\nmodel: lenet_21k\n"
              "train: {global_batch: 256}\n"
              "matrix:\n"
              "  ranks: [1, 2]\n"
              "  sync.strategy: [none, allreduce]\n"
              "  data.path: [/a/long/path/to/some/data/of/ours/na\xc3\xafve, /another/such/path]\n"
              "  train.lr: [0.001]\n"
              "baseline: {ranks: 1, sync.strategy: none}\n"
              "measure: {time: {launches: 6..6}}\n");
    add_blocks(run);
    fake_fail(run, 2, "none", LAUNCH_FAILED,
              "exit status 1: rank 0 on node23 has no memory for 3444 MiB of what it wanted to do");
}

static void the_table_fits(void **state)
{
    struct fake_run run;
    open_wide(&run);
    struct summary s = collect(&run);
    for (int width = 60; width <= 200; width++) {
        char *text = print_wide(&s, width), *rest = text;
        /* Identity and status of a row are never dropped, nor are values common to all rows. */
        assert_non_null(strstr(text, width < 150 ? "All points: " : "launches"));
        assert_non_null(strstr(text, "step ms [95 % CI]"));
        assert_non_null(strstr(text, "102.5 [100.0, 105.0]"));
        assert_non_null(strstr(text, "allreduce"));
        assert_non_null(strstr(text, "failed:"));
        if (width <= 80)
            assert_non_null(strstr(text, "Columns in summary.md alone: "));
        assert_null(strstr(text, "eff.."));  /* a sentence that ends with it */
        assert_null(strstr(text, "(too\n")); /* a remark stays at its row */
        for (char *line; (line = strsep(&rest, "\n")) != NULL;)
            if (terminal_columns(line) > width && strchr(line + strspn(line, " "), ' '))
                fail_msg("at %d columns: %s", width, line);
        free(text);
    }
    char *text = print_wide(&s, 0);
    assert_non_null(strstr(text, "/a/long/path/to/some/data/of/ours/na\xc3\xafve  "));
    assert_null(strstr(text, "All points"));
    assert_null(strstr(text, "Not shown"));
    free(text);
    summary_free(&s);
    fake_close(&run);
}

/* Reasons may contain control characters from a program's output. */
static void the_table_steers_nothing(void **state)
{
    struct fake_run run;
    fake_open(&run, strong_spec);
    fake_fail(&run, 4, "none", LAUNCH_FAILED,
              "said \x7f and \xc2\x9b"
              "31m");
    struct summary s = collect(&run);
    char *text = print_wide(&s, 0);
    assert_non_null(strstr(text, "said \\x7f and \\xc2\\x9b31m\n"));
    free(text);
    summary_free(&s);
    fake_close(&run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(control_characters_are_shown),
        cmocka_unit_test(columns_are_not_bytes),
        cmocka_unit_test(progress_stays_on_its_line),
        cmocka_unit_test(the_terminal_says_how_wide_it_is),
        cmocka_unit_test(entries_are_cut_at_words),
        cmocka_unit_test(the_table_fits),
        cmocka_unit_test(the_table_steers_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
