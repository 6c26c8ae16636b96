#include "bench/spec/foreign.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "bench/spec/yaml_reader.h"

enum { ARGS = OPT_ARG8 - OPT_ARG1 + 1 };

/* ---- Command line ---- */

/* The own option that `name`, of so many characters, means; NULL: none. */
static const struct spec_option *find_arg(const char *name, size_t length)
{
    for (int i = 0; i < ARGS; i++) {
        const struct spec_option *option = option_get((enum option_id)(OPT_ARG1 + i));
        const char *word = strrchr(option->key, '.') + 1;
        if (strlen(word) == length && strncmp(word, name, length) == 0)
            return option;
    }
    return NULL;
}

static enum status refuse(const struct config *config, enum option_id id, const char *text,
                          const char *why, struct error *e)
{
    return mark_error(e, ERR_SPEC, config->values[id].mark, "%s: '%s': %s", option_get(id)->key,
                      text, why);
}

/* Writes what the braces hold. */
static enum status put_name(FILE *out, const struct config *config, const char *name, size_t length,
                            const struct foreign_launch *launch, struct error *e)
{
    char text[64];
    const struct spec_option *arg = find_arg(name, length);
    snprintf(text, sizeof text, "{%.*s}", length < 60 ? (int)length : 60, name);
    if (arg != NULL && !config->values[arg->id].set)
        return refuse(config, OPT_COMMAND, text, "this point has no such option", e);
    if (arg != NULL)
        fputs(config_text(config, arg->id), out);
    else if (strcmp(text, "{ranks}") == 0)
        fprintf(out, "%ld", config_int(config, OPT_RANKS));
    else if (strcmp(text, "{seed}") == 0)
        fprintf(out, "%llu", launch->seed);
    else if (strcmp(text, "{record}") == 0)
        fputs(launch->record, out);
    else
        return refuse(config, OPT_COMMAND, text,
                      "known are {ranks}, {seed}, {record} and {arg1} to {arg8}", e);
    return OK;
}

/* Braces around anything but a name are the program's own. */
static size_t name_length(const char *brace)
{
    size_t n = 0;
    while (isalnum((unsigned char)brace[1 + n]) || brace[1 + n] == '_')
        n++;
    return brace[0] == '{' && n > 0 && brace[1 + n] == '}' ? n : 0;
}

enum status foreign_word(char **word, const struct config *config, size_t i,
                         const struct foreign_launch *launch, struct error *e)
{
    size_t size, length;
    enum status status = OK;
    FILE *out = open_memstream(word, &size);
    if (out == NULL)
        return error_no_memory(e, "a command line");
    for (const char *c = config->values[OPT_COMMAND].texts[i]; *c && status == OK; c++) {
        if ((length = name_length(c)) == 0) {
            fputc(*c, out);
            continue;
        }
        status = put_name(out, config, c + 1, length, launch, e);
        c += length + 1;
    }
    if (fclose(out) != 0 && status == OK)
        status = error_no_memory(e, "a command line");
    if (status != OK) {
        free(*word);
        *word = NULL;
    }
    return status;
}

/* ---- Metrics ---- */

/* A column's name: small letters, digits and underscores. */
static bool take_name(struct foreign_metric *metric, const char *text)
{
    size_t n = strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789_");
    if (n == 0 || n >= sizeof metric->name || isdigit((unsigned char)text[0]) ||
        text[n + strspn(text + n, " ")] != '=')
        return false;
    snprintf(metric->name, sizeof metric->name, "%.*s", (int)n, text);
    metric->pattern = strchr(text, '=') + 1;
    metric->pattern += strspn(metric->pattern, " ");
    return true;
}

void foreign_metric_name(char name[FOREIGN_NAME], const struct config *config, size_t i)
{
    struct foreign_metric metric = {.name = ""};
    take_name(&metric, config->values[OPT_METRICS].texts[i]);
    memcpy(name, metric.name, FOREIGN_NAME);
}

enum status foreign_metric_open(struct foreign_metric *metric, const struct config *config,
                                size_t i, struct error *e)
{
    const char *text = config->values[OPT_METRICS].texts[i];
    char why[128];
    if (!take_name(metric, text))
        return refuse(
            config, OPT_METRICS, text,
            "wanted \"name = pattern\", the name of at most 31 small letters, digits and _", e);
    int code = regcomp(&metric->regex, metric->pattern, REG_EXTENDED);
    if (code != 0) {
        regerror(code, &metric->regex, why, sizeof why);
        return refuse(config, OPT_METRICS, text, why, e);
    }
    if (metric->regex.re_nsub == 1)
        return OK;
    regfree(&metric->regex);
    return refuse(config, OPT_METRICS, text,
                  "wanted one group, as in ([0-9.]+), that is the number", e);
}

/* What one of a unit is in milliseconds, by the end of a metric's name; 0: it is no time. */
static double unit_ms(const char *name)
{
    static const struct {
        const char *ending;
        double ms;
    } units[] = {{"_ns", 1e-6}, {"_us", 1e-3}, {"_ms", 1}, {"_s", 1e3}};
    const char *ending = strrchr(name, '_');
    for (size_t i = 0; ending != NULL && i < sizeof units / sizeof *units; i++)
        if (strcmp(units[i].ending, ending) == 0)
            return units[i].ms;
    return 0;
}

enum status foreign_time(const struct config *config, size_t *metric, double *ms, struct error *e)
{
    const char *wanted = config_text(config, OPT_JUDGED);
    size_t n = config->values[OPT_METRICS].n;
    *metric = n;
    *ms = 1e3;
    if (strcmp(wanted, option_get(OPT_JUDGED)->preset) == 0)
        return OK;
    for (*metric = 0; *metric < n; ++*metric) {
        struct foreign_metric m;
        if (!take_name(&m, config->values[OPT_METRICS].texts[*metric]) ||
            strcmp(m.name, wanted) != 0)
            continue;
        *ms = unit_ms(wanted);
        return *ms > 0 ? OK
                       : refuse(config, OPT_JUDGED, wanted,
                                "a time's name ends with _ns, _us, _ms or _s", e);
    }
    return refuse(config, OPT_JUDGED, wanted, "workload.metrics have none of this name", e);
}

/* ---- A point ---- */

static enum status check_metrics(const struct config *config, struct error *e)
{
    const struct value *metrics = &config->values[OPT_METRICS];
    for (size_t i = 0; i < metrics->n; i++) {
        struct foreign_metric metric, other;
        TRY(foreign_metric_open(&metric, config, i, e));
        regfree(&metric.regex);
        for (size_t k = 0; k < i; k++)
            if (take_name(&other, metrics->texts[k]) && strcmp(other.name, metric.name) == 0)
                return refuse(config, OPT_METRICS, metric.name, "two of this name", e);
    }
    return OK;
}

enum status foreign_check(const struct config *config, struct error *e)
{
    const struct value *command = &config->values[OPT_COMMAND];
    const struct foreign_launch launch = {.record = ""};
    size_t metric;
    double ms;
    if (command->n == 0)
        return mark_error(e, ERR_SPEC, config->values[OPT_WORKLOAD].mark,
                          "workload.command is missing: %s", option_get(OPT_COMMAND)->help);
    for (size_t i = 0; i < command->n; i++) {
        char *word;
        TRY(foreign_word(&word, config, i, &launch, e));
        free(word);
    }
    TRY(check_metrics(config, e));
    return foreign_time(config, &metric, &ms, e);
}
