/* Patterns that users write as "name = pattern": Perl-compatible regular expressions (PCRE2). A match is limited in time
 * and memory, so a pattern may come from any file. */
#pragma once

#include <stddef.h>
#include <time.h>

#include "kernels/base/error.h"

/* Bytes of a name. */
enum { PATTERN_NAME = 32 };

struct pattern;

/* Copies the name of "name = pattern" and returns the pattern; NULL for a text of another form. */
const char *pattern_split(char name[PATTERN_NAME], const char *text);

/* Compiles "name = pattern"; free it with pattern_free, also after an error. ERR_SPEC without a place says what is
 * wrong. *at counts the characters of `text` before the fault; 0 is the text as a whole. */
enum status pattern_open(struct pattern **pattern, const char *text, size_t *at, struct error *e);
void pattern_free(struct pattern *pattern);

/* The text of a group: the only group, the only group with a name, or the group named "value"; the whole match where the
 * pattern has no group. NULL: nothing matches. Its size is 0 where the group took no part in the match. */
struct pattern_value {
    const char *text; /* in the line */
    size_t size;
};

/* Finds the value of the first match in a line of `size` bytes. ERR_DATA without a place: the match takes too much
 * memory or time, or longer than until clock() reaches `until`. */
enum status pattern_find(struct pattern *pattern, const char *line, size_t size, clock_t until,
                         struct pattern_value *value, struct error *e);

/* Replaces each match of a pattern of this program's own in *text, which was allocated and is replaced by one that the caller
 * frees; $1 in `with` is the first group. No replacement may be longer than what it replaces. */
enum status pattern_replace(char **text, const char *source, const char *with, struct error *e);
