/* Builds JSON Schemas of options' values. The schemas allow the values that bench/spec/value.c
 * accepts, as far as patterns and bounds can express them. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "bench/runner/commands/help/schema.h"
#include "bench/spec/figures/request.h"
#include "bench/spec/value.h"

#define NUMBER "[+-]?([0-9]+\\.?[0-9]*|\\.[0-9]+)([eE][+-]?[0-9]+)?"

json_t *schema_put(json_t *object, const char *key, json_t *value)
{
    if (json_object_set_new(object, key, value) == 0)
        return object;
    json_decref(object);
    return NULL;
}

json_t *schema_object(json_t *properties)
{
    return json_pack("{s:s, s:b, s:o}", "type", "object", "additionalProperties", 0, "properties",
                     properties);
}

json_t *schema_text(void)
{
    return json_pack("{s:[s,s,s], s:i}", "type", "string", "number", "boolean", "minLength", 1);
}

json_t *schema_one_or_list(json_t *one, json_t *list)
{
    return json_pack("{s:[o,o]}", "anyOf", one, list);
}

static json_t *number_of(double number)
{
    bool whole = number == floor(number) && fabs(number) < 1e15;
    return whole ? json_integer((json_int_t)number) : json_real(number);
}

/* Returns `schema`, extended to allow the option's default if the default is outside the option's
 * bounds. */
static json_t *with_preset(const struct spec_option *option, json_t *schema)
{
    double preset;
    if (option->preset == NULL || !number_parse(option->preset, &preset) ||
        (preset >= option->min && preset <= option->max))
        return schema;
    return json_pack("{s:[o,{s:o}]}", "anyOf", schema, "const", number_of(preset));
}

static json_t *bounded(const struct spec_option *option, const char *type)
{
    return json_pack("{s:s, s:o, s:o}", "type", type, "minimum", number_of(option->min), "maximum",
                     number_of(option->max));
}

/* Returns a schema that allows word `a`, word `b` (unless NULL), integers within the option's
 * bounds, and the option's default if it is a number outside the bounds. */
static json_t *or_words(const struct spec_option *option, const char *a, const char *b)
{
    json_t *words = json_pack("[s]", a);
    if (b != NULL)
        json_array_append_new(words, json_string(b));
    return json_pack("{s:[o,{s:o}]}", "anyOf", with_preset(option, bounded(option, "integer")),
                     "enum", words);
}

static json_t *pattern(const char *text)
{
    return json_pack("{s:s, s:s}", "type", "string", "pattern", text);
}

/* Returns a schema that allows a number directly followed by a unit of the option's type. Also
 * allows the option's default if the default is a word. */
static json_t *quantity(const struct spec_option *option)
{
    char text[256] = "^" NUMBER "(";
    double number;
    enum option_type type;
    for (size_t i = 0; value_unit(option->type, i) != NULL; i++) {
        size_t length = strlen(text);
        snprintf(text + length, sizeof text - length, "%s%s", i > 0 ? "|" : "",
                 value_unit(option->type, i));
    }
    strncat(text, ")$", sizeof text - strlen(text) - 1);
    bool word = option->preset != NULL && !number_parse_unit(option->preset, &type, &number);
    return word ? json_pack("{s:[o,{s:s}]}", "anyOf", pattern(text), "const", option->preset)
                : pattern(text);
}

static json_t *one_of(const struct enumeration *names)
{
    json_t *rows = json_array();
    for (size_t i = 0; i < names->n; i++)
        json_array_append_new(rows, json_pack("{s:s, s:s}", "const", names->names[i], "description",
                                              names->summaries[i]));
    return json_array_size(rows) == names->n ? json_pack("{s:o}", "anyOf", rows) : NULL;
}

static json_t *list_of(json_t *items, bool unique)
{
    return json_pack("{s:s, s:o, s:b}", "type", "array", "items", items, "uniqueItems", unique);
}

static json_t *segment(void)
{
    return json_pack("{s:s, s:{s:{s:s, s:i}, s:{s:s, s:i}}, s:[s,s], s:b}", "type", "object",
                     "properties", "epoch", "type", "integer", "minimum", 0, "ranks", "type",
                     "integer", "minimum", 1, "required", "epoch", "ranks", "additionalProperties",
                     0);
}

static json_t *figures(void);

/* Returns the schema of a truth value. It also allows yes, no, on and off, which are texts in YAML
 * 1.2. */
static json_t *schema_bool(void)
{
    json_t *words = json_array();
    for (size_t i = 0; bool_word(i) != NULL; i++)
        if (strcasecmp(bool_word(i), "true") != 0 && strcasecmp(bool_word(i), "false") != 0)
            json_array_append_new(words, json_string(bool_word(i)));
    return json_pack("{s:[{s:s},{s:o}]}", "anyOf", "type", "boolean", "enum", words);
}

static json_t *bare(const struct spec_option *option)
{
    switch (option->type) {
    case TYPE_INT:
    case TYPE_RANKS:
        return with_preset(option, bounded(option, "integer"));
    case TYPE_NODES:
        return or_words(option, "auto", NULL);
    case TYPE_NODE_RANKS:
        return or_words(option, "half", "full");
    case TYPE_REAL:
        return with_preset(option, bounded(option, "number"));
    case TYPE_BOOL:
        return schema_bool();
    case TYPE_TEXT:
    case TYPE_OWN:
        return schema_text();
    case TYPE_ENUM:
        return one_of(option->names);
    case TYPE_TIME:
    case TYPE_SIZE:
    case TYPE_PERCENT:
        return quantity(option);
    case TYPE_RANGE:
        return json_pack("{s:[o,o]}", "anyOf", bounded(option, "integer"),
                         pattern("^" NUMBER "\\.\\." NUMBER "$"));
    case TYPE_TEXTS:
        return list_of(one_of(option->names), true);
    case TYPE_STRINGS:
    case TYPE_WORDS:
    case TYPE_PATTERNS:
        return list_of(schema_text(), false);
    case TYPE_INTS:
        return list_of(bounded(option, "integer"), true);
    case TYPE_SEGMENTS:
        return list_of(segment(), true);
    case TYPE_CONDITION:
        return pattern("^(none|>= *" NUMBER ")?$");
    case TYPE_FIGURES:
        return figures();
    }
    return NULL;
}

static json_t *node_value(const struct node *node)
{
    double number;
    if (node->kind == NODE_LIST) {
        json_t *list = json_array();
        for (size_t i = 0; i < node->n; i++)
            json_array_append_new(list, node_value(&node->items[i]));
        return list;
    }
    if (!node->quoted && (strcmp(node->text, "true") == 0 || strcmp(node->text, "false") == 0))
        return json_boolean(node->text[0] == 't');
    return !node->quoted && number_parse(node->text, &number) ? number_of(number)
                                                              : json_string(node->text);
}

static json_t *preset_of(const char *text)
{
    struct node node;
    struct error e;
    if (text[0] == '\0')
        return json_string("");
    json_t *preset =
        yaml_read_text(&node, text, (struct mark){.line = 0}, &e) == OK ? node_value(&node) : NULL;
    node_free(&node);
    return preset;
}

json_t *schema_value(const struct spec_option *option)
{
    bool unit = option->unit[0] && (option->type == TYPE_INT || option->type == TYPE_REAL);
    char *help;
    if (asprintf(&help, "%s%s%s%s", option->help, unit ? " (" : "", unit ? option->unit : "",
                 unit ? ")" : "") < 0)
        return NULL;
    json_t *schema = schema_put(bare(option), "description", json_string(help));
    free(help);
    return option->preset == NULL ? schema
                                  : schema_put(schema, "default", preset_of(option->preset));
}

/* ---- Figures ---- */

/* Returns figure options `begin` to `end` - 1 as schema properties. A list of texts may also be a
 * single text. `group`: prefix to remove from each key, such as "figures.". */
static json_t *figure_properties(size_t begin, size_t end, const char *group)
{
    json_t *properties = json_object();
    for (size_t i = begin; i < end; i++) {
        const struct spec_option *option = figure_option_at(i);
        json_t *value = schema_value(option);
        if (option->type == TYPE_STRINGS)
            value = schema_put(schema_one_or_list(schema_text(), value), "description",
                               json_string(option->help));
        properties = schema_put(properties, option->key + strlen(group), value);
    }
    return properties;
}

/* Returns the schema of a map with figure options `begin` to `end` - 1 as keys. Options without a
 * default are required. `more`: schema of key `published`, or NULL. */
static json_t *figure_map(size_t begin, size_t end, const char *group, json_t *more)
{
    json_t *required = json_array(), *properties = figure_properties(begin, end, group);
    for (size_t i = begin; i < end; i++)
        if (figure_option_at(i)->preset == NULL)
            json_array_append_new(required, json_string(figure_option_at(i)->key + strlen(group)));
    if (more != NULL)
        properties = schema_put(properties, "published", more);
    return schema_put(schema_object(properties), "required", required);
}

static json_t *figures(void)
{
    json_t *source =
        figure_map(FIGURE_OPTIONS, FIGURE_OPTIONS + PUBLISHED_OPTIONS, "figures.published.", NULL);
    json_t *published = json_pack("{s:[o,O,{s:s,s:o}]}", "anyOf", schema_bool(), source, "type",
                                  "array", "items", source);
    json_t *map = figure_map(0, FIGURE_OPTIONS, "figures.", published);
    return list_of(schema_one_or_list(one_of(figure_option_at(FIGURE_KIND)->names), map), true);
}
