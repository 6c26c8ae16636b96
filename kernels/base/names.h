/* Looks up names in small tables, and suggests the nearest names for an unknown one. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "kernels/base/error.h"

/* Names valid at one position in a file, and paths of names valid elsewhere in it. "train.lr" is
 * the key lr of the group train; "zip" is a top-level key. */
struct name_places {
    const char *const *here;
    size_t n_here;
    const char *const *elsewhere;
    size_t n_elsewhere;
    const char *beside; /* key beside which the name belongs, as in the message "move it beside
                           'matrix'"; NULL: the message says "to the top of the file" */
};

/* Names nearest to an unknown name. About one edit is accepted for every three letters. A known
 * name is also near if it begins with the unknown name or shares whole words with it (warmup and
 * lr_warmup). A path is also compared by its end: "lr" finds train.lr. A name valid at this
 * position is preferred to a path that is one edit nearer. */
struct name_nearest {
    const char *names[2]; /* nearest name, and a second one at the same distance; borrowed; NULL:
                           * none */
    size_t distance;      /* distance of the unknown name from names[0] or, if smaller, from the end
                             of the path names[0] (lr in train.lr); 0 if names[0] is NULL */
    bool elsewhere;
};
struct name_nearest name_nearest(const char *name, const struct name_places *places);

enum { NAME_NEAR_BYTES = 160 };

/* Writes the end of a message about an unknown name, and returns `text`: "; nearest 'ring'", ";
 * nearest 'ring' or 'rank'", or "" if no name is near. */
char *name_near(char text[NAME_NEAR_BYTES], const char *name, const char *const *known, size_t n);

/* Returns the index of `name` in `known`, or -1. */
int name_index(const char *name, const char *const *known, size_t n);

/* Returns whether `name` is one of the blank-separated `words`. */
bool name_is_word(const char *words, const char *name);

/* Explains an unknown name, cut to fit: "'rign' is unknown; nearest 'ring'; known: none allreduce
 * ring". Returns `text`. */
char *name_explain(char *text, size_t size, const char *name, const char *const *known, size_t n);

/* Explains an unknown name that may be valid elsewhere, for example: "'lr' is unknown here; nearest
 * 'train.lr', a key of 'train:'". Returns `text`. */
char *name_explain_place(char *text, size_t size, const char *name,
                         const struct name_places *places);

/* Writes the end of a message about an unknown command-line argument: "; nearest '--set'", or "".
 * Returns `text`. */
char *option_near(char text[NAME_NEAR_BYTES], const char *argument, const char *const *names,
                  size_t n);

/* Finds `text`, a value of --`option`, among `names` and sets *index. If `text` is unknown, returns
 * ERR_ARGUMENT with the message of name_explain. */
enum status option_name(const char *option, const char *text, const char *const *names, size_t n,
                        int *index, struct error *e);

/* Finds `text`, a value of --`option`, in a table of n rows of `size` bytes, and sets *index to its
 * row. Each row begins with its name (const char *). Returns the errors of option_name, or
 * ERR_MEMORY. */
enum status option_row(const char *option, const char *text, const void *rows, size_t n,
                       size_t size, int *index, struct error *e);
