#include <stdlib.h>
#include <string.h>

#include "bench/spec/spec.h"

static const struct spec_option options[OPTION_ROWS] = {
#define OPTION(id, key, type, scope, unit, min, max, preset, names, help)                          \
    {OPT_##id, key, TYPE_##type, SCOPE_##scope, unit, min, max, preset, names, help, false},
#define FLAW(id, key, type, scope, unit, min, max, preset, names, help)                            \
    {OPT_##id, key, TYPE_##type, SCOPE_##scope, unit, min, max, preset, names, help, true},
#include "bench/spec/options.def"
};

const struct spec_option *option_get(enum option_id id)
{
    return &options[id < OPTION_ROWS ? id : OPT_OWN];
}

const struct spec_option *option_find(const char *key)
{
    for (size_t i = 0; i < OPTION_ROWS; i++)
        if (strcmp(options[i].key, key) == 0)
            return &options[i];
    return NULL;
}

bool option_is_group(const char *path, size_t length)
{
    for (size_t i = 0; i < OPTION_ROWS; i++)
        if (strncmp(options[i].key, path, length) == 0 && options[i].key[length] == '.')
            return true;
    return false;
}

const struct spec_option *config_option(const struct config *config, enum option_id id)
{
    bool named = id >= OPT_OWN && config->own != NULL && (size_t)(id - OPT_OWN) < config->own->n;
    return named ? &config->own->rows[id - OPT_OWN] : option_get(id);
}

const struct spec_option *config_option_find(const struct config *config, const char *key)
{
    for (size_t i = 0; config->own != NULL && i < config->own->n; i++)
        if (strcmp(config->own->rows[i].key, key) == 0)
            return &config->own->rows[i];
    const struct spec_option *option = option_find(key);
    return option != NULL && option->id != OPT_OWN ? option : NULL;
}

size_t config_list_point_options(const struct config *config, const char *keys[OPTION_COUNT])
{
    size_t n = 0;
    for (int id = 0; id < OPTION_COUNT; id++)
        if (!scope_is_campaign(option_get((enum option_id)id)->scope))
            keys[n++] = config_option(config, (enum option_id)id)->key;
    return n;
}

static const char *type_text(enum option_type type)
{
    static const char *const texts[] = {
        [TYPE_INT] = "whole number",
        [TYPE_REAL] = "number",
        [TYPE_BOOL] = "true or false; also yes, no, on, off",
        [TYPE_TEXT] = "text",
        [TYPE_ENUM] = "one of the names below",
        [TYPE_TIME] = "time: a number and ms, s, min or h, as 90s",
        [TYPE_SIZE] = "size: a number and B, KiB, MiB or GiB, as 64KiB",
        [TYPE_PERCENT] = "share, as 5%",
        [TYPE_RANGE] = "range, as 6..20, or one whole number",
        [TYPE_TEXTS] = "list of the names below",
        [TYPE_STRINGS] = "list of texts",
        [TYPE_WORDS] = "list of texts",
        [TYPE_PATTERNS] = "list of patterns, as ['time_ms = took (\\d+) ms']",
        [TYPE_INTS] = "list of whole numbers",
        [TYPE_RANKS] = "whole number; in a matrix also auto",
        [TYPE_NODES] = "whole number, or auto",
        [TYPE_NODE_RANKS] = "whole number, or half or full",
        [TYPE_SEGMENTS] = "list of segments, as [{epoch: 0, ranks: 1}, {epoch: 2, ranks: 2}]",
        [TYPE_CONDITION] = "condition, as \">= 96.5\"",
        [TYPE_FIGURES] = "list of the names below and of maps, as {kind: line, y: wait_ms}",
        [TYPE_OWN] = "text or number, passed to the program unchanged",
    };
    return texts[type];
}

static const char *scope_text(enum option_scope scope)
{
    static const char *const texts[] = {
        [SCOPE_CAMPAIGN] = "one value per campaign",
        [SCOPE_FIGURE] = "one value per campaign; `figures --set` accepts it too",
        [SCOPE_POINT] = "allowed in the matrix",
        [SCOPE_WORKLOAD] = "allowed in the matrix; passed to the workload",
        [SCOPE_UNTIMED] = "allowed in the matrix if accuracy runs or measure.steps_csv show its "
                          "effect, since timed steps are not affected; passed to the workload",
    };
    return texts[scope];
}

static void explain_names(FILE *out, const struct enumeration *names)
{
    fprintf(out, "  names   ");
    for (size_t i = 0; i < names->n; i++)
        fprintf(out, " %s", names->names[i]);
    fprintf(out, "\n");
    enumeration_print(out, "    ", names);
}

/* Prints the range of an option. Also prints a default outside the range, such as a word or 0 ("not
 * given"), unless the default is a list. */
static void explain_range(FILE *out, const struct spec_option *option)
{
    char *end;
    const char *preset = option->preset != NULL ? option->preset : "";
    double number = strtod(preset, &end);
    bool beside = end == preset || number < option->min || number > option->max;
    fprintf(out, "  allowed  %.15g..%.15g%s%s", option->min, option->max,
            option->unit[0] ? " " : "", option->unit);
    if (beside && preset[0] != '\0' && preset[0] != '[')
        fprintf(out, ", or %s", preset);
    fputc('\n', out);
}

void option_explain(FILE *out, const struct spec_option *option)
{
    fprintf(out, "%s\n  %s\n", option->key, option->help);
    fprintf(out, "  type     %s\n", type_text(option->type));
    if (option->min < option->max)
        explain_range(out, option);
    if (option->names != NULL)
        explain_names(out, option->names);
    if (option->preset == NULL)
        fprintf(out, "  default  none: it must be given\n");
    else
        fprintf(out, "  default  %s\n", option->preset[0] ? option->preset : "none");
    fprintf(out, "  scope    %s\n", scope_text(option->scope));
    if (option->flaw)
        fprintf(
            out,
            "  flaw     found in published programs; differing weights are flagged by_design\n");
}
