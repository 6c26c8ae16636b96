/* Which work a plan leaves out: a table, and what records and tables call its rows. */
#pragma once

#include <stdbool.h>

/* What a plan saves of the work that a net's description counts; a set of them has a bit each. */
enum saving {
#define SAVING(name, counts, summary) SAVING_##name,
#include "kernels/desc/savings.def"
    SAVINGS
};
#define SAVING_BIT(saving) (1u << (saving))
const char *saving_name(enum saving saving);
const char *saving_summary(enum saving saving);
/* "winograd dead_outputs", "none" for an empty set; text has SAVINGS_TEXT bytes. Returns text. */
#define SAVINGS_TEXT 128
char *savings_text(char text[SAVINGS_TEXT], unsigned savings);

/* Whether one of the names in such a text is of work that counts as done although it depends on the data
 * how much of it is left out: FLOPs done are an upper bound then. */
bool savings_depend_on_data(const char *text);
