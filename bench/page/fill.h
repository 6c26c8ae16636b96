/* Fills the places of a template with what a page holds. */
#pragma once

#include <jansson.h>
#include <stdio.h>

/* {{name}}: the text of that name in `data`, {{.}} `data` itself; {{&name}}: as markup, as it is; {{=name}}: as JSON
 * that may stand in a script or in text. {{#name}} ... {{/name}}: this for each element of a list, or once for an object or a text
 * that is not empty, which is the data inside. What is not there fills nothing. */
void fill_template(FILE *out, const char *text, const json_t *data);
