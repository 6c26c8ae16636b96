#include "bench/collect/lists.h"

#include <string.h>

#include "kernels/base/text.h"

void list_add(char *text, size_t size, const char *separator, const char *item)
{
    size_t after = strlen(text) + strlen(separator) + strlen(item);
    if (!text_ends(text, "..."))
        text_join(text, size, separator,
                  after + strlen(separator) + sizeof "..." <= size ? item : "...");
}
