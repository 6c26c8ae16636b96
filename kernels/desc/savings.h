/* Savings: work that a plan leaves out, and their names in records and tables. */
#pragma once

#include <stdbool.h>

/* Work that a plan leaves out. Sets of savings are bit masks. */
enum saving {
#define SAVING(name, counts, summary) SAVING_##name,
#include "kernels/desc/savings.def"
    SAVINGS
};
#define SAVING_BIT(saving) (1u << (saving))
const char *saving_name(enum saving saving);
const char *saving_summary(enum saving saving);
/* Writes the names of a set: "winograd dead_outputs", or "none". Returns `text`. */
#define SAVINGS_TEXT 128
char *savings_text(char text[SAVINGS_TEXT], unsigned savings);

/* Returns whether a text of savings_text names a saving that depends on the data. Such work counts
 * as done, so FLOPs done are an upper bound. */
bool savings_depend_on_data(const char *text);
