/* The scalebench program: finds the command, parses its arguments, prints its error. */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/runner/commands/commands.h"
#include "kernels/base/descriptors.h"
#include "kernels/base/names.h"

#define VERSION "0.1.0"

struct command {
    const char *name, *operand, *options, *summary;
    command_function *run;
};

static const struct command commands[] = {
#define COMMAND(name, operand, options, summary) {#name, operand, options, summary, command_##name},
#include "bench/runner/commands/commands.def"
};
#define N_COMMANDS (sizeof commands / sizeof *commands)

/* An option is a text or, where it takes none, a truth: a member of struct arguments. */
#define TEXT(name, member) {name, required_argument, NULL, 0}, offsetof(struct arguments, member)
#define FLAG(name, member) {name, no_argument, NULL, 0}, offsetof(struct arguments, member), NULL
static const struct known_option {
    struct option option;
    size_t member;
    const char *empty; /* what is wrong with a text that is empty; NULL: as if it was not given */
    const char *help;
} known_options[] = {
    {TEXT("set", set), NULL,
     "--set \"KEY=VALUE ...\"  change values of the spec: train.epochs=1 matrix.ranks=[1,2]; for "
     "every case that\n"
     "                       does not give them itself, or for one: cases.LABEL.ranks=2"},
    {TEXT("out", out), "(OUT= of make) names no folder",
     "--out FOLDER           folder of all results (results)"},
    {FLAG("fresh", fresh), "--fresh                begin a new run in any case"},
    {FLAG("strict", strict),
     "--strict               refuse to run when a point cannot; of verdicts, undecided fails"},
    {FLAG("json", json), "--json                 as JSON, for programs"},
    {TEXT("published", published), "names no file",
     "--published FILE       beside a published summary: a path, or a name in results/published"},
    {TEXT("quantity", quantity), "names no quantity",
     "--quantity NAME        what is compared, step_ms where none is named; one of\n"
     "                        "
#define COMPARED(name, ...) " " #name
#include "bench/runner/compare/compared.def"
    },
    {TEXT("margin", margin), "says nothing", "--margin SHARE         what counts as the same (2%)"},
    {TEXT("level", level), "says nothing",
     "--level SHARE          at which all intervals hold together (95%)"},
    {TEXT("floor", floor), "says nothing",
     "--floor SHARE          by how much two campaigns of one thing may differ (what repetitions\n"
     "                         of the runs say; without any 3% of times, else 0%)"},
    {TEXT("file", file), "names no file", "--file FILE            conditions, one a line"},
    {TEXT("format", format), "names no format",
     "--format NAME          how it is told, as text where none is named; one of"
#define FORMAT(name, ...) " " #name
#include "bench/runner/compare/formats.def"
     "; of check"
#define FORMAT(name, ...) " " #name
#include "bench/runner/compare/checks_formats.def"
    },
    {TEXT("output", output), "names no file", "--output FILE          write there instead"},
};
#undef TEXT
#undef FLAG
/* What getopt_long says of an argument that is no option, after a '-' in its letters. */
#define OPERAND 1
/* Of an option: its index in known_options above this. */
#define KNOWN_OPTION 1000
#define N_OPTIONS    (sizeof known_options / sizeof *known_options)

static void print_help(FILE *out)
{
    fputs("scalebench: strong and weak scaling of CNN training, from one YAML file to a figure\n\n"
          "usage: scalebench COMMAND [ARGUMENTS]\n\n",
          out);
    for (size_t i = 0; i < N_COMMANDS; i++)
        fprintf(out, "  %-8s %-13s %s\n", commands[i].name, commands[i].operand,
                commands[i].summary);
    fputs(
        "  help     [COMMAND]     this text, or a command's\n"
        "\noptions: --help, --version, and a command's own\n"
        "exit status: 0 all points ok, skipped or diverged without a bound of accuracy,\n"
        "             1 a point failed, 2 bad spec or usage,\n"
        "             3 no point can run here, 130 or 143 interrupted (the same command goes on)\n",
        out);
}

/* Whether the name is one of the words. */
static bool takes_option(const struct command *command, const char *name)
{
    size_t length = strlen(name);
    const char *rest = command->options;
    while (*rest && (strcspn(rest, " ") != length || strncmp(rest, name, length) != 0)) {
        rest += strcspn(rest, " ");
        rest += strspn(rest, " ");
    }
    return *rest != '\0';
}

static void print_command_help(FILE *out, const struct command *command)
{
    fprintf(out, "usage: scalebench %s %s%s\n\n%s\n", command->name, command->operand,
            *command->options ? " [OPTIONS]" : "", command->summary);
    for (size_t i = 0; i < N_OPTIONS; i++)
        if (takes_option(command, known_options[i].option.name))
            fprintf(out, "  %s\n", known_options[i].help);
}

static const struct command *find_command(const char *name, struct error *e)
{
    const char *names[N_COMMANDS + 1];
    char text[512];
    for (size_t i = 0; i < N_COMMANDS; i++) {
        if (strcmp(commands[i].name, name) == 0)
            return &commands[i];
        names[i] = commands[i].name;
    }
    names[N_COMMANDS] = "help";
    error_set(e, ERR_ARGUMENT, "command %s",
              name_explain(text, sizeof text, name, names, N_COMMANDS + 1));
    return NULL;
}

/* The options that a command takes, for getopt_long. */
static void select_options(const struct command *command, struct option options[N_OPTIONS + 2])
{
    size_t n = 0;
    for (size_t i = 0; i < N_OPTIONS; i++)
        if (takes_option(command, known_options[i].option.name)) {
            options[n] = known_options[i].option;
            options[n++].val = KNOWN_OPTION + (int)i;
        }
    options[n++] = (struct option){"help", no_argument, NULL, 'h'};
    options[n] = (struct option){0};
}

static enum status take_operand(const char *operand, struct arguments *arguments,
                                const struct command *command, struct error *e)
{
    size_t most =
        strstr(command->operand, "...") != NULL ? OPERANDS_MAX : *command->operand != '\0';
    if (arguments->n_operands >= most)
        return error_set(e, ERR_ARGUMENT, "%s: '%s' is one argument too many", command->name,
                         operand);
    arguments->operands[arguments->n_operands++] = operand;
    arguments->operand = arguments->operands[0];
    return OK;
}

static enum status take_option(const struct known_option *option, struct arguments *arguments,
                               const struct command *command, struct error *e)
{
    void *member = (char *)arguments + option->member;
    if (option->option.has_arg == no_argument)
        *(bool *)member = true;
    else if (*optarg || option->empty == NULL)
        *(const char **)member = *optarg ? optarg : NULL;
    else
        return error_set(e, ERR_ARGUMENT, "%s: --%s '' %s", command->name, option->option.name,
                         option->empty);
    return OK;
}

static enum status take_argument(int c, struct arguments *arguments, const struct command *command,
                                 char **argv, struct error *e)
{
    if (c >= KNOWN_OPTION)
        return take_option(&known_options[c - KNOWN_OPTION], arguments, command, e);
    if (c == OPERAND)
        return take_operand(optarg, arguments, command, e);
    return error_set(e, ERR_ARGUMENT, "%s: '%s' %s; `scalebench %s --help` tells more",
                     command->name, argv[optind - 1],
                     c == ':' ? "needs a value" : "is not an option", command->name);
}

/* Words of an operand that are not in brackets have to be there, "RUN RUN..." being two. */
static enum status check_operands(const struct arguments *arguments, const struct command *command,
                                  struct error *e)
{
    size_t wanted = 0;
    const char *word = command->operand;
    for (; *word && *word != '['; word += strspn(word, " ")) {
        const char *name = word;
        word += strcspn(word, " ");
        if (++wanted > arguments->n_operands)
            return error_set(e, ERR_ARGUMENT, "%s: %.*s is missing", command->name,
                             (int)(word - name), name);
    }
    return OK;
}

/* Parses what follows the command's name. *help: --help was there. */
static enum status parse(const struct command *command, int argc, char **argv,
                         struct arguments *arguments, bool *help, struct error *e)
{
    struct option options[N_OPTIONS + 2];
    int c;
    select_options(command, options);
    opterr = 0;
    while ((c = getopt_long(argc, argv, "-:h", options, NULL)) != -1) {
        *help = c == 'h';
        if (*help)
            return OK;
        TRY(take_argument(c, arguments, command, argv, e));
    }
    for (; optind < argc; optind++)
        TRY(take_operand(argv[optind], arguments, command, e));
    return check_operands(arguments, command, e);
}

static enum status dispatch(int argc, char **argv, int *exit_status, struct error *e)
{
    struct arguments arguments = {.command = argv, .out = "results"};
    struct tools tools;
    bool help = false;
    const struct command *command = find_command(argv[1], e);
    if (command == NULL)
        return e->status;
    TRY(parse(command, argc - 1, argv + 1, &arguments, &help, e));
    if (help) {
        print_command_help(stdout, command);
        return OK;
    }
    TRY(tools_find(&tools, e));
    return command->run(&arguments, &tools, stdout, exit_status, e);
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

static bool is_one_of(const char *word, const char *a, const char *b)
{
    return strcmp(word, a) == 0 || strcmp(word, b) == 0;
}

static enum status act(int argc, char **argv, int *exit_status, struct error *e)
{
    if (argc < 2) {
        print_help(stderr);
        *exit_status = 2;
        return OK;
    }
    if (is_one_of(argv[1], "--help", "-h"))
        return print_help_of(NULL, e);
    if (strcmp(argv[1], "help") == 0)
        return print_help_of(argv[2], e);
    if (strcmp(argv[1], "--version") == 0) {
        printf("scalebench " VERSION "\n");
        return OK;
    }
    return dispatch(argc, argv, exit_status, e);
}

int main(int argc, char **argv)
{
    struct error e = {0};
    int exit_status = 0;
    descriptors_open_standard();
    if (act(argc, argv, &exit_status, &e) != OK) {
        fputs("scalebench: ", stderr);
        error_print(stderr, &e);
        exit_status = error_exit_status(&e);
    }
    if (fflush(stdout) != 0 || ferror(stdout)) {
        fputs("scalebench: standard output cannot be written\n", stderr);
        exit_status = exit_status ? exit_status : 1;
    }
    return exit_status;
}
