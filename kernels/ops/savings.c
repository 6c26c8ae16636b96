#include <stdio.h>
#include <string.h>

#include "kernels/ops/savings.h"

struct saving_row {
    const char *name, *summary;
};

static const struct saving_row rows[SAVINGS] = {
#define SAVING(name, summary) {#name, summary},
#include "kernels/ops/savings.def"
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
