#include "bench/record/json_text.h"

#include <stdlib.h>
#include <string.h>

#include "kernels/base/terminal.h"

json_t *json_text(const char *text)
{
    json_t *json = json_string(text);
    size_t size = 4 * strlen(text) + 1; /* a byte is shown as four */
    char *clean = json == NULL ? malloc(size) : NULL;
    if (clean != NULL)
        json = json_string(terminal_clean(clean, size, text));
    free(clean);
    return json;
}

json_t *json_text_or_null(const char *text)
{
    return text != NULL && *text ? json_text(text) : json_null();
}
