/* Lists of names from which a spec chooses: see enumerations.def. A list that begins with macro
 * ENUM also defines a C enum; a list that begins with LIST does not. */
#pragma once

#include <stddef.h>
#include <stdio.h>

/* clang-format off */
#define ENUM(list, type) enum type {
#define VALUE(PREFIX, name, summary) PREFIX##_##name,
#define ENUM_END(COUNT) COUNT };
#define LIST(list)
#define ROW(name, summary)
#define LIST_END
#include "bench/spec/enumerations.def"
/* clang-format on */

/* One list of enumerations.def. Its rows keep the order of the file. */
struct enumeration {
    const char *list; /* name of the list: "lr_rules" */
    size_t n;
    const char *const *names, *const *summaries; /* [n]: name and summary of each row */
};

/* Declares each list as an array of one element, so that options.def can use names_<list> as a
 * pointer, with NULL for no list. */
#define LIST(list) extern const struct enumeration names_##list[1];
#define ROW(name, summary)
#define LIST_END
#include "bench/spec/enumerations.def"

/* Returns all enumerations, *n of them. */
const struct enumeration *const *enumerations(size_t *n);

/* Prints one line per row: `indent`, name, summary. */
void enumeration_print(FILE *out, const char *indent, const struct enumeration *names);
