#include "bench/workloads/sweeps/arguments.h"

#include <stdlib.h>
#include <string.h>

#include "kernels/base/mem.h"
#include "kernels/base/names.h"
#include "kernels/base/text.h"

/* Returns the table row for an argument "--name" or "--name=value"; NULL if the name is unknown.
 * *value: text after "="; NULL without "=". */
static const struct spec_option *find(const char *argument, const struct spec_option *rows,
                                      size_t n, const char **value)
{
    size_t length = strcspn(argument, "=");
    *value = argument[length] == '=' ? argument + length + 1 : NULL;
    for (size_t i = 0; i < n; i++)
        if (strlen(rows[i].key) == length && strncmp(rows[i].key, argument, length) == 0)
            return &rows[i];
    return NULL;
}

static enum status unknown_option(const char *argument, const struct spec_option *rows, size_t n,
                                  struct error *e)
{
    const char **names;
    char near[NAME_NEAR_BYTES];
    TRY(MEM_NEW(names, n, "the names of options", e));
    for (size_t i = 0; i < n; i++)
        names[i] = rows[i].key + strlen("--");
    option_near(near, argument, names, n);
    free(names);
    return error_set(e, ERR_ARGUMENT, "%s: unknown option, or its value is missing%s; see --help",
                     argument, near);
}

/* Converts a list from the command line to the form in specs: "a,b" to "[a,b]", "none" to "[]",
 * "all" to all names that the option accepts. */
static void write_list(char *text, size_t size, const struct spec_option *row, const char *value)
{
    bool all = row->names != NULL && strcmp(value, "all") == 0;
    snprintf(text, size, "[%s", all || strcmp(value, "none") == 0 ? "" : value);
    for (size_t i = 0; all && i < row->names->n; i++)
        text_join(text, size, i > 0 ? ", " : "", row->names->names[i]);
    text_join(text, size, "", "]");
}

static enum status take(struct config *config, const struct spec_option *row, const char *value,
                        struct error *e)
{
    const struct mark mark = {.file = "command line"};
    char list[2048];
    if (!type_is_list(row->type))
        return config_set(config, row, value, mark, e);
    write_list(list, sizeof list, row, value);
    return config_set(config, row, list, mark, e);
}

enum status sweep_options_take(struct config *config, const struct spec_option *rows, size_t n,
                               int argc, char **argv, bool *help, struct error *e)
{
    for (size_t i = 0; i < n; i++)
        if (rows[i].preset != NULL)
            TRY(take(config, &rows[i], rows[i].preset, e));
    for (int i = 1; i < argc; i++) {
        const char *argument = argv[i], *value;
        if (strcmp(argument, "--help") == 0 || strcmp(argument, "-h") == 0) {
            *help = true;
            continue;
        }
        if (argument[0] != '-')
            return error_set(e, ERR_ARGUMENT, "unknown option '%s'; see --help", argument);
        const struct spec_option *row = find(argument, rows, n, &value);
        value = row != NULL && value == NULL ? argv[++i] : value;
        if (row == NULL || value == NULL)
            return unknown_option(argument, rows, n, e);
        TRY(take(config, row, value, e));
    }
    return OK;
}

void sweep_options_print(FILE *out, const struct spec_option *rows, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const char *preset = rows[i].preset;
        fprintf(out, "  %-14s %s%s%s%s\n", rows[i].key, rows[i].help,
                preset != NULL ? " (default " : "", preset != NULL ? preset : "",
                preset != NULL ? ")" : "");
    }
}

bool sweep_list_has(const struct value *list, const char *name)
{
    return name_index(name, (const char *const *)list->texts, list->n) >= 0;
}

const char *sweep_text_but(const struct config *config, int id, const char *word)
{
    const char *text = config_text(config, (enum option_id)id);
    return strcmp(text, word) == 0 ? NULL : text;
}

double sweep_number(const struct config *config, int id)
{
    return config_number(config, (enum option_id)id);
}
