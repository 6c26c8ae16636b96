/* The parts of the JSON Schema of a spec. Functions return a new reference, NULL where memory is short. */
#pragma once

#include <jansson.h>

#include "bench/spec/spec.h"

/* What a value of the option looks like, with its help and its preset. */
json_t *schema_value(const struct spec_option *option);

/* An object that has these properties and no others. */
json_t *schema_object(json_t *properties);

/* A text as a spec reads it: a number is one too. */
json_t *schema_text(void);

/* A list of these, or one of them alone. */
json_t *schema_one_or_list(json_t *one, json_t *list);

/* Adds an entry; takes over both. Returns the object, NULL where one of them is. */
json_t *schema_put(json_t *object, const char *key, json_t *value);
