#include "kernels/desc/savings.h"

#include <stdio.h>
#include <string.h>

struct saving_row {
    const char *name, *summary;
    bool counts; /* less is done by it, whatever the data are */
};

static const struct saving_row rows[SAVINGS] = {
#define SAVING(name, counts, summary) {#name, summary, counts},
#include "kernels/desc/savings.def"
};

const char *saving_name(enum saving saving)
{
    return rows[saving].name;
}

const char *saving_summary(enum saving saving)
{
    return rows[saving].summary;
}

char *savings_text(char text[SAVINGS_TEXT], unsigned savings)
{
    size_t used = 0;
    for (int i = 0; i < SAVINGS; i++)
        if (savings & SAVING_BIT(i))
            used += (size_t)snprintf(text + used, SAVINGS_TEXT - used, "%s%s", used ? " " : "",
                                     rows[i].name);
    if (used == 0)
        strcpy(text, "none");
    return text;
}

static bool holds_word(const char *text, const char *word)
{
    size_t length = strlen(word);
    for (const char *at = text; (at = strstr(at, word)) != NULL; at += length)
        if ((at == text || at[-1] == ' ') && (at[length] == ' ' || at[length] == '\0'))
            return true;
    return false;
}

bool savings_depend_on_data(const char *text)
{
    for (int i = 0; i < SAVINGS; i++)
        if (!rows[i].counts && holds_word(text, rows[i].name))
            return true;
    return false;
}
