/* Tables of all commands, options of commands, and exit statuses. */
#pragma once

#include <getopt.h>
#include <stdbool.h>
#include <stddef.h>

#define SCALEBENCH_VERSION "0.9.0"

struct command {
    const char *name, *operand, *options, *summary;
};

/* type of a command option's value, and of the member of struct arguments that stores the value */
enum command_option_type {
    OPTION_TEXT,  /* const char *; if the option is repeated, the last value */
    OPTION_LINES, /* char *, owned; the values of the repeated option, one per line */
    OPTION_FLAG   /* bool; the option has no value */
};

struct command_option {
    const char *id;
    struct option option;
    enum command_option_type type;
    size_t member;
    const char *value;
    const char *const *choices; /* allowed values, NULL-terminated; choices = NULL: any value */
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

/* Returns the command of this name; NULL if there is none. */
const struct command *command_find(const char *name);
bool command_takes(const struct command *command, const struct command_option *option);
/* Returns the command's option with this name; NULL if there is none. */
const struct command_option *command_find_option(const struct command *command, const char *name);
