/* Writes comparisons and checks in the output formats of formats.def. */
#pragma once

#include <stdio.h>

#include "bench/compare/checks.h"
#include "bench/compare/comparison.h"
#include "bench/compare/exact.h"
#include "kernels/base/text.h"

/* `width`: columns of the terminal; 0: the output is not a terminal. `strict`: undecided verdicts
 * are reported as failures. */
struct format_options {
    int width;
    bool strict;
};

typedef enum status format_writer(FILE *out, const struct comparison *c,
                                  const struct format_options *options, struct error *e);

typedef void check_writer(FILE *out, const struct checking *c, bool strict);

#define FORMAT(name, compare, check, exact, meaning)                                               \
    format_writer compare;                                                                         \
    check_writer check;                                                                            \
    exact_writer exact;
#define COMPARE_FORMAT(name, compare, meaning) format_writer compare;
#include "bench/compare/formats.def"

/* Find the writer of format `name` for comparisons, for checks and for exact comparisons. If the
 * name is unknown, the message of ERR_ARGUMENT lists all formats. */
enum status format_find(format_writer **writer, const char *name, struct error *e);
enum status format_find_check(check_writer **writer, const char *name, struct error *e);
enum status format_find_exact(exact_writer **writer, const char *name, struct error *e);

/* Columns of `scalebench compare --format csv` (csv_compare.def). */
extern const struct csv_file compare_file;

/* Writes the notes that follow the table of verdicts of a comparison. */
void format_write_notes(FILE *out, const struct comparison *c);
/* Lists the points that are matched by label, and the options in which matched points differ. */
void format_write_matches(FILE *out, const struct comparison *c);

/* Prints a warning on standard error if a run is compared with itself. Formats that have no notes
 * call this function. Internal. */
void format_warn(const struct comparison *c);

/* Formats a ratio and its interval: "1.104 [1.071, 1.138]"; "-" if the ratio is unknown. Returns
 * `text`. Internal. */
char *format_ratio(char text[TEXT_INTERVAL], const struct judged *judged);
