/* Units of the names in a condition. */
#include <string.h>

#include "bench/compare/checks.h"
#include "bench/spec/value.h"

/* `factor`: a unit in seconds or bytes. */
struct unit {
    const char *text;
    enum option_type type;
    double factor;
};

static const struct unit units[] = {
    {"s", TYPE_TIME, 1},        {"ms", TYPE_TIME, 1e-3},    {"us", TYPE_TIME, 1e-6},
    {"ns", TYPE_TIME, 1e-9},    {"bytes", TYPE_SIZE, 1},    {"KiB", TYPE_SIZE, 0x1p10},
    {"MiB", TYPE_SIZE, 0x1p20}, {"GiB", TYPE_SIZE, 0x1p30}, {"%", TYPE_PERCENT, 1},
};

static struct unit unit_by(const char *text)
{
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (strcmp(units[i].text, text) == 0)
            return units[i];
    return (struct unit){text, TYPE_REAL, 1};
}

/* Values of options are in seconds and bytes. */
static struct unit unit_of_type(enum option_type type)
{
    size_t i = 0;
    while (i < sizeof units / sizeof *units && units[i].type != type)
        i++;
    return i < sizeof units / sizeof *units ? units[i] : (struct unit){NULL, TYPE_REAL, 1};
}

/* The text is NULL where the unit is not known, as of metrics, or values are texts. */
static struct unit unit_of(const char *name, const struct config *config)
{
    const struct column *column = check_column(name);
    const struct spec_option *option =
        config != NULL ? config_option_find(config, name) : option_find(name);
    if (check_kind(name, config) != CONDITION_NUMBER)
        return (struct unit){NULL, TYPE_REAL, 1};
    if (option != NULL && (column == NULL || unit_of_type(option->type).text != NULL))
        return unit_of_type(option->type);
    return unit_by(column->unit);
}

static const char *describe(char text[48], const struct unit *unit)
{
    snprintf(text, 48, unit->text[0] ? "has the unit %s" : "has no unit", unit->text);
    return text;
}

static bool explain_number(char why[CONDITION_WHY], const struct condition_term *term,
                           const struct unit *unit)
{
    char text[48];
    double number;
    enum option_type type;
    bool has_unit = unit->text != NULL && term->text != NULL &&
                    number_parse_unit(term->text, &type, &number) &&
                    (type == TYPE_TIME || type == TYPE_SIZE);
    if (!has_unit || type == unit->type)
        return true;
    snprintf(why, CONDITION_WHY, "%.60s %s, expected a number without another unit, found '%.60s'",
             term->name, describe(text, unit), term->text);
    return false;
}

static bool explain_pair(char why[CONDITION_WHY], const struct condition_term *pair,
                         const struct unit *left, const struct unit *right)
{
    char texts[2][48];
    if (strcmp(pair[0].name, pair[1].name) == 0)
        snprintf(why, CONDITION_WHY, "both sides are %.60s, so that no run decides it", pair->name);
    else if (left->text == NULL || right->text == NULL || left->type == right->type)
        return true;
    else
        snprintf(why, CONDITION_WHY,
                 "%.60s %s, but %.60s %s; expected two values of one kind of unit", pair[0].name,
                 describe(texts[0], left), pair[1].name, describe(texts[1], right));
    return false;
}

bool check_convert(char why[CONDITION_WHY], struct condition *c, const struct config *config)
{
    size_t n;
    const struct condition_term *terms = condition_terms(c, &n);
    for (size_t i = 0; i < n; i++) {
        struct unit left = unit_of(terms[i].name, config), right;
        if (!explain_number(why, &terms[i], &left))
            return false;
        if (!terms[i].before_name)
            continue;
        right = unit_of(terms[i + 1].name, config);
        if (!explain_pair(why, &terms[i], &left, &right))
            return false;
        condition_set_scale(c, i + 1, left.type == right.type ? right.factor / left.factor : 1);
    }
    return true;
}
