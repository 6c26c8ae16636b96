#include "bench/runner/commands/table.h"

#include <string.h>

#include "bench/runner/commands/commands.h"
#include "kernels/base/names.h"

const struct command all_commands[COMMANDS] = {
#define COMMAND(name, operand, options, summary) {#name, operand, options, summary},
#include "bench/runner/commands/commands.def"
};

static const char *const quantities[] = {
#define COMPARED(name, ...) #name,
#include "bench/compare/compared.def"
    NULL};

static const char *const formats[] = {
#define FORMAT(name, ...)         #name,
#define COMPARE_FORMAT(name, ...) #name,
#include "bench/compare/formats.def"
    NULL};

static const char *const checks_formats[] = {
#define FORMAT(name, ...) #name,
#define COMPARE_FORMAT(name, ...)
#include "bench/compare/formats.def"
    NULL};

static const char *const claims_formats[] = {
#define CLAIM_FORMAT(name, ...) #name,
#include "bench/claims/claim_formats.def"
    NULL};

static const char *const plan_formats[] = {
#define PLAN_FORMAT(name, ...) #name,
#include "bench/runner/commands/plan_formats.def"
    NULL};

static const char *const predict_formats[] = {
#define PREDICT_FORMAT(name, ...) #name,
#include "bench/forecast/predict_formats.def"
    NULL};

static const char *const export_formats[] = {
#define TRACE(name, ...) #name,
#include "comm/cost/traces.def"
    NULL};

const struct command_option all_command_options[COMMAND_OPTIONS] = {
#define COMMAND_OPTION(id, name, type, member, value, choices, empty, help)                        \
    {                                                                                              \
        #id,                                                                                       \
        {name, OPTION_##type == OPTION_FLAG ? no_argument : required_argument, NULL, 0},           \
        OPTION_##type,                                                                             \
        offsetof(struct arguments, member),                                                        \
        value,                                                                                     \
        choices,                                                                                   \
        empty,                                                                                     \
        help},
#include "bench/runner/commands/command_options.def"
};

const struct exit_row all_exits[EXITS] = {
#define EXIT(status, meaning) {status, meaning},
#include "bench/runner/commands/exits.def"
};

const struct command *command_find(const char *name)
{
    for (size_t i = 0; i < COMMANDS; i++)
        if (strcmp(all_commands[i].name, name) == 0)
            return &all_commands[i];
    return NULL;
}

bool command_takes(const struct command *command, const struct command_option *option)
{
    return name_is_word(command->options, option->id);
}

const struct command_option *command_find_option(const struct command *command, const char *name)
{
    for (size_t i = 0; i < COMMAND_OPTIONS; i++)
        if (command_takes(command, &all_command_options[i]) &&
            strcmp(all_command_options[i].option.name, name) == 0)
            return &all_command_options[i];
    return NULL;
}
