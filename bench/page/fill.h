/* Fills the placeholders of a template with data. */
#pragma once

#include <jansson.h>
#include <stdio.h>

/* Writes `text` to `out` with these placeholders replaced:
 *
 *   {{name}}    the text `name` of `data`, escaped for HTML; {{.}}: the text `data` itself
 *   {{&name}}   the text `name` without escaping, for text that is HTML markup
 *   {{=name}}   the value `name` as JSON, safe inside a script or markup
 *   {{#name}} ... {{/name}}   the part between, once per element of the list `name`, or once if
 *               `name` is an object or non-empty text; inside, `data` is the element, object or
 *               text
 *
 * A placeholder whose name is missing in `data` is replaced by nothing. */
void fill_template(FILE *out, const char *text, const json_t *data);
