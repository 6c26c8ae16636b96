/* Checks a folder of malformed files. Each begins with the expected error:
 *
 *   # expect: 4:23: train.global_batch = 0 images: allowed 1..16777216
 *
 * The error must be the file's name directly followed by this text. */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/base/error.h"

/* Reads a file and frees the result. */
typedef enum status corpus_reader(const char *path, struct error *e);

/* Writes an error as error_print would, without the line break. */
static inline void error_line(char line[2048], const struct error *e)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    assert_non_null(out);
    error_print(out, e);
    fclose(out);
    snprintf(line, 2048, "%.*s", (int)strcspn(text, "\n"), text);
    free(text);
}

static inline void corpus_expectation(const char *path, char expected[2048])
{
    static const char mark[] = "# expect: ";
    char line[2048];
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    assert_non_null(fgets(line, sizeof line, file));
    fclose(file);
    assert_memory_equal(line, mark, strlen(mark));
    line[strcspn(line, "\n")] = '\0';
    int length = snprintf(expected, 2048, "%s:%s", path, line + strlen(mark));
    assert_in_range(length, 1, 2047);
}

/* Runs the reader over all .yaml files of `folder` and requires at least `least` files. */
static inline void corpus_check(const char *folder, size_t least, corpus_reader *read)
{
    char pattern[256];
    snprintf(pattern, sizeof pattern, "%s/*.yaml", folder);
    glob_t found;
    assert_int_equal(glob(pattern, 0, NULL, &found), 0);
    assert_true(found.gl_pathc >= least);
    for (size_t i = 0; i < found.gl_pathc; i++) {
        char expected[2048], line[2048];
        struct error e = {.status = OK};
        corpus_expectation(found.gl_pathv[i], expected);
        enum status status = read(found.gl_pathv[i], &e);
        assert_int_not_equal(status, OK);
        assert_int_equal(status, e.status);
        error_line(line, &e);
        assert_string_equal(line, expected);
        assert_int_equal(error_exit_status(&e), 2);
    }
    globfree(&found);
}
