/* Options that only some points read. */
#pragma once

#include "bench/spec/spec.h"

/* Which points read an option: those where option `owner` has one of the names. Without names: those that `reads`
 * holds for or, without that, where the owner is not at its preset. Several rows of an option hold together. All points
 * read an option without a row. */
struct reader {
    enum option_id id, owner;
    const char *names; /* with blanks between them, or NULL */
    bool (*reads)(const struct config *config);
};

/* An option that comes to pass only where option `counted` is at most `most`. */
struct length {
    enum option_id id, counted;
    double (*most)(const struct config *config);
    const enum option_id *by; /* what decides that, OPTION_COUNT at the end */
};

/* What the point lacks to read the option; NULL: it reads it. */
const struct reader *reader_find_lack(const struct config *config, enum option_id id);
/* What of the option is too late at a point that reads it; NULL: nothing. */
const struct length *reader_find_late(const struct config *config, enum option_id id);
/* In how many steps of the longest launch a chosen rank sleeps. */
double reader_count_sleeps(const struct config *config);
/* The value of an owner that the lack is about. */
const char *reader_owner_text(const struct config *config, enum option_id owner);
bool reader_has_row(enum option_id id);

enum { READER_WHY = 1024 };
void reader_explain_late(char why[READER_WHY], const struct length *late, const char *found,
                         double most);
void reader_explain_lack(char why[READER_WHY], enum option_id id, const struct reader *lacks,
                         const char *found);
