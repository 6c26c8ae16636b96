/* Table of options that only some points read. */
#pragma once

#include "bench/spec/spec.h"

/* Condition for reading an option. If `reads` is set, it must return true. Otherwise, if `names` is
 * set, the value of `owner` must be one of `names`; a `site` that the spec does not set also counts
 * as slurm. If both are NULL, `owner` must not be at its default. A point reads an option only if
 * the conditions in all rows of the option hold. Options without a row are read at every point, but
 * a user's program reads few of the workload's options (config_reads). */
struct reader {
    enum option_id id, owner;
    /* accepted values of `owner`, separated by blanks; NULL: no list. If `reads` is set, the values
     * appear only in messages */
    const char *names;
    bool (*reads)(const struct config *config);
};

/* Limit: option `id` takes effect only if the value of option `counted` is at most the result of
 * `most`. */
struct length {
    enum option_id id, counted;
    double (*most)(const struct config *config);
    const enum option_id *by; /* options that determine `most`; OPTION_COUNT after the last */
    const char *effect;       /* consequence, for messages, if the value of `counted` is above the
                                 result of `most`; NULL: "has no effect" */
};

/* Returns the first unmet condition that keeps the point from reading the option; NULL if the point
 * reads the option. */
const struct reader *reader_find_lack(const struct config *config, enum option_id id);
/* Returns the limit that keeps option `id` from taking effect at this point; NULL: none. For
 * example, sync.period has no effect if it is above the number of steps. Does not check whether the
 * point reads the option. */
const struct length *reader_find_late(const struct config *config, enum option_id id);
/* Returns the value of option `owner`, for a message on why another option has no effect. */
const char *reader_owner_text(const struct config *config, enum option_id owner);
bool reader_has_row(enum option_id id);

enum { READER_WHY = 1024 };
void reader_explain_late(char why[READER_WHY], const struct length *late, const char *found,
                         double most);
void reader_explain_lack(char why[READER_WHY], enum option_id id, const struct reader *lacks,
                         const char *found);
