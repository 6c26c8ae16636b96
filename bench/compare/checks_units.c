/* Finds the units of columns and options in conditions, and converts between them. */
#include <string.h>

#include "bench/compare/checks.h"
#include "bench/spec/value.h"

static const struct condition_unit units[] = {
    {"s", TYPE_TIME, 1},        {"ms", TYPE_TIME, 1e-3},    {"us", TYPE_TIME, 1e-6},
    {"ns", TYPE_TIME, 1e-9},    {"bytes", TYPE_SIZE, 1},    {"KiB", TYPE_SIZE, 0x1p10},
    {"MiB", TYPE_SIZE, 0x1p20}, {"GiB", TYPE_SIZE, 0x1p30}, {"%", TYPE_PERCENT, 1},
};

static struct condition_unit unit_by(const char *text)
{
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (strcmp(units[i].text, text) == 0)
            return units[i];
    return (struct condition_unit){text, TYPE_REAL, 1};
}

/* Returns the unit in which values of an option type are stored: seconds, bytes or per cent. For
 * other types, the unit's text is NULL. */
static struct condition_unit unit_of_type(enum option_type type)
{
    size_t i = 0;
    while (i < sizeof units / sizeof *units && units[i].kind != (int)type)
        i++;
    return i < sizeof units / sizeof *units ? units[i]
                                            : (struct condition_unit){NULL, TYPE_REAL, 1};
}

/* Returns the unit of a column or option. The unit's text is NULL if values can be texts, and for a
 * metric in workload.metrics, whose unit is unknown. */
static struct condition_unit unit_of(const char *name, const void *arg)
{
    const struct config *config = arg;
    const struct column *column = check_column(name);
    const struct spec_option *option =
        config != NULL ? config_option_find(config, name) : option_find(name);
    if (check_kind(name, config) != CONDITION_NUMBER)
        return (struct condition_unit){NULL, TYPE_REAL, 1};
    if (option != NULL && (option->type == TYPE_INT || option->type == TYPE_REAL))
        return unit_by(option->unit);
    if (option != NULL && (column == NULL || unit_of_type(option->type).text != NULL))
        return unit_of_type(option->type);
    return unit_by(column->unit);
}

/* Returns whether a name can be compared with a percentage: its unit is per cent, or it is a ratio
 * (a column of real numbers without a unit). */
static bool takes_percent(const char *name, const struct condition_unit *unit)
{
    const struct column *column = check_column(name);
    bool is_ratio = unit->text[0] == '\0' && column != NULL && column->type == CSV_REAL;
    return unit->kind == TYPE_PERCENT || is_ratio;
}

/* Returns whether the term's number has no unit, or a unit that fits `unit`, the unit of the term's
 * column or option; if not, writes the reason to `why`. A percentage also fits a ratio. */
static bool explain_number(char why[CONDITION_WHY], const struct condition_term *term,
                           const struct condition_unit *unit)
{
    double number;
    enum option_type type;
    bool has_unit = unit->text != NULL && term->text != NULL &&
                    number_parse_unit(term->text, &type, &number) && type != TYPE_REAL;
    if (!has_unit || (int)type == unit->kind ||
        (type == TYPE_PERCENT && takes_percent(term->name, unit)))
        return true;
    snprintf(why, CONDITION_WHY, "%.60s has %s%.20s: expected a plain number, found '%.60s'",
             term->name, unit->text[0] ? "the unit " : "no unit", unit->text, term->text);
    return false;
}

bool check_convert(char why[CONDITION_WHY], struct condition *c, const struct config *config)
{
    size_t n;
    const struct condition_term *terms = condition_terms(c, &n);
    for (size_t i = 0; i < n; i++) {
        struct condition_unit unit = unit_of(terms[i].name, config);
        if (!explain_number(why, &terms[i], &unit))
            return false;
    }
    return condition_match_units(why, c, unit_of, config);
}
