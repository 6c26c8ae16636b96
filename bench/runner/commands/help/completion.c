/* `scalebench completion`: prints the completion script of a shell, or the words that can complete
 * a command line: commands, options, operands and option values (operands.def). */
#include <stdlib.h>
#include <string.h>

#include "bench/base/file.h"
#include "bench/runner/commands/commands.h"
#include "bench/runner/commands/table.h"
#include "kernels/base/names.h"
#include "kernels/base/text.h"

struct offer {
    const char *word; /* beginning of the word that is to be completed */
    const char *out;  /* folder of all results */
    const struct tools *tools;
    FILE *to;
};

static const struct shell {
    const char *name, *script;
} shells[] = {
#define SHELL(name, script) {#name, script},
#include "bench/runner/commands/help/shells.def"
};
#define N_SHELLS (sizeof shells / sizeof *shells)

/* operand of `scalebench completion` that requests the completions of a command line; any other
 * operand is the name of a shell */
static const char asking[] = "words";

/* Prints the first `length` characters of `text`, then `end` ("=" or "") and the first sentence of
 * `meaning`. Prints nothing if the characters do not begin with o->word. */
static void offer(const struct offer *o, const char *text, int length, const char *end,
                  const char *meaning)
{
    if (strncmp(text, o->word, strlen(o->word)) == 0 && length >= (int)strlen(o->word))
        fprintf(o->to, "%.*s%s%s%.*s\n", length, text, end, *meaning ? "\t" : "",
                text_sentence(meaning), meaning);
}

static void offer_word(const struct offer *o, const char *text, const char *meaning)
{
    offer(o, text, (int)strlen(text), "", meaning);
}

static enum status print_shells(const struct arguments *a, FILE *out, int *exit_status,
                                struct error *e)
{
    for (size_t i = 0; i < N_SHELLS; i++)
        fprintf(out, "%s\n", shells[i].name);
    return OK;
}

/* Runs a command and offers the first word of each printed line as a completion, with the rest of
 * the line as the meaning of the word. */
static enum status offer_printed(const struct offer *o, command_function *command,
                                 const char *operand, const char *end, struct error *e)
{
    char *text = NULL;
    size_t size;
    int exit_status = 0;
    FILE *printed = open_memstream(&text, &size);
    if (printed == NULL)
        return error_no_memory(e, "a completion");
    struct arguments a = {
        .tools = o->tools, .operand = operand, .out = o->out, .default_out = o->out};
    enum status status = command(&a, printed, &exit_status, e);
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

/* Completions of an operand: names that a command prints, or paths that match `pattern` in
 * `folder`, with the suffix `ending` cut off. */
static const struct operand {
    const char *word;
    command_function *command;
    const char *operand, *end; /* operand: argument of `command`, which prints the completions;
                                  NULL: none. end: text after each completion */
    enum base { IN_OUT, IN_HOME } base;
    const char *folder, *pattern, *ending;
    bool whole; /* whether completions are whole paths; otherwise they omit `base` and `folder` */
} operands[] = {
#define PRINTED(word, command, operand, end)                                                       \
    {word, command, operand, end, 0, NULL, NULL, NULL, false},
#define PATHS(word, base, folder, pattern, ending, whole)                                          \
    {word, NULL, NULL, NULL, base, folder, pattern, ending, whole},
#include "bench/runner/commands/operands.def"
};

static enum status offer_paths(const struct offer *o, const struct operand *of)
{
    const char *base = of->base == IN_HOME ? o->tools->home : o->out;
    size_t skip = of->whole ? 0 : strlen(base) + 1 + strlen(of->folder);
    char below[64];
    glob_t files;
    snprintf(below, sizeof below, "%s%s", of->folder, of->pattern);
    if (file_glob(base, below, 0, &files) != 0)
        return OK;
    for (size_t i = 0; i < files.gl_pathc; i++) {
        const char *path = files.gl_pathv[i];
        offer(o, path + skip, (int)(strlen(path) - skip - strlen(of->ending)), "", "");
    }
    globfree(&files);
    return OK;
}

/* Offers the completions that operands.def defines for each upper-case word in `text`, such as
 * SPEC, RUN and CSV in "SPEC|RUN|CSV". */
static enum status offer_operands(const struct offer *o, const char *text, struct error *e)
{
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ_";
    for (text += strcspn(text, letters); *text; text += strcspn(text, letters)) {
        size_t length = strspn(text, letters);
        for (size_t i = 0; i < sizeof operands / sizeof *operands; i++) {
            const struct operand *of = &operands[i];
            if (strlen(of->word) == length && strncmp(of->word, text, length) == 0)
                TRY(of->command != NULL ? offer_printed(o, of->command, of->operand, of->end, e)
                                        : offer_paths(o, of));
        }
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

/* Offers the choices of an option. For an option without choices, offers the completions that
 * operands.def defines for the upper-case words in its `value`, such as "CLUSTER". */
static enum status offer_values(const struct offer *o, const struct command_option *option,
                                struct error *e)
{
    if (option->choices == NULL)
        return offer_operands(o, option->value, e);
    for (size_t i = 0; option->choices[i] != NULL; i++)
        offer_word(o, option->choices[i], "");
    return OK;
}

static const struct command_option *option_of(const struct command *command, const char *word)
{
    return strncmp(word, "--", 2) == 0 ? command_find_option(command, word + 2) : NULL;
}

static void take_out(struct offer *o, const struct command *command, const char *const *words,
                     size_t n)
{
    for (size_t i = 1; i + 2 < n; i++) {
        const struct command_option *option = option_of(command, words[i]);
        if (option != NULL && option->member == offsetof(struct arguments, out))
            o->out = words[i + 1];
    }
}

/* Offers completions of the last word in `words`, the part of the command line after
 * "scalebench". */
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
    const struct command_option *option = option_of(command, words[n - 2]);
    if (option != NULL && *option->value)
        return offer_values(o, option, e);
    if (o->word[0] == '-') {
        offer_options(o, command);
        return OK;
    }
    return offer_operands(o, command->operand, e);
}

enum status command_completion(const struct arguments *a, FILE *out, int *exit_status,
                               struct error *e)
{
    const char *known[N_SHELLS + 1] = {[N_SHELLS] = asking};
    char text[256];
    struct offer o = {.out = a->out, .tools = a->tools, .to = out};
    if (strcmp(a->operand, asking) == 0)
        return offer_next(&o, a->operands + 1, a->n_operands - 1, e);
    for (size_t i = 0; i < N_SHELLS; i++) {
        known[i] = shells[i].name;
        if (strcmp(shells[i].name, a->operand) == 0 && a->n_operands > 1)
            return error_set(e, ERR_ARGUMENT,
                             "completion: '%s' is one argument too many; expected %s alone",
                             a->operands[1], shells[i].name);
        if (strcmp(shells[i].name, a->operand) == 0) {
            fputs(shells[i].script, out);
            return OK;
        }
    }
    return error_set(e, ERR_ARGUMENT, "completion: %s",
                     name_explain(text, sizeof text, a->operand, known, N_SHELLS + 1));
}
