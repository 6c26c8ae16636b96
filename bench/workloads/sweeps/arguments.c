#include "bench/workloads/sweeps/arguments.h"

#include <stdlib.h>
#include <string.h>

#include "kernels/base/mem.h"
#include "kernels/base/names.h"

/* The option that "--name" or "--name=value" is; *value is NULL in the first form. "-h" asks for help
 * too. */
static const struct option_row *find(const char *argument, const struct option_row *table, size_t n,
                                     const char **value)
{
    argument = strcmp(argument, "-h") == 0 ? "--help" : argument;
    size_t length = strcspn(argument, "=");
    *value = argument[length] == '=' ? argument + length + 1 : NULL;
    for (size_t i = 0; strncmp(argument, "--", 2) == 0 && i < n; i++)
        if (strlen(table[i].name) == length - 2 &&
            strncmp(table[i].name, argument + 2, length - 2) == 0)
            return &table[i];
    return NULL;
}

static enum status take(const struct option_row *option, const char *value, void *options,
                        struct error *e)
{
    char *field = (char *)options + option->offset;
    if (option->take != NULL)
        return option->take(options, value, e);
    if (option->value != NULL)
        *(const char **)field = value;
    else
        *(bool *)field = true;
    return OK;
}

static enum status unknown_option(const char *argument, const struct option_row *table, size_t n,
                                  struct error *e)
{
    const char **names;
    char near[NAME_NEAR_BYTES];
    TRY(MEM_NEW(names, n, "the names of options", e));
    for (size_t i = 0; i < n; i++)
        names[i] = table[i].name;
    option_near(near, argument, names, n);
    free(names);
    return error_set(e, ERR_ARGUMENT, "%s: unknown option, or its value is missing%s; see --help",
                     argument, near);
}

enum status options_take(int argc, char **argv, const struct option_row *table, size_t n,
                         void *options, struct error *e)
{
    for (int i = 1; i < argc; i++) {
        const char *argument = argv[i], *value;
        if (argument[0] != '-')
            return error_set(e, ERR_ARGUMENT, "'%s' is not an option; see --help", argument);
        const struct option_row *option = find(argument, table, n, &value);
        if (option != NULL && option->value != NULL && value == NULL)
            value = argv[++i];
        if (option == NULL || (option->value != NULL) != (value != NULL))
            return unknown_option(argument, table, n, e);
        TRY(take(option, value, options, e));
    }
    return OK;
}

void options_print(FILE *out, const struct option_row *table, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        char text[64];
        snprintf(text, sizeof text, "--%s%s%s", table[i].name, table[i].value != NULL ? " " : "",
                 table[i].value != NULL ? table[i].value : "");
        fprintf(out, "  %-20s %s\n", text, table[i].help);
    }
}

/* ---- Values ---- */

enum status option_count(const char *option, const char *text, int most, int *value,
                         struct error *e)
{
    char *end;
    long n = strtol(text, &end, 10);
    if (*text == '\0' || *end != '\0' || n < 1 || n > most)
        return error_set(e, ERR_ARGUMENT, "--%s: '%s' is no whole number of 1..%d", option, text,
                         most);
    *value = (int)n;
    return OK;
}

enum status option_choice(const char *option, const char *text, struct choice *c, struct error *e)
{
    *c = (struct choice){.none = strcmp(text, "none") == 0};
    if (c->none)
        return OK;
    if (strlen(text) >= sizeof c->text || *text == '\0')
        return error_set(e, ERR_ARGUMENT, "--%s: '%.64s': names separated by commas are expected",
                         option, text);
    strcpy(c->text, text);
    for (char *rest = c->text, *name; (name = strsep(&rest, ",")) != NULL;) {
        if (name_index(name, c->names, (size_t)c->n) >= 0)
            return error_set(e, ERR_ARGUMENT, "--%s: '%s' is listed twice", option, name);
        if (c->n == CHOICE_NAMES)
            return error_set(e, ERR_ARGUMENT, "--%s: at most %d names", option, CHOICE_NAMES);
        c->names[c->n++] = name;
    }
    return OK;
}

enum status option_choice_of(const char *option, const char *text, const char *const *names,
                             size_t n, struct choice *c, struct error *e)
{
    int ignored;
    *c = (struct choice){.n = 0};
    if (strcmp(text, "all") == 0)
        return OK;
    TRY(option_choice(option, text, c, e));
    for (int i = 0; i < c->n; i++)
        TRY(option_name(option, c->names[i], names, n, &ignored, e));
    return OK;
}

bool choice_has(const struct choice *c, const char *name)
{
    return c->n == 0 ? !c->none : name_index(name, c->names, (size_t)c->n) >= 0;
}
