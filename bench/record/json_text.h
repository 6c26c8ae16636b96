/* Text that came from outside as JSON. */
#pragma once

#include <jansson.h>

/* A string, the caller's. Bytes that are no UTF-8, which JSON cannot hold, are as a terminal shows them: \xff. NULL
 * where memory has run out. */
json_t *json_text(const char *text);

/* The same, of no text or an empty one null. */
json_t *json_text_or_null(const char *text);
