/* The rows of formats.def: how a comparison is told, and what checks found. */
#pragma once

#include <stdio.h>

#include "bench/compare/checks.h"
#include "bench/compare/comparison.h"
#include "kernels/base/text.h"

/* `width`: columns of the terminal, 0 where it is none. `strict`: undecided fails. */
struct format_options {
    int width;
    bool strict;
};

typedef enum status format_writer(FILE *out, const struct comparison *c,
                                  const struct format_options *options, struct error *e);

typedef void check_writer(FILE *out, const struct checking *c, bool strict);

#define FORMAT(name, compare, check, meaning)                                                      \
    format_writer compare;                                                                         \
    check_writer check;
#define COMPARE_FORMAT(name, compare, meaning) format_writer compare;
#include "bench/compare/formats.def"

/* The writer of that name; ERR_ARGUMENT names all of them. */
enum status format_find(format_writer **writer, const char *name, struct error *e);
enum status format_find_check(check_writer **writer, const char *name, struct error *e);

/* The columns of compare.csv, which stand in csv_compare.def. */
const struct column *format_columns(size_t *n);

/* Inside: the lines below a table. */
void format_write_notes(FILE *out, const struct comparison *c);

/* Inside: warns on standard error, for formats without notes, that a run is compared with itself. */
void format_warn(const struct comparison *c);

/* Inside: "1.104 [1.071, 1.138]", "-" where there is none. Returns text. */
char *format_ratio(char text[TEXT_INTERVAL], const struct judged *judged);
