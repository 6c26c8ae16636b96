/* A growing NULL-terminated list of strings that ends up in one allocation: argv and environment
 * of a launch. */
#ifndef SCALEBENCH_BENCH_SITES_WORDS_H
#define SCALEBENCH_BENCH_SITES_WORDS_H

#include <stdbool.h>
#include <stddef.h>

/* All zero to begin with. `failed` stays set once memory ran out. */
struct words {
    char *text; /* the strings, each with its end */
    size_t bytes, n;
    bool failed;
};

void words_add(struct words *words, const char *word);
void words_add_all(struct words *words, char *const *list);
/* The list in one allocation, freed with free; NULL when memory ran out. Ends `words`. */
char **words_finish(struct words *words);

#endif
