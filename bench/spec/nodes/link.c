#include "bench/spec/nodes/link.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/spec/value.h"

enum { TEXT_MOST = 24 };

/* Unit of a rate or a time: its name and its size in bit/s or s. A unit without a name ends a list
 * of units. */
struct unit {
    const char *name;
    double size;
};

static const struct unit rates[] = {{"bit", 1},    {"kbit", 1e3},  {"mbit", 1e6},
                                    {"gbit", 1e9}, {"tbit", 1e12}, {NULL, 0}};
static const struct unit delays[] = {{"us", 1e-6}, {"ms", 1e-3}, {"s", 1}, {NULL, 0}};

/* Returns the unit of a text such as "1gbit" or "2.5mbit". The text must be a positive number
 * followed by one of `units`, at most TEXT_MOST characters in total. Otherwise returns the last
 * entry of `units`, whose name is NULL. */
static const struct unit *unit_of(const char *text, const struct unit *units)
{
    size_t digits = strspn(text, "0123456789.");
    const char *point = memchr(text, '.', digits);
    bool number =
        digits > 0 && strlen(text) <= TEXT_MOST && point != text && strtod(text, NULL) > 0;
    if (point != NULL && (point == text + digits - 1 || strchr(point + 1, '.') != NULL))
        number = false;
    while (units->name != NULL && !(number && strcmp(units->name, text + digits) == 0))
        units++;
    return units;
}

static enum status check(const struct config *config, enum option_id id, const struct unit *units,
                         const char *wanted, struct error *e)
{
    const struct value *value = &config->values[id];
    if (strcmp(value->text, "none") == 0 || unit_of(value->text, units)->name != NULL)
        return OK;
    return mark_error(e, ERR_SPEC, value->mark, "%s: '%s' is not supported: expected none or a %s",
                      option_get(id)->key, value->text, wanted);
}

enum status link_check(const struct config *config, struct error *e)
{
    TRY(check(config, OPT_SITE_RATE, rates, "rate in kbit, mbit or gbit, such as 2.5gbit", e));
    return check(config, OPT_SITE_DELAY, delays, "time in us, ms or s, such as 0.1ms", e);
}

/* Returns the value of an option in bit/s or s; 0 for the value `none`. */
static double size_of(const struct config *config, enum option_id id, const struct unit *units)
{
    const char *text = config_text(config, id);
    return strtod(text, NULL) * unit_of(text, units)->size;
}

double config_link_s_per_byte(const struct config *config)
{
    double bit_per_s = size_of(config, OPT_SITE_RATE, rates);
    return bit_per_s > 0 ? 8 / bit_per_s : 0;
}

double config_link_delay_s(const struct config *config)
{
    return size_of(config, OPT_SITE_DELAY, delays);
}

void config_link(char text[LINK_BYTES], const struct config *config)
{
    if (config_int(config, OPT_SITE_LINK) != LINK_none)
        snprintf(text, LINK_BYTES, "%s", config_text(config, OPT_SITE_LINK));
    else
        snprintf(text, LINK_BYTES, "%.*s delay %.*s", TEXT_MOST, config_text(config, OPT_SITE_RATE),
                 TEXT_MOST, config_text(config, OPT_SITE_DELAY));
}

bool config_has_usual_link(const struct config *config)
{
    static const enum option_id all[] = {OPT_SITE_RATE, OPT_SITE_DELAY, OPT_SITE_LINK};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (strcmp(config_text(config, all[i]), option_get(all[i])->preset) != 0)
            return false;
    return true;
}
