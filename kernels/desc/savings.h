/* Savings: work that a plan (a set of optimisations) avoids, and the names of savings in records
 * and tables. */
#pragma once

#include <stdbool.h>

/* Kinds of work that a plan can skip. A set of savings is a bit mask. */
enum saving {
#define SAVING(name, counts, summary) SAVING_##name,
#include "kernels/desc/savings.def"
    SAVINGS
};
#define SAVING_BIT(saving) (1u << (saving))
const char *saving_name(enum saving saving);
const char *saving_summary(enum saving saving);

#define SAVINGS_TEXT 128

/* Writes the names of a set of savings: "winograd dead_outputs", or "none". Returns `text`. */
char *savings_text(char text[SAVINGS_TEXT], unsigned savings);

/* Returns whether `text`, from savings_text, names a saving whose amount depends on the data. The
 * plan's FLOPs include the work that such a saving skips, so they are an upper bound. */
bool savings_depend_on_data(const char *text);
