/* Prints the man page from the tables of commands, options, exit statuses and spec options. */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "bench/runner/commands/commands.h"
#include "bench/runner/commands/table.h"
#include "bench/spec/figures/request.h"
#include "bench/spec/spec.h"

/* Prints a text for roff, with special characters escaped. */
static void print_text(FILE *out, const char *text)
{
    static const char special[] = "\\-\"", *const escapes[] = {"\\e", "\\-", "\\(dq"};
    if (*text == '.' || *text == '\'')
        fputs("\\&", out);
    for (; *text; text++) {
        const char *found = strchr(special, *text);
        if (found != NULL)
            fputs(escapes[found - special], out);
        else
            fputc(*text, out);
    }
}

static void print_entry(FILE *out, const char *word, const char *value, const char *meaning)
{
    fputs(".TP\n\\fB", out);
    print_text(out, word);
    fputs("\\fR", out);
    if (*value) {
        fputc(' ', out);
        print_text(out, value);
    }
    fputc('\n', out);
    print_text(out, meaning);
    fputc('\n', out);
}

static void print_line(FILE *out, const char *before, const char *text)
{
    fputs(".br\n", out);
    print_text(out, before);
    print_text(out, text);
    fputc('\n', out);
}

static void print_heading(FILE *out)
{
    char day[16];
    const char *epoch = getenv("SOURCE_DATE_EPOCH"); /* build date (s since 1970) */
    time_t now = epoch != NULL ? (time_t)strtoll(epoch, NULL, 10) : time(NULL);
    struct tm utc;
    strftime(day, sizeof day, "%Y-%m-%d", gmtime_r(&now, &utc));
    fprintf(
        out,
        ".TH SCALEBENCH 1 \"%s\" \"scalebench " SCALEBENCH_VERSION "\"\n.SH NAME\n"
        "scalebench \\- strong and weak scaling of CNN training, from one YAML file to a figure\n"
        ".SH SYNOPSIS\n\\fBscalebench\\fR \\fICOMMAND\\fR [\\fIARGUMENTS\\fR]\n",
        day);
}

static void print_command(FILE *out, const struct command *command)
{
    print_entry(out, command->name, command->operand, command->summary);
    const char *before = "Takes ";
    for (size_t i = 0; i < COMMAND_OPTIONS; i++) {
        if (!command_takes(command, &all_command_options[i]))
            continue;
        fputs(*before == 'T' ? ".br\n" : "", out);
        fputs(before, out);
        print_text(out, "--");
        print_text(out, all_command_options[i].option.name);
        before = ", ";
    }
    fputs(*before == 'T' ? "" : ".\n", out);
}

static void print_command_option(FILE *out, const struct command_option *option)
{
    char word[64];
    snprintf(word, sizeof word, "--%s", option->option.name);
    print_entry(out, word, option->value, option->help);
    for (size_t i = 0; option->choices != NULL && option->choices[i] != NULL; i++) {
        fputs(i == 0 ? "; one of " : " ", out);
        print_text(out, option->choices[i]);
    }
    fputs(option->choices != NULL ? "\n" : "", out);
}

static void print_spec_option(FILE *out, const struct spec_option *option)
{
    print_entry(out, option->key, "", option->help);
    if (option->names != NULL) {
        fputs(".br\none of:", out);
        for (size_t i = 0; i < option->names->n; i++) {
            fputc(' ', out);
            print_text(out, option->names->names[i]);
        }
        fputc('\n', out);
    }
    if (option->preset != NULL && option->preset[0] != '\0')
        print_line(out, "default: ", option->preset);
}

/* Prints the options of specs: first the options without a group, then the options of groups, both
 * in the order of options.def. The options of figures come last. */
static void print_spec_options(FILE *out)
{
    const char *group = "";
    for (int grouped = 0; grouped < 2; grouped++)
        for (int id = 0; id < OPTION_ROWS; id++) {
            const struct spec_option *option = option_get((enum option_id)id);
            size_t length = strcspn(option->key, ".");
            if ((option->key[length] == '.') != (grouped == 1))
                continue;
            if (grouped && (strncmp(group, option->key, length) != 0 || group[length] != '.'))
                fprintf(out, ".SS %.*s\n", (int)length, option->key);
            group = option->key;
            print_spec_option(out, option);
        }
    fputs(".SS figures, where an entry is a map\n", out);
    for (size_t i = 0; figure_option_at(i) != NULL; i++)
        print_spec_option(out, figure_option_at(i));
}

enum status command_man(const struct arguments *a, FILE *out, int *exit_status, struct error *e)
{
    size_t n;
    const struct spec_part *parts = spec_parts(&n);
    print_heading(out);
    fputs(".SH COMMANDS\n", out);
    for (size_t i = 0; i < COMMANDS; i++)
        print_command(out, &all_commands[i]);
    fputs(".SH OPTIONS\n", out);
    for (size_t i = 0; i < COMMAND_OPTIONS; i++)
        print_command_option(out, &all_command_options[i]);
    fputs(".SH EXIT STATUS\n", out);
    for (size_t i = 0; i < EXITS; i++)
        print_entry(out, all_exits[i].status, "", all_exits[i].meaning);
    fputs(".SH KEYS OF A SPEC\n", out);
    for (size_t i = 0; i < n; i++)
        print_entry(out, parts[i].name, "", parts[i].help);
    fputs(".SH OPTIONS OF A SPEC\n", out);
    print_spec_options(out);
    return OK;
}
