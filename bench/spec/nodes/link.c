#include "bench/spec/nodes/link.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/spec/value.h"

enum { TEXT_MOST = 24 };

/* "1gbit", "2.5mbit" or "none". */
static bool is_quantity(const char *text, const char *const *units)
{
    size_t digits = strspn(text, "0123456789.");
    const char *point = memchr(text, '.', digits);
    if (strcmp(text, "none") == 0)
        return true;
    if (digits == 0 || strlen(text) > TEXT_MOST || point == text || strtod(text, NULL) <= 0)
        return false;
    if (point != NULL && (point == text + digits - 1 || strchr(point + 1, '.') != NULL))
        return false;
    while (*units != NULL && strcmp(*units, text + digits) != 0)
        units++;
    return *units != NULL;
}

static enum status check(const struct config *config, enum option_id id, const char *const *units,
                         const char *wanted, struct error *e)
{
    const struct value *value = &config->values[id];
    if (is_quantity(value->text, units))
        return OK;
    return mark_error(e, ERR_SPEC, value->mark, "%s: '%s' is none: wanted %s, or none",
                      option_get(id)->key, value->text, wanted);
}

enum status link_check(const struct config *config, struct error *e)
{
    static const char *const rates[] = {"bit", "kbit", "mbit", "gbit", "tbit", NULL};
    static const char *const delays[] = {"us", "ms", "s", NULL};
    TRY(check(config, OPT_SITE_RATE, rates, "1gbit, 100mbit, 2.5gbit", e));
    return check(config, OPT_SITE_DELAY, delays, "100us, 0.1ms", e);
}

void config_link(char text[LINK_BYTES], const struct config *config)
{
    snprintf(text, LINK_BYTES, "%.*s delay %.*s", TEXT_MOST, config_text(config, OPT_SITE_RATE),
             TEXT_MOST, config_text(config, OPT_SITE_DELAY));
}

bool config_has_usual_link(const struct config *config)
{
    static const enum option_id both[] = {OPT_SITE_RATE, OPT_SITE_DELAY};
    for (int i = 0; i < 2; i++)
        if (strcmp(config_text(config, both[i]), option_get(both[i])->preset) != 0)
            return false;
    return true;
}
