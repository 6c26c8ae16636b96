/* Looking names up in small tables, and saying something useful when a name is not there. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "kernels/base/error.h"

/* Names that may be written in a place, and paths of names that belong elsewhere: "train.lr" is the key lr of the
 * group train, "zip" one of the top. */
struct name_places {
    const char *const *here;
    size_t n_here;
    const char *const *elsewhere;
    size_t n_elsewhere;
    const char *beside; /* the key at the top around this place; NULL: unknown */
};

/* The name or path nearest to a name, and another one as near: by edits (insert, delete, replace, swap of neighbours), one
 * for every three letters, by a beginning (optim) or by whole words (warmup of lr_warmup). Paths count by their end,
 * too. A name of the place wins over a path that is one edit nearer. */
struct name_nearest {
    const char *names[2]; /* borrowed; NULL: there is none */
    size_t distance;      /* 0: the same name, or the end of a path */
    bool elsewhere;
};
struct name_nearest name_nearest(const char *name, const struct name_places *places);

/* The end of a message about a name: "; nearest 'ring'", "; nearest 'ring' or 'rank'", or "" where none is near. The
 * ends of known paths count too: "train.lr" is near "lr". Returns `text`. */
enum { NAME_NEAR_BYTES = 160 };
char *name_near(char text[NAME_NEAR_BYTES], const char *name, const char *const *known, size_t n);

/* Index of `name` in `known`, or -1. */
int name_index(const char *name, const char *const *known, size_t n);

/* Whether the name is one of `words`, which blanks separate. */
bool name_is_word(const char *words, const char *name);

/* Writes "'rign' is unknown; nearest 'ring'; known: none allreduce ring" to `text` (cut to fit) and
 * returns it. */
char *name_explain(char *text, size_t size, const char *name, const char *const *known, size_t n);

/* The same of a name that may belong elsewhere: "'lr' is unknown here; nearest 'train.lr', a key of 'train:'", or
 * "'zip' is a top-level key; move it beside 'matrix'". */
char *name_explain_place(char *text, size_t size, const char *name,
                         const struct name_places *places);

/* The end of a message about a word of a command line that is no option: "; nearest '--set'", or "". */
char *option_near(char text[NAME_NEAR_BYTES], const char *argument, const char *const *names,
                  size_t n);

/* The index of an option's value among `names`; ERR_ARGUMENT with name_explain's sentence. */
enum status option_name(const char *option, const char *text, const char *const *names, size_t n,
                        int *index, struct error *e);

/* The same of the rows of a table, each `size` bytes, that begin with their name (const char *). */
enum status option_row(const char *option, const char *text, const void *rows, size_t n,
                       size_t size, int *index, struct error *e);
