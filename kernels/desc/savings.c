#include "kernels/desc/savings.h"

#include <string.h>

#include "kernels/base/names.h"
#include "kernels/base/text.h"

struct saving_row {
    const char *name, *summary;
    bool counts; /* whether the saved FLOPs are subtracted from the plan's FLOPs; false if their
                  * number depends on the data */
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
    text[0] = '\0';
    for (int i = 0; i < SAVINGS; i++)
        if (savings & SAVING_BIT(i))
            text_join(text, SAVINGS_TEXT, " ", rows[i].name);
    return text[0] != '\0' ? text : strcpy(text, "none");
}

bool savings_depend_on_data(const char *text)
{
    for (int i = 0; i < SAVINGS; i++)
        if (!rows[i].counts && name_is_word(text, rows[i].name))
            return true;
    return false;
}
