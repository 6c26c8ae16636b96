/* The names that options choose from, each beside the enum that stands for it. */
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

/* One list of enumerations.def, its rows in their order. */
struct enumeration {
    const char *list; /* "lr_rules" */
    size_t n;
    const char *const *names, *const *summaries; /* [n] */
};

/* Arrays of one, so that options.def can give an option either a list or NULL. */
#define LIST(list) extern const struct enumeration names_##list[1];
#define ROW(name, summary)
#define LIST_END
#include "bench/spec/enumerations.def"

/* Every list; *n of them. */
const struct enumeration *const *enumerations(size_t *n);

/* A line a row: `indent`, name, summary. */
void enumeration_print(FILE *out, const char *indent, const struct enumeration *names);
