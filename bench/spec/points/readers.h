/* Table of options that only some points read. */
#pragma once

#include "bench/spec/spec.h"

/* Condition for reading an option: `reads` returns true; if NULL, `owner` has one of `names`; if
 * both are NULL, `owner` is not at its default. All rows of an option must hold. Options without a
 * row are always read. */
struct reader {
    enum option_id id, owner;
    /* values of `owner`, separated by blanks (with `reads`, only for messages); or NULL */
    const char *names;
    bool (*reads)(const struct config *config);
};

/* Limit: option `id` takes effect only if the value of option `counted` is at most the result of
 * `most`. */
struct length {
    enum option_id id, counted;
    double (*most)(const struct config *config);
    const enum option_id *by; /* options that determine `most`; OPTION_COUNT after the last */
    const char *effect;       /* consequence of a larger value; NULL: "has no effect" */
};

/* Returns the first condition of the option that the point fails; NULL if the point reads the
 * option. */
const struct reader *reader_find_lack(const struct config *config, enum option_id id);
/* Returns the limit that makes the option ineffective at a point that reads it; NULL if there is
 * none. */
const struct length *reader_find_late(const struct config *config, enum option_id id);
/* Returns the value of option `owner`, for a message on why another option has no effect. */
const char *reader_owner_text(const struct config *config, enum option_id owner);
bool reader_has_row(enum option_id id);

enum { READER_WHY = 1024 };
void reader_explain_late(char why[READER_WHY], const struct length *late, const char *found,
                         double most);
void reader_explain_lack(char why[READER_WHY], enum option_id id, const struct reader *lacks,
                         const char *found);
