/* Writes options as the command line of a workload (point_arguments) and reads them back
 * (config_parse_arguments). */
#include <stdlib.h>
#include <string.h>

#include "bench/spec/spec.h"

/* Returns the text of a value; the path if the value is a file. */
static const char *argument_text(const struct point *point, size_t id)
{
    return id == OPT_MODEL && point->net != NULL ? point->net->path
                                                 : config_path(&point->config, (enum option_id)id);
}

/* Appends the text of a value. Leaves out ranks in inject.ranks that the point does not have. */
static char *put_argument(char *to, const struct point *point, size_t id)
{
    const struct value *value = &point->config.values[id];
    if (id != OPT_INJECT_RANKS)
        return stpcpy(to, argument_text(point, id));
    const char *before = "";
    *to++ = '[';
    for (size_t i = 0; i < value->n; i++) {
        if (value->numbers[i] >= config_number(&point->config, OPT_RANKS))
            continue;
        to += sprintf(to, "%s%.0f", before, value->numbers[i]);
        before = ", ";
    }
    return stpcpy(to, "]");
}

enum status point_arguments(char ***list, const struct point *point, struct error *e)
{
    size_t n = 0, bytes = 0;
    for (size_t i = 0; i < OPTION_COUNT; i++) {
        const struct spec_option *option = option_get((enum option_id)i);
        if (!scope_is_workload(option->scope))
            continue;
        n++;
        bytes += strlen("--=") + strlen(option->key) + strlen(argument_text(point, i)) + 1;
    }
    char **arguments = *list = malloc((n + 1) * sizeof *arguments + bytes);
    if (arguments == NULL)
        return error_no_memory(e, "the arguments of a point");
    char *text = (char *)(arguments + n + 1);
    n = 0;
    for (size_t i = 0; i < OPTION_COUNT; i++) {
        const struct spec_option *option = option_get((enum option_id)i);
        if (!scope_is_workload(option->scope))
            continue;
        arguments[n++] = text;
        text = stpcpy(stpcpy(text, "--"), option->key);
        text = put_argument(stpcpy(text, "="), point, i) + 1;
    }
    arguments[n] = NULL;
    return OK;
}

/* Returns the option of "--key" or "--key=value"; NULL if the workload receives no such option.
 * *value is NULL for "--key". */
static const struct spec_option *argument_option(const char *argument, const char **value)
{
    if (strncmp(argument, "--", 2) != 0)
        return NULL;
    argument += 2;
    size_t length = strcspn(argument, "=");
    *value = argument[length] == '=' ? argument + length + 1 : NULL;
    for (size_t i = 0; i < OPTION_COUNT; i++) {
        const struct spec_option *option = option_get((enum option_id)i);
        if (scope_is_workload(option->scope) && strlen(option->key) == length &&
            strncmp(option->key, argument, length) == 0)
            return option;
    }
    return NULL;
}

enum status config_parse_arguments(struct config *config, int *argc, char **argv, struct error *e)
{
    const struct mark mark = {.file = "command line"};
    int left = 1, i = 1;
    for (; i < *argc && strcmp(argv[i], "--") != 0; i++) {
        const char *value;
        const struct spec_option *option = argument_option(argv[i], &value);
        if (option == NULL) {
            argv[left++] = argv[i];
            continue;
        }
        if (value == NULL && ++i < *argc)
            value = argv[i];
        if (value == NULL)
            return error_set(e, ERR_ARGUMENT, "--%s has no value", option->key);
        TRY(config_set(config, option, value, mark, e));
    }
    while (i < *argc)
        argv[left++] = argv[i++];
    argv[left] = NULL;
    *argc = left;
    return OK;
}
