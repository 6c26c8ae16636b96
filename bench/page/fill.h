/* Fills the placeholders of a template with data. */
#pragma once

#include <jansson.h>
#include <stdio.h>

/* Writes `text` to `out` with these placeholders replaced:
 *
 *   {{name}}    the text `name` of `data`; {{.}} is `data` itself
 *   {{&name}}   the text as markup, unchanged
 *   {{=name}}   JSON that is safe inside a script or text
 *   {{#name}} ... {{/name}}   repeated for each element of a list, once for an object or a non-empty text;
 *               the element is the data inside
 *
 * A missing name is replaced by nothing. */
void fill_template(FILE *out, const char *text, const json_t *data);
