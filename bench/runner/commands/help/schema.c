/* `scalebench schema`: prints the JSON Schema (draft 7) of a spec, so that editors can check specs.
 * The schema accepts each option as a dotted key or as nested keys. The schema lacks rules that
 * involve several values. scalebench checks these rules when it loads a spec. */
#include "bench/runner/commands/help/schema.h"

#include <stdlib.h>
#include <string.h>

#include "bench/runner/commands/commands.h"

static json_t *reference(const char *folder, const char *name)
{
    return json_pack("{s:s+++}", "$ref", "#/definitions/", folder, "/", name);
}

static json_t *option_value(const struct spec_option *option)
{
    return reference("options/properties", option->key);
}

/* Returns the schema of an option in a zip: a list that can contain a value several times. */
static json_t *zip_axis(const struct spec_option *option)
{
    return json_pack("{s:s, s:o, s:i}", "type", "array", "items", option_value(option), "minItems",
                     1);
}

static json_t *axis(const struct spec_option *option)
{
    json_t *list = schema_put(zip_axis(option), "uniqueItems", json_true());
    return option->type != TYPE_RANKS && option->type != TYPE_NODES
               ? list
               : json_pack("{s:[o,{s:s}]}", "anyOf", list, "const", "auto");
}

static json_t *one_or_list(const struct spec_option *option)
{
    return schema_one_or_list(option_value(option), zip_axis(option));
}

static json_t *value_or_factor(const struct spec_option *option)
{
    return json_pack("{s:[o,{s:s}]}", "anyOf", option_value(option), "pattern",
                     "^x[0-9]*\\.?[0-9]+$");
}

/* Part of a spec that can contain options. `campaign`: options of the whole campaign are allowed.
 * `value`: function that returns the schema of an option's value. */
struct place {
    const char *name;
    bool campaign;
    json_t *(*value)(const struct spec_option *option);
};
static const struct place at_top = {"at_top", true, option_value},
                          of_point = {"of_point", false, option_value},
                          in_matrix = {"in_matrix", false, axis},
                          in_zip = {"in_zip", false, zip_axis},
                          in_exclude = {"in_exclude", false, one_or_list},
                          in_what_if = {"in_what_if", false, value_or_factor};
static const struct place *const places[] = {&at_top, &of_point,   &in_matrix,
                                             &in_zip, &in_exclude, &in_what_if};
/* name of the schema definition with all options that a part of a spec can contain */
static const char whole[] = "whole";

/* Adds an option to the properties of a group. `length`: number of leading characters (group and
 * dot) to remove from the key. For "measure.time.launches" in group "measure", adds "time.launches"
 * and a reference to subgroup "time". */
static json_t *add_words(json_t *properties, const struct place *place,
                         const struct spec_option *option, size_t length)
{
    const char *rest = option->key + length;
    for (const char *dot = strchr(rest, '.'); dot != NULL; dot = strchr(dot + 1, '.')) {
        char group[64], word[64];
        snprintf(group, sizeof group, "%.*s", (int)(dot - option->key), option->key);
        snprintf(word, sizeof word, "%.*s", (int)(dot - rest), rest);
        if (option_find(group) == NULL && json_object_get(properties, word) == NULL)
            properties = schema_put(properties, word, reference(place->name, group));
    }
    return schema_put(
        properties, rest,
        option_is_group(option->key, strlen(option->key))
            ? schema_one_or_list(place->value(option), reference(place->name, option->key))
            : place->value(option));
}

/* Returns the properties of a group of options such as "measure". If `group` is "", returns all
 * options, both by full key and nested in groups. Leaves out options of the whole campaign if
 * `place` does not allow them. */
static json_t *properties_of(const struct place *place, const char *group)
{
    json_t *properties = json_object();
    size_t length = strlen(group);
    for (int id = 0; id < OPTION_ROWS; id++) {
        const struct spec_option *option = option_get((enum option_id)id);
        bool inside =
            length == 0 || (strncmp(option->key, group, length) == 0 && option->key[length] == '.');
        if (inside && (place->campaign || !scope_is_campaign(option->scope)))
            properties = add_words(properties, place, option, length + (length > 0));
    }
    if (length > 0 && option_find(group) != NULL)
        properties = schema_put(properties, "kind", place->value(option_find(group)));
    return properties;
}

/* Returns the schema of a map with these properties. A pattern allows user-defined options, whose
 * names are not known here. */
static json_t *map_with(json_t *properties)
{
    static const char name[] = "[A-Za-z][A-Za-z0-9_]{0,30}$";
    json_t *map = schema_object(properties);
    for (const char *key = option_get(OPT_OWN)->key; map != NULL && key != NULL;) {
        char pattern[96] = "^";
        json_t *value = json_incref(json_object_get(properties, key));
        for (const char *c = key; strchr(c, '.') != NULL; c = strchr(c, '.') + 1)
            snprintf(pattern + strlen(pattern), sizeof pattern - strlen(pattern), "%.*s\\.",
                     (int)strcspn(c, "."), c);
        strncat(pattern, name, sizeof pattern - strlen(pattern) - 1);
        json_object_del(properties, key);
        if (value != NULL)
            map = schema_put(map, "patternProperties", json_pack("{s:o}", pattern, value));
        key = strchr(key, '.') != NULL ? strchr(key, '.') + 1 : NULL;
    }
    return map;
}

static json_t *map_of(const struct place *place)
{
    return reference(place->name, whole);
}

static json_t *add_groups(json_t *groups, const struct place *place, const char *key)
{
    for (const char *dot = strchr(key, '.'); dot != NULL; dot = strchr(dot + 1, '.')) {
        char group[64];
        snprintf(group, sizeof group, "%.*s", (int)(dot - key), key);
        if (json_object_get(groups, group) == NULL)
            groups = schema_put(groups, group, map_with(properties_of(place, group)));
    }
    return groups;
}

static json_t *groups_of(const struct place *place)
{
    json_t *groups = schema_put(json_object(), whole, map_with(properties_of(place, "")));
    for (int id = 0; id < OPTION_ROWS; id++) {
        const struct spec_option *option = option_get((enum option_id)id);
        if (place->campaign || !scope_is_campaign(option->scope))
            groups = add_groups(groups, place, option->key);
    }
    return groups;
}

/* ---- Keys that are not options ---- */

static json_t *list_of(json_t *items)
{
    return json_pack("{s:s, s:o}", "type", "array", "items", items);
}

static json_t *case_map(void);

static json_t *part_value(enum part_kind kind)
{
    switch (kind) {
    case PART_FILES:
        return schema_one_or_list(schema_text(), list_of(schema_text()));
    case PART_AXES:
        return map_of(&in_matrix);
    case PART_ZIPS:
        return schema_one_or_list(map_of(&in_zip), list_of(map_of(&in_zip)));
    case PART_EXCLUDES:
        return list_of(schema_one_or_list(schema_text(), map_of(&in_exclude)));
    case PART_VALUES:
        return map_of(&of_point);
    case PART_CHANGES:
        return map_of(&in_what_if);
    case PART_CASES:
        return list_of(case_map());
    case PART_LABEL:
        return schema_text();
    }
    return NULL;
}

static json_t *add_parts(json_t *properties, bool in_case)
{
    size_t n;
    const struct spec_part *parts = spec_parts(&n);
    for (size_t i = 0; i < n; i++)
        if (in_case ? parts[i].in_case : parts[i].at_top)
            properties = schema_put(
                properties, parts[i].name,
                schema_put(part_value(parts[i].kind), "description", json_string(parts[i].help)));
    return properties;
}

/* Returns the schema of a case. Keys that only a case has, such as its label, are required. */
static json_t *case_map(void)
{
    size_t n;
    json_t *required = json_array();
    const struct spec_part *parts = spec_parts(&n);
    for (size_t i = 0; i < n; i++)
        if (parts[i].in_case && !parts[i].at_top)
            json_array_append_new(required, json_string(parts[i].name));
    json_t *map = map_with(add_parts(properties_of(&of_point, ""), true));
    return schema_put(map, "required", required);
}

static json_t *definitions(void)
{
    json_t *options = json_object(), *all = json_object();
    for (int id = 0; id < OPTION_ROWS; id++) {
        const struct spec_option *option = option_get((enum option_id)id);
        options = schema_put(options, option->key, schema_value(option));
    }
    /* options are below "properties", so that option `title` is not read as a keyword of JSON
     * Schema */
    all = schema_put(all, "options", schema_put(json_object(), "properties", options));
    for (size_t i = 0; i < sizeof places / sizeof *places; i++)
        all = schema_put(all, places[i]->name, groups_of(places[i]));
    return all;
}

/* Returns the schema of a map, extended to allow the author's own keys (x-...), such as keys that
 * hold YAML anchors. */
static json_t *with_own_keys(json_t *map)
{
    json_t *patterns = json_incref(json_object_get(map, "patternProperties"));
    return schema_put(map, "patternProperties",
                      schema_put(patterns != NULL ? patterns : json_object(), "^x-", json_true()));
}

static json_t *schema_of_spec(void)
{
    json_t *schema = with_own_keys(map_with(add_parts(properties_of(&at_top, ""), false)));
    schema = schema_put(schema, "$schema", json_string("http://json-schema.org/draft-07/schema#"));
    schema = schema_put(schema, "title", json_string("A spec of scalebench"));
    return schema_put(schema, "definitions", definitions());
}

static bool write_key(FILE *out, const char *key)
{
    json_t *name = json_string(key);
    bool written = json_dumpf(name, out, JSON_ENCODE_ANY) == 0;
    json_decref(name);
    fputs(": ", out);
    return written;
}

/* Writes one entry per line in the first `depth` levels, so that diffs are short. Returns false if
 * memory runs out. */
static bool write_lines(FILE *out, const json_t *value, int depth)
{
    const char *key, *before = "{";
    json_t *entry;
    if (depth == 0 || json_object_size(value) < 2)
        return json_dumpf(value, out, JSON_ENCODE_ANY | JSON_COMPACT | JSON_REAL_PRECISION(15)) ==
               0;
    json_object_foreach((json_t *)value, key, entry)
    {
        fprintf(out, "%s\n", before);
        if (!write_key(out, key) || !write_lines(out, entry, depth - 1))
            return false;
        before = ",";
    }
    fputs("\n}", out);
    return true;
}

enum status command_schema(const struct arguments *a, FILE *out, int *exit_status, struct error *e)
{
    enum { LINES_DEPTH = 3 };
    json_t *schema = schema_of_spec();
    bool written = schema != NULL && write_lines(out, schema, LINES_DEPTH);
    fputs(written ? "\n" : "", out);
    json_decref(schema);
    return written ? OK : error_no_memory(e, "the schema of a spec");
}
