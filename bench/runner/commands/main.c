/* Main program of scalebench: finds the command, parses its arguments, runs the command and prints
 * its error. */
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "bench/base/descriptors.h"
#include "bench/compare/comparison.h"
#include "bench/runner/commands/commands.h"
#include "bench/runner/commands/table.h"
#include "bench/spec/spec.h"
#include "kernels/base/names.h"
#include "kernels/base/terminal.h"
#include "kernels/base/text.h"

/* functions of the commands, in the order of all_commands */
static command_function *const functions[COMMANDS] = {
#define COMMAND(name, ...) command_##name,
#include "bench/runner/commands/commands.def"
};

/* value that getopt_long returns for an operand, because the option letters begin with '-' */
#define OPERAND 1
/* getopt_long returns KNOWN_OPTION + i for all_command_options[i] */
#define KNOWN_OPTION 1000

/* Prints a text wrapped to the width of the terminal; 80 columns if there is no terminal. */
static void print_entry(FILE *out, const char *head, int indent, const char *text)
{
    int width = terminal_width(out);
    terminal_print_entry(out, head, indent, text, width > 0 ? width : 80);
}

static void print_headline(FILE *out, const char *head, int indent, const char *summary)
{
    char text[256];
    snprintf(text, sizeof text, "%.*s", text_sentence(summary), summary);
    print_entry(out, head, indent, text);
}

static void print_help(FILE *out)
{
    enum { INDENT = 27 };
    char head[64];
    print_entry(
        out, "", 0,
        "scalebench: strong and weak scaling of CNN training, from one YAML file to a figure");
    fputs("\nusage: scalebench COMMAND [ARGUMENTS]\n\n", out);
    for (size_t i = 0; i < COMMANDS; i++) {
        snprintf(head, sizeof head, "  %-10s %s", all_commands[i].name, all_commands[i].operand);
        print_headline(out, head, INDENT, all_commands[i].summary);
    }
    fputs("  help       [COMMAND]     Print this text, or a command's details\n"
          "\noptions: --help, --version, and a command's own\nexit status:\n",
          out);
    for (size_t i = 0; i < EXITS; i++) {
        snprintf(head, sizeof head, "  %s", all_exits[i].status);
        print_entry(out, head, 14, all_exits[i].meaning);
    }
}

static void print_option_help(FILE *out, const struct command_option *option)
{
    enum { INDENT = 25 };
    char head[64], text[1024];
    size_t used = (size_t)snprintf(text, sizeof text, "%s", option->help);
    for (size_t i = 0; option->choices != NULL && option->choices[i] != NULL && used < sizeof text;
         i++)
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%s",
                                 i == 0 ? "; one of " : " ", option->choices[i]);
    snprintf(head, sizeof head, "  --%s %s", option->option.name, option->value);
    print_entry(out, head, INDENT, text);
}

static void print_command_help(FILE *out, const struct command *command)
{
    fprintf(out, "usage: scalebench %s %s%s\n\n", command->name, command->operand,
            *command->options ? " [OPTIONS]" : "");
    print_entry(out, "", 0, command->summary);
    for (size_t i = 0; i < COMMAND_OPTIONS; i++)
        if (command_takes(command, &all_command_options[i]))
            print_option_help(out, &all_command_options[i]);
}

static const struct command *find_command(const char *name, struct error *e)
{
    const char *names[COMMANDS + 1];
    char text[512];
    const struct command *found = command_find(name);
    if (found != NULL)
        return found;
    if (name[0] == '-') {
        error_set(e, ERR_ARGUMENT,
                  "'%s': the command comes first; expected scalebench COMMAND [ARGUMENTS]", name);
        return NULL;
    }
    for (size_t i = 0; i < COMMANDS; i++)
        names[i] = all_commands[i].name;
    names[COMMANDS] = "help";
    error_set(e, ERR_ARGUMENT, "command %s",
              name_explain(text, sizeof text, name, names, COMMANDS + 1));
    return NULL;
}

static void select_options(const struct command *command,
                           struct option options[COMMAND_OPTIONS + 2])
{
    size_t n = 0;
    for (size_t i = 0; i < COMMAND_OPTIONS; i++)
        if (command_takes(command, &all_command_options[i])) {
            options[n] = all_command_options[i].option;
            options[n++].val = KNOWN_OPTION + (int)i;
        }
    options[n++] = (struct option){"help", no_argument, NULL, 'h'};
    options[n] = (struct option){0};
}

static enum status take_operand(const char *operand, struct arguments *a,
                                const struct command *command, struct error *e)
{
    size_t most =
        strstr(command->operand, "...") != NULL ? OPERANDS_MAX : *command->operand != '\0';
    bool is_value = a->set != NULL && strchr(a->set, '=') == NULL;
    if (a->n_operands >= most && is_value)
        return error_set(e, ERR_ARGUMENT, "%s: --set %s: expected key=value; write --set %s=VALUE",
                         command->name, a->set, a->set);
    if (a->n_operands >= most && a->set != NULL && strchr(operand, '=') != NULL)
        return error_set(
            e, ERR_ARGUMENT,
            "%s: '%s' is not part of --set. Write all changes in one pair of quotation "
            "marks: --set \"KEY=VALUE %s\"",
            command->name, operand, operand);
    if (a->n_operands >= most)
        return error_set(e, ERR_ARGUMENT, "%s: '%s' is one argument too many; expected %s%s",
                         command->name, operand, *command->operand ? command->operand : "none",
                         most > 0 ? ". Words that belong together need quotation marks" : "");
    a->operands[a->n_operands++] = operand;
    a->operand = a->operands[0];
    return OK;
}

static enum status add_line(char **lines, const char *line, struct error *e)
{
    char *more = NULL;
    const char *first = *lines != NULL ? *lines : "";
    if (asprintf(&more, "%s%s%s", first, *first ? "\n" : "", line) < 0)
        return error_no_memory(e, "a command line");
    free(*lines);
    *lines = more;
    return OK;
}

static enum status take_option(const struct command_option *option, struct arguments *a,
                               const struct command *command, struct error *e)
{
    void *member = (char *)a + option->member;
    if (option->type == OPTION_FLAG)
        *(bool *)member = true;
    else if (option->type == OPTION_LINES)
        return *optarg ? add_line(member, optarg, e) : OK;
    else if (*optarg || option->empty == NULL)
        *(const char **)member = *optarg ? optarg : NULL;
    else
        return error_set(e, ERR_ARGUMENT, "%s: --%s '' %s", command->name, option->option.name,
                         option->empty);
    return OK;
}

static void find_near_option(char near[NAME_NEAR_BYTES], const struct command *command,
                             const char *argument)
{
    const char *names[COMMAND_OPTIONS + 1];
    size_t n = 0;
    for (size_t i = 0; i < COMMAND_OPTIONS; i++)
        if (command_takes(command, &all_command_options[i]))
            names[n++] = all_command_options[i].option.name;
    names[n++] = "help";
    option_near(near, argument, names, n);
}

static enum status take_argument(int c, struct arguments *a, const struct command *command,
                                 char **argv, struct error *e)
{
    if (c >= KNOWN_OPTION)
        return take_option(&all_command_options[c - KNOWN_OPTION], a, command, e);
    if (c == OPERAND)
        return take_operand(optarg, a, command, e);
    bool known = optopt >= KNOWN_OPTION || optopt == 'h';
    char one[3] = {'-', (char)optopt}; /* unknown option letter */
    bool letter = optopt > 0 && optopt < 128 && !known;
    char near[NAME_NEAR_BYTES] = "";
    if (c != ':' && !known && !letter)
        find_near_option(near, command, argv[optind - 1]);
    return error_set(e, ERR_ARGUMENT, "%s: '%s' %s%s; see `scalebench %s --help`", command->name,
                     letter ? one : argv[optind - 1],
                     c == ':' ? "needs a value"
                     : known  ? "takes no value"
                              : "is not an option",
                     near, command->name);
}

static enum status check_out(const struct arguments *a, const struct command *command,
                             struct error *e)
{
    struct stat found;
    if (stat(a->out, &found) != 0 || S_ISDIR(found.st_mode))
        return OK;
    return error_set(e, ERR_ARGUMENT, "%s: --out %s: expected a folder of results, found a file",
                     command->name, a->out);
}

/* Checks that every operand is given, except optional ones ([X]). "RUN RUN..." requires two. */
static enum status check_operands(const struct arguments *a, const struct command *command,
                                  struct error *e)
{
    size_t wanted = 0;
    const char *word = command->operand;
    for (; *word && *word != '['; word += strspn(word, " ")) {
        const char *name = word;
        word += strcspn(word, " ");
        if (++wanted > a->n_operands)
            return error_set(e, ERR_ARGUMENT, "%s: %.*s is missing; see `scalebench %s --help`",
                             command->name, (int)(word - name), name, command->name);
    }
    return OK;
}

/* Rejects an option of specs given as --KEY instead of --set KEY=VALUE, unless the command lacks
 * --set or has an option KEY itself. Without this check, getopt_long could accept --KEY as an
 * abbreviation of a command option, such as --form as --format. */
static enum status check_word(const struct command *command, char *const *word, struct error *e)
{
    char key[64];
    const char *name = *word + strspn(*word, "-");
    size_t length = strcspn(name, "=");
    snprintf(key, sizeof key, "%.*s", (int)length, name);
    if (strncmp(*word, "--", 2) != 0 || option_find(key) == NULL ||
        command_find_option(command, key) != NULL || command_find_option(command, "set") == NULL)
        return OK;
    const char *value = name[length] != '\0' ? name + length + 1 : word[1];
    return error_set(e, ERR_ARGUMENT, "%s: '--%s' is an option of specs; use --set %s=%s",
                     command->name, key, key, value != NULL ? value : "VALUE");
}

/* Parses the arguments after the command's name. Sets *help if --help or -h is among them. */
static enum status parse(const struct command *command, int argc, char **argv, struct arguments *a,
                         bool *help, struct error *e)
{
    struct option options[COMMAND_OPTIONS + 2];
    int c;
    select_options(command, options);
    opterr = 0;
    for (int i = 1; i < argc; i++)
        TRY(check_word(command, &argv[i], e));
    while ((c = getopt_long(argc, argv, "-:h", options, NULL)) != -1) {
        *help = c == 'h';
        if (*help)
            return OK;
        TRY(take_argument(c, a, command, argv, e));
    }
    for (; optind < argc; optind++)
        TRY(take_operand(argv[optind], a, command, e));
    TRY(check_out(a, command, e));
    return check_operands(a, command, e);
}

static enum status run_command(const struct command *command, int argc, char **argv,
                               struct arguments *a, int *exit_status, struct error *e)
{
    struct tools tools;
    bool help = false;
    TRY(parse(command, argc - 1, argv + 1, a, &help, e));
    if (help) {
        print_command_help(stdout, command);
        return OK;
    }
    TRY(tools_find(&tools, e));
    a->tools = &tools;
    return functions[command - all_commands](a, stdout, exit_status, e);
}

static const char *default_out(void)
{
    const char *out = getenv("SCALEBENCH_OUT");
    return out != NULL && out[0] ? out : "results";
}

/* Returns the exit status for an error; with --bisect, the status that `git bisect run` expects. */
static int error_status(const struct arguments *a, const struct error *e)
{
    return a->bisect ? compare_bisect_error(e->status) : error_exit_status(e);
}

static enum status dispatch(int argc, char **argv, int *exit_status, struct error *e)
{
    const char *out = default_out();
    struct arguments arguments = {.command = argv, .out = out, .default_out = out};
    const struct command *command = find_command(argv[1], e);
    if (command == NULL)
        return e->status;
    enum status status = run_command(command, argc, argv, &arguments, exit_status, e);
    *exit_status = status == OK ? *exit_status : error_status(&arguments, e);
    free(arguments.set);
    return status;
}

static enum status print_help_of(const char *name, struct error *e)
{
    if (name == NULL) {
        print_help(stdout);
        return OK;
    }
    const struct command *command = find_command(name, e);
    if (command == NULL)
        return e->status;
    print_command_help(stdout, command);
    return OK;
}

static enum status print_version(struct error *e)
{
    struct tools tools;
    TRY(tools_find(&tools, e));
    printf("scalebench " SCALEBENCH_VERSION " (%s)\n", tools_revision(&tools));
    return OK;
}

static enum status act(int argc, char **argv, int *exit_status, struct error *e)
{
    if (argc < 2) {
        print_help(stderr);
        *exit_status = 2;
        return OK;
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)
        return print_help_of(NULL, e);
    if (strcmp(argv[1], "--version") == 0 && argc > 2)
        return error_set(e, ERR_ARGUMENT, "--version: '%s' is one argument too many; expected none",
                         argv[2]);
    if (strcmp(argv[1], "help") == 0)
        return print_help_of(argv[2], e);
    if (strcmp(argv[1], "--version") == 0)
        return print_version(e);
    return dispatch(argc, argv, exit_status, e);
}

/* Restores SIGCHLD, because waitpid fails if the parent process ignored it. Ignores SIGXFSZ:
 * writing beyond the file size limit (ulimit -f) then fails with an error message. */
static void set_signals(void)
{
    signal(SIGCHLD, SIG_DFL);
    signal(SIGXFSZ, SIG_IGN);
}

int main(int argc, char **argv)
{
    struct error e = {0};
    int exit_status = 0;
    descriptors_open_standard();
    set_signals();
    if (act(argc, argv, &exit_status, &e) != OK) {
        fputs("scalebench: ", stderr);
        error_print(stderr, &e);
        if (exit_status == 0)
            exit_status = error_exit_status(&e);
    }
    return descriptors_end_output("scalebench", exit_status);
}
