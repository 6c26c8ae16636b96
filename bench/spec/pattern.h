/* Patterns that users write as "name = pattern": Perl-compatible regular expressions (PCRE2).
 * Matches are limited in time and memory, so patterns from any source are safe. */
#pragma once

#include <stddef.h>
#include <time.h>

#include "kernels/base/error.h"

/* Largest size of a name, in bytes, with the terminating NUL. */
enum { PATTERN_NAME = 32 };

struct pattern;

/* Copies the name of "name = pattern" and returns the pattern; NULL if the text has another
 * form. */
const char *pattern_split(char name[PATTERN_NAME], const char *text);

/* Compiles "name = pattern". Call pattern_free even after an error. A fault in `text` gives
 * ERR_SPEC without a file position; *at: number of characters before the fault, 0 if unknown. */
enum status pattern_open(struct pattern **pattern, const char *text, size_t *at, struct error *e);
void pattern_free(struct pattern *pattern);

/* Value found by a pattern: its group "value", else its only named group, else its only group, else
 * the whole match. `text`: NULL if nothing matches. `size`: 0 if the group takes no part in the
 * match. */
struct pattern_value {
    const char *text; /* start of the value in the matched line */
    size_t size;
};

/* Finds the first match in a line of `size` bytes. ERR_DATA without a file position if the match
 * needs too much memory or too many backtracking steps, or if clock() passes `until`. */
enum status pattern_find(struct pattern *pattern, const char *line, size_t size, clock_t until,
                         struct pattern_value *value, struct error *e);

/* Replaces each match of pattern `source` in *text by `with`, in which $1 is the first group. *text
 * must be allocated; a new allocation replaces it. No replacement may be longer than its match. */
enum status pattern_replace(char **text, const char *source, const char *with, struct error *e);
