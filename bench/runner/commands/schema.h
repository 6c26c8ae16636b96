/* Parts of the JSON Schema of a spec. Functions return a new reference, NULL if there is no
 * memory. */
#pragma once

#include <jansson.h>

#include "bench/spec/spec.h"

/* Returns the schema of an option's value, with its help and default. */
json_t *schema_value(const struct spec_option *option);

/* Returns an object with these properties and no others. Takes ownership of `properties`. */
json_t *schema_object(json_t *properties);

/* Returns the schema of a text; a spec also accepts a number or a boolean as text. */
json_t *schema_text(void);

/* Returns a schema that accepts one value or a list. Takes ownership of both. */
json_t *schema_one_or_list(json_t *one, json_t *list);

/* Adds an entry. Takes ownership of both and returns `object`, NULL if either is NULL. */
json_t *schema_put(json_t *object, const char *key, json_t *value);
