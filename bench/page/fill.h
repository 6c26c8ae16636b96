/* Fills the placeholders of a template with data. */
#pragma once

#include <jansson.h>
#include <stdio.h>

/* Writes `text` to `out` with these placeholders replaced:
 *
 *   {{name}}    the text `name` of `data`; {{.}} is `data` itself
 *   {{&name}}   the text as markup, unchanged
 *   {{=name}}   the value as JSON, safe inside a script or markup
 *   {{#name}} ... {{/name}}   repeated for each element of a list, once for an object or
 *               non-empty text; inside, `data` is the element
 *
 * A missing name is replaced by nothing. */
void fill_template(FILE *out, const char *text, const json_t *data);
