/* Functions that build the JSON Schema of a spec. They return a new reference; NULL: no memory. */
#pragma once

#include <jansson.h>

#include "bench/spec/spec.h"

/* Returns the schema of an option's value, with its description and default. */
json_t *schema_value(const struct spec_option *option);

/* Returns the schema of a map that allows only the keys of `properties` and requires none of them.
 * Takes ownership of `properties`. */
json_t *schema_object(json_t *properties);

/* Returns the schema of a text. The schema also allows numbers and truth values, which a spec
 * accepts as texts. */
json_t *schema_text(void);

/* Returns a schema that allows `one` or `list`. Takes ownership of both. */
json_t *schema_one_or_list(json_t *one, json_t *list);

/* Adds an entry to a JSON object. Takes ownership of `object` and `value`. Returns `object`; NULL
 * if either is NULL. */
json_t *schema_put(json_t *object, const char *key, json_t *value);
