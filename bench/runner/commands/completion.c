/* How a command line may go on: commands, their options, and what their operands and values stand for, as
 * other commands list it. */
#include <stdlib.h>
#include <string.h>

#include "bench/base/file.h"
#include "bench/runner/commands/commands.h"
#include "bench/runner/commands/table.h"
#include "kernels/base/names.h"

struct offer {
    const char *word; /* what was begun */
    const char *out;  /* folder of all results */
    const struct tools *tools;
    FILE *to;
};

static const struct shell {
    const char *name, *script;
} shells[] = {
#define SHELL(name, script) {#name, script},
#include "bench/runner/commands/shells.def"
};
#define N_SHELLS (sizeof shells / sizeof *shells)

/* What asks how a line goes on, in place of a shell's name. */
static const char asking[] = "words";

/* A candidate, `end` ("=" or "") behind it, where it goes on as the word begins. */
static void offer(const struct offer *o, const char *text, int length, const char *end,
                  const char *meaning)
{
    if (strncmp(text, o->word, strlen(o->word)) == 0 && length >= (int)strlen(o->word))
        fprintf(o->to, "%.*s%s%s%s\n", length, text, end, *meaning ? "\t" : "", meaning);
}

static void offer_word(const struct offer *o, const char *text, const char *meaning)
{
    offer(o, text, (int)strlen(text), "", meaning);
}

/* The first word of each line that a command prints of this operand; the rest says what it means. */
static enum status offer_printed(const struct offer *o, command_function *command,
                                 const char *operand, const char *end, struct error *e)
{
    char *text = NULL;
    size_t size;
    int exit_status = 0;
    FILE *printed = open_memstream(&text, &size);
    if (printed == NULL)
        return error_no_memory(e, "a completion");
    struct arguments arguments = {.operand = operand, .out = o->out};
    enum status status = command(&arguments, o->tools, printed, &exit_status, e);
    if (fclose(printed) != 0 && status == OK)
        status = error_no_memory(e, "a completion");
    char *rest = text;
    for (char *line; status == OK && (line = strsep(&rest, "\n")) != NULL && *line;) {
        size_t length = strcspn(line, " ");
        offer(o, line, (int)length, end, line + length + strspn(line + length, " "));
    }
    free(text);
    return status;
}

static enum status offer_configs(const struct offer *o, struct error *e)
{
    return offer_printed(o, command_list, "configs", "", e);
}

static enum status offer_models(const struct offer *o, struct error *e)
{
    return offer_printed(o, command_list, "models", "", e);
}

static enum status offer_kinds(const struct offer *o, struct error *e)
{
    return offer_printed(o, command_list, NULL, "", e);
}

static enum status offer_names(const struct offer *o, struct error *e)
{
    return offer_printed(o, explain_names, NULL, "", e);
}

/* Keys of a SET, of which the last in quotes is begun. */
static enum status offer_settings(const struct offer *o, struct error *e)
{
    return offer_printed(o, command_explain, NULL, "=", e);
}

static enum status offer_shells(const struct offer *o, struct error *e)
{
    (void)e;
    for (size_t i = 0; i < N_SHELLS; i++)
        offer_word(o, shells[i].name, "");
    return OK;
}

/* What is there below a folder; of each path the first `skip` and the last `drop` characters are left out. */
static enum status offer_paths(const struct offer *o, const char *folder, const char *below,
                               size_t skip, size_t drop)
{
    glob_t files;
    if (file_glob(folder, below, 0, &files) != 0)
        return OK;
    for (size_t i = 0; i < files.gl_pathc; i++) {
        const char *path = files.gl_pathv[i];
        offer(o, path + skip, (int)(strlen(path) - skip - drop), "", "");
    }
    globfree(&files);
    return OK;
}

static enum status offer_campaigns(const struct offer *o, struct error *e)
{
    return offer_paths(o, o->out, "*/", strlen(o->out) + 1, 1);
}

/* Folders that hold a manifest. */
static enum status offer_runs(const struct offer *o, struct error *e)
{
    static const char manifest[] = "/manifest.json", below[] = "*/*/manifest.json";
    return offer_paths(o, o->out, below, 0, strlen(manifest));
}

/* Names of what lies below home, in a folder that patterns begin with. */
static enum status offer_home(const struct offer *o, const char *folder, const char *pattern,
                              const char *ending)
{
    char below[64];
    snprintf(below, sizeof below, "%s%s", folder, pattern);
    return offer_paths(o, o->tools->home, below, strlen(o->tools->home) + 1 + strlen(folder),
                       strlen(ending));
}

static enum status offer_references(const struct offer *o, struct error *e)
{
    return offer_home(o, "results/reference/", "*/manifest.json", "/manifest.json");
}

static enum status offer_published(const struct offer *o, struct error *e)
{
    return offer_home(o, "results/published/", "*.csv", "");
}

static enum status offer_sites(const struct offer *o, struct error *e)
{
    return offer_home(o, "configs/sites/", "*.yaml", ".yaml");
}

static const struct operand {
    const char *word;
    enum status (*offer)(const struct offer *o, struct error *e);
} operands[] = {
#define OPERAND(word, offer) {word, offer},
#include "bench/runner/commands/operands.def"
};

/* "SPEC|RUN|CSV", "RUN...", "[NAME]": whatever any of its words stands for. */
static enum status offer_operands(const struct offer *o, const char *text, struct error *e)
{
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ_";
    for (text += strcspn(text, letters); *text; text += strcspn(text, letters)) {
        size_t length = strspn(text, letters);
        for (size_t i = 0; i < sizeof operands / sizeof *operands; i++)
            if (strlen(operands[i].word) == length && strncmp(operands[i].word, text, length) == 0)
                TRY(operands[i].offer(o, e));
        text += length;
    }
    return OK;
}

static void offer_commands(const struct offer *o)
{
    for (size_t i = 0; i < COMMANDS; i++)
        offer_word(o, all_commands[i].name, all_commands[i].summary);
    offer_word(o, "help", "");
}

static void offer_options(const struct offer *o, const struct command *command)
{
    char text[64];
    for (size_t i = 0; i < COMMAND_OPTIONS; i++) {
        snprintf(text, sizeof text, "--%s", all_command_options[i].option.name);
        if (command_takes(command, &all_command_options[i]))
            offer_word(o, text, all_command_options[i].help);
    }
    offer_word(o, "--help", "");
}

/* Names to choose from, or whatever the words of the value stand for. */
static enum status offer_values(const struct offer *o, const struct command_option *option,
                                struct error *e)
{
    if (option->choices == NULL)
        return offer_operands(o, option->value, e);
    for (size_t i = 0; option->choices[i] != NULL; i++)
        offer_word(o, option->choices[i], "");
    return OK;
}

/* The folder of all results, where the line says it. */
static void take_out(struct offer *o, const struct command *command, const char *const *words,
                     size_t n)
{
    for (size_t i = 1; i + 2 < n; i++) {
        const struct command_option *option =
            strncmp(words[i], "--", 2) == 0 ? command_option_find(command, words[i] + 2) : NULL;
        if (option != NULL && option->member == offsetof(struct arguments, out))
            o->out = words[i + 1];
    }
}

/* The words behind the name of the program; the last was begun. */
static enum status offer_next(struct offer *o, const char *const *words, size_t n, struct error *e)
{
    o->word = n > 0 ? words[n - 1] : "";
    if (n < 2 || (n == 2 && strcmp(words[0], "help") == 0)) {
        offer_commands(o);
        return OK;
    }
    const struct command *command = command_find(words[0]);
    if (command == NULL)
        return OK;
    take_out(o, command, words, n);
    const struct command_option *option =
        strncmp(words[n - 2], "--", 2) == 0 ? command_option_find(command, words[n - 2] + 2) : NULL;
    if (option != NULL && *option->value)
        return offer_values(o, option, e);
    if (o->word[0] == '-') {
        offer_options(o, command);
        return OK;
    }
    return offer_operands(o, command->operand, e);
}

enum status command_completion(const struct arguments *arguments, const struct tools *tools,
                               FILE *out, int *exit_status, struct error *e)
{
    (void)exit_status;
    const char *known[N_SHELLS + 1] = {[N_SHELLS] = asking};
    char text[256];
    struct offer o = {.out = arguments->out, .tools = tools, .to = out};
    if (strcmp(arguments->operand, asking) == 0)
        return offer_next(&o, arguments->operands + 1, arguments->n_operands - 1, e);
    for (size_t i = 0; i < N_SHELLS; i++) {
        known[i] = shells[i].name;
        if (strcmp(shells[i].name, arguments->operand) == 0 && arguments->n_operands > 1)
            return error_set(e, ERR_ARGUMENT,
                             "completion: '%s' is one argument too many; expected %s alone",
                             arguments->operands[1], shells[i].name);
        if (strcmp(shells[i].name, arguments->operand) == 0) {
            fputs(shells[i].script, out);
            return OK;
        }
    }
    return error_set(e, ERR_ARGUMENT, "completion: %s",
                     name_explain(text, sizeof text, arguments->operand, known, N_SHELLS + 1));
}
