/* The command line as tables: every command, every option, every exit status. */
#pragma once

#include <getopt.h>
#include <stdbool.h>
#include <stddef.h>

#define SCALEBENCH_VERSION "0.9.0"

struct command {
    const char *name, *operand, *options, *summary;
};

/* What an option takes and its member of struct arguments is. */
enum command_option_type {
    OPTION_TEXT,  /* const char *: of several the last */
    OPTION_LINES, /* char *, the command line's own: of several each on a line */
    OPTION_FLAG   /* nothing; bool */
};

struct command_option {
    const char *id;
    struct option option;
    enum command_option_type type;
    size_t member;
    const char *value;
    const char *const *choices; /* NULL behind the last; or NULL */
    const char *empty, *help;
};

struct exit_row {
    const char *status, *meaning;
};

enum {
    COMMANDS = 0
#define COMMAND(...) +1
#include "bench/runner/commands/commands.def"
    ,
    COMMAND_OPTIONS = 0
#define COMMAND_OPTION(...) +1
#include "bench/runner/commands/command_options.def"
    ,
    EXITS = 0
#define EXIT(...) +1
#include "bench/runner/commands/exits.def"
};

extern const struct command all_commands[COMMANDS];
extern const struct command_option all_command_options[COMMAND_OPTIONS];
extern const struct exit_row all_exits[EXITS];

/* NULL where there is none of this name. */
const struct command *command_find(const char *name);
bool command_takes(const struct command *command, const struct command_option *option);
