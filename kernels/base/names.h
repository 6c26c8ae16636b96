/* Looking names up in small tables, and saying something useful when a name is not there. */
#pragma once

#include <stddef.h>

#include "kernels/base/error.h"

/* The known name nearest to `name` by edit distance (insert, delete, replace, swap of neighbours),
 * or NULL when none is within half its length. Borrowed from `known`. */
const char *name_nearest(const char *name, const char *const *known, size_t n);

/* The end of a message about a name: "; nearest 'ring'", or "" where none is near. Returns `text`. */
enum { NAME_NEAR_BYTES = 160 };
char *name_near(char text[NAME_NEAR_BYTES], const char *name, const char *const *known, size_t n);

/* Index of `name` in `known`, or -1. */
int name_index(const char *name, const char *const *known, size_t n);

/* Writes "'rign' is unknown; nearest 'ring'; known: none allreduce ring" to `text` (cut to fit) and
 * returns it. */
char *name_explain(char *text, size_t size, const char *name, const char *const *known, size_t n);

/* The index of an option's value among `names`; ERR_ARGUMENT with name_explain's sentence. */
enum status option_name(const char *option, const char *text, const char *const *names, size_t n,
                        int *index, struct error *e);

/* The same of the rows of a table, each `size` bytes, that begin with their name (const char *). */
enum status option_row(const char *option, const char *text, const void *rows, size_t n,
                       size_t size, int *index, struct error *e);
