#include "bench/sites/words.h"

#include <stdlib.h>
#include <string.h>

void words_add(struct words *words, const char *word)
{
    size_t size = strlen(word) + 1;
    char *text = words->failed ? NULL : realloc(words->text, words->bytes + size);
    if (!text) {
        words->failed = true;
        return;
    }
    memcpy(text + words->bytes, word, size);
    words->text = text;
    words->bytes += size;
    words->n++;
}

void words_add_all(struct words *words, char *const *list)
{
    for (; list && *list; list++)
        words_add(words, *list);
}

char **words_finish(struct words *words)
{
    size_t pointers = (words->n + 1) * sizeof(char *);
    char **list = words->failed ? NULL : malloc(pointers + words->bytes);
    if (list) {
        char *text = (char *)list + pointers;
        if (words->n > 0)
            memcpy(text, words->text, words->bytes);
        for (size_t i = 0; i < words->n; i++, text += strlen(text) + 1)
            list[i] = text;
        list[words->n] = NULL;
    }
    free(words->text);
    *words = (struct words){0};
    return list;
}
