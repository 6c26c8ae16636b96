#include "bench/spec/foreign.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "bench/base/file.h"
#include "bench/spec/matrix.h"
#include "bench/spec/pattern.h"
#include "bench/spec/value.h"
#include "bench/spec/yaml/yaml_reader.h"
#include "kernels/base/names.h"

const char own_options_group[] = "workload.options";

/* ---- Options of a foreign program ---- */

bool own_option_is_below(const char *key)
{
    size_t length = sizeof own_options_group - 1;
    return strncmp(key, own_options_group, length) == 0 && key[length] == '.';
}

static const char *name_of(const struct spec_option *own)
{
    return own->key + sizeof own_options_group;
}

/* Fixed names that workload.command may contain in braces; workload.options adds names. {record}:
 * the launch's folder, for the records that the program may write. */
static const char *const words[] = {"ranks", "seed", "record"};
#define WORDS (sizeof words / sizeof *words)

static enum status check_name(const struct own_options *own, const char *name,
                              const struct node *entry, struct error *e)
{
    bool good = isalpha((unsigned char)name[0]) && strlen(name) < FOREIGN_NAME;
    for (const char *c = name; *c; c++)
        good = good && (isalnum((unsigned char)*c) || *c == '_');
    if (!good)
        return mark_error(
            e, ERR_SPEC, entry->key_mark,
            "%s: '%s' cannot name an option: expected at most %d letters, digits and _, "
            "beginning with a letter",
            own_options_group, name, FOREIGN_NAME - 1);
    if (name_index(name, words, WORDS) >= 0)
        return mark_error(e, ERR_SPEC, entry->key_mark,
                          "%s: {%s} has a fixed meaning in workload.command. Rename the option",
                          own_options_group, name);
    if (own->n == OWN_OPTIONS_MAX)
        return mark_error(e, ERR_SPEC, entry->key_mark,
                          "%s: '%s' exceeds the limit of %d options in a spec", own_options_group,
                          name, OWN_OPTIONS_MAX);
    return OK;
}

enum status own_option_name(const struct spec_option **option, struct own_options *own,
                            const char *key, const struct node *entry, struct error *e)
{
    for (size_t i = 0; i < own->n; i++)
        if (strcmp(own->keys[i], key) == 0) {
            *option = &own->rows[i];
            return OK;
        }
    TRY(check_name(own, key + sizeof own_options_group, entry, e));
    struct spec_option *row = &own->rows[own->n];
    *row = *option_get(OPT_OWN);
    row->id = (enum option_id)(OPT_OWN + own->n);
    row->key = own->keys[own->n++];
    snprintf((char *)row->key, OWN_KEY, "%s", key);
    *option = row;
    return OK;
}

static void swap_values(struct config *config, enum option_id a, enum option_id b)
{
    struct value value = config->values[a];
    config->values[a] = config->values[b];
    config->values[b] = value;
}

static void swap_in_matrix(struct matrix *matrix, enum option_id a, enum option_id b)
{
    for (size_t i = 0; i < matrix->n_axes; i++) {
        enum option_id *id = &matrix->axes[i].id;
        *id = *id == a ? b : *id == b ? a : *id;
    }
    swap_values(&matrix->own.config, a, b);
    swap_values(&matrix->baseline.config, a, b);
    for (size_t i = 0; i < matrix->n_excludes; i++)
        swap_values(&matrix->excludes[i].config, a, b);
}

/* Swaps rows `i` and i + 1 of workload.options, in the table and in all values of the spec. */
static void swap_options(struct spec *spec, size_t i)
{
    char key[OWN_KEY];
    enum option_id a = (enum option_id)(OPT_OWN + i), b = a + 1;
    memcpy(key, spec->own->keys[i], OWN_KEY);
    memcpy(spec->own->keys[i], spec->own->keys[i + 1], OWN_KEY);
    memcpy(spec->own->keys[i + 1], key, OWN_KEY);
    swap_values(&spec->config, a, b);
    swap_in_matrix(spec->matrix, a, b);
    for (size_t k = 0; k < spec->matrix->n_cases; k++)
        swap_in_matrix(&spec->matrix->cases[k], a, b);
}

void own_options_sort(struct spec *spec)
{
    for (size_t n = spec->own->n; n > 1; n--)
        for (size_t i = 0; i + 1 < n; i++)
            if (strcmp(spec->own->keys[i], spec->own->keys[i + 1]) > 0)
                swap_options(spec, i);
}

/* Lists the workload.options that the point sets: " {n} {method}". */
static void list_own(char *text, size_t size, const struct config *config)
{
    size_t used = 0;
    text[0] = '\0';
    for (size_t i = 0; config->own != NULL && i < config->own->n && used < size; i++)
        if (config->values[OPT_OWN + i].set)
            used +=
                (size_t)snprintf(text + used, size - used, " {%s}", name_of(&config->own->rows[i]));
}

/* Returns whether a word of workload.command contains the name in braces. */
static bool command_uses(const struct config *config, const char *name)
{
    const struct value *command = &config->values[OPT_COMMAND];
    char braces[FOREIGN_NAME + 2];
    snprintf(braces, sizeof braces, "{%s}", name);
    for (size_t i = 0; i < command->n; i++)
        if (strstr(command->texts[i], braces) != NULL)
            return true;
    return false;
}

bool foreign_writes_records(const struct config *config)
{
    return command_uses(config, "record");
}

static enum status check_seed(const struct spec *spec, struct error *e)
{
    const struct value *given = NULL;
    for (size_t i = 0; i < spec->n_points && !spec->is_recorded; i++) {
        const struct value *seed = &spec->points[i].config.values[OPT_SEED];
        if (!config_is_foreign(&spec->points[i].config) ||
            command_uses(&spec->points[i].config, "seed"))
            return OK;
        given = seed->set && !value_is_preset(option_get(OPT_SEED), seed) ? seed : given;
    }
    return given == NULL ? OK
                         : mark_error(e, ERR_SPEC, given->mark,
                                      "seed has no effect, since no workload.command contains "
                                      "{seed}. Add {seed} to a workload.command, or remove seed");
}

static enum status check_own(const struct spec *spec, const struct spec_option *own,
                             struct error *e)
{
    const struct value *given = NULL;
    for (size_t i = 0; i < spec->n_points; i++) {
        const struct config *config = &spec->points[i].config;
        const struct value *value = &config->values[own->id];
        if (config_is_foreign(config) && command_uses(config, name_of(own)))
            return OK;
        given = value->set ? value : given;
    }
    return given == NULL ? OK
                         : mark_error(e, ERR_SPEC, given->mark,
                                      "%s has no effect, since no workload.command contains {%s}. "
                                      "Change a workload.command, or remove the option",
                                      own->key, name_of(own));
}

static enum status refuse(const struct config *config, enum option_id id, const char *text,
                          const char *why, struct error *e)
{
    return mark_error(e, ERR_SPEC, config->values[id].mark, "%s: '%s': %s", option_get(id)->key,
                      text, why);
}

/* Rejects a launcher such as mpirun in workload.command: each rank would start all ranks again. */
static enum status check_launcher(const struct config *config, struct error *e)
{
    static const char *const launchers[] = {"mpiexec", "mpiexec.hydra", "mpiexec.mpich",
                                            "mpirun",  "orterun",       "srun"};
    const char *word = config->values[OPT_COMMAND].texts[0];
    if (name_index(file_name(word), launchers, sizeof launchers / sizeof *launchers) < 0)
        return OK;
    return refuse(config, OPT_COMMAND, word,
                  "scalebench starts the ranks. Leave this launcher and its options out, and give "
                  "ranks",
                  e);
}

/* Rejects a metric without blanks around =, such as "time=(.*)": the user may have meant "time=" as
 * part of the pattern. */
static enum status check_name_apart(const struct config *config, const char *metric,
                                    struct error *e)
{
    char name[PATTERN_NAME], advice[PATTERN_NAME + 160];
    const char *pattern = pattern_split(name, metric);
    if (pattern != metric + strlen(name) + 1)
        return OK;
    snprintf(advice, sizeof advice,
             "expected spaces around = after the name. Use \"%s = PATTERN\", where PATTERN "
             "contains %s= if the output does",
             name, name);
    return refuse(config, OPT_METRICS, metric, advice, e);
}

/* Rejects metrics without blanks around =, and patterns that match no number because they contain
 * no digit, dot, backslash, [ or (. */
static enum status check_metrics(const struct config *config, struct error *e)
{
    const struct value *metrics = &config->values[OPT_METRICS];
    char name[PATTERN_NAME];
    for (size_t i = 0; i < metrics->n; i++)
        TRY(check_name_apart(config, metrics->texts[i], e));
    for (size_t i = 0; i < metrics->n; i++)
        if (strpbrk(pattern_split(name, metrics->texts[i]), "0123456789.\\[(") == NULL)
            return refuse(config, OPT_METRICS, metrics->texts[i],
                          "this pattern matches no number. Write ([0-9.]+) in place of the number",
                          e);
    return OK;
}

enum status own_options_check(const struct spec *spec, struct error *e)
{
    for (size_t i = 0; i < spec->own->n; i++)
        TRY(check_own(spec, &spec->own->rows[i], e));
    for (size_t i = 0; i < spec->n_points && !spec->is_recorded; i++)
        if (config_is_foreign(&spec->points[i].config)) {
            TRY(check_launcher(&spec->points[i].config, e));
            TRY(check_metrics(&spec->points[i].config, e));
        }
    return check_seed(spec, e);
}

/* ---- Command line ---- */

/* Finds the option workload.options.<name>; NULL if it does not exist or the point gives it no
 * value. */
static const struct spec_option *find_own(const struct config *config, const char *name)
{
    char key[OWN_KEY];
    snprintf(key, sizeof key, "%s.%s", own_options_group, name);
    const struct spec_option *own = config_option_find(config, key);
    return own != NULL && config->values[own->id].set ? own : NULL;
}

static enum status unknown_name(const struct config *config, const char *name, struct error *e)
{
    char braces[OWN_KEY], known[OWN_OPTIONS_MAX * OWN_KEY], why[sizeof known + 128];
    snprintf(braces, sizeof braces, "{%.40s}", name);
    list_own(known, sizeof known, config);
    snprintf(why, sizeof why, "unknown option; known: {ranks} {seed} {record}; %s%s",
             known[0] ? "workload.options of this point:" : "this point has no workload.options",
             known);
    return refuse(config, OPT_COMMAND, braces, why, e);
}

static enum status put_name(FILE *out, const struct config *config, const char *name,
                            const struct foreign_launch *launch, struct error *e)
{
    const struct spec_option *own = find_own(config, name);
    if (own != NULL)
        fputs(config_text(config, own->id), out);
    else if (strcmp(name, "ranks") == 0)
        fprintf(out, "%ld", config_int(config, OPT_RANKS));
    else if (strcmp(name, "seed") == 0)
        fprintf(out, "%llu", launch->seed);
    else if (strcmp(name, "record") == 0)
        fputs(launch->record, out);
    else
        return unknown_name(config, name, e);
    return OK;
}

/* If a name in braces, such as {ranks}, begins at `brace`, returns the length of the name without
 * the braces; otherwise 0. A name consists of letters, digits and _, has fewer than FOREIGN_NAME
 * characters, and need not be known. Other text in braces stays unchanged. */
static size_t name_length(const char *brace)
{
    size_t n = 0;
    while (isalnum((unsigned char)brace[1 + n]) || brace[1 + n] == '_')
        n++;
    return brace[0] == '{' && n > 0 && n < FOREIGN_NAME && brace[1 + n] == '}' ? n : 0;
}

enum status foreign_word(char **word, const struct config *config, size_t i,
                         const struct foreign_launch *launch, struct error *e)
{
    size_t size, length;
    char name[FOREIGN_NAME];
    enum status status = OK;
    FILE *out = open_memstream(word, &size);
    if (out == NULL)
        return error_no_memory(e, "a command line");
    for (const char *c = config->values[OPT_COMMAND].texts[i]; *c && status == OK; c++) {
        if ((length = name_length(c)) == 0) {
            fputc(*c, out);
            continue;
        }
        snprintf(name, sizeof name, "%.*s", (int)length, c + 1);
        status = put_name(out, config, name, launch, e);
        c += length + 1;
    }
    if (fclose(out) != 0 && status == OK)
        status = error_no_memory(e, "a command line");
    if (status != OK) {
        free(*word);
        *word = NULL;
    }
    return status;
}

/* ---- Time ---- */

static enum status refuse_time(const struct config *config, const char *wanted, struct error *e)
{
    const struct value *metrics = &config->values[OPT_METRICS];
    char names[64][PATTERN_NAME], text[700];
    const char *known[65] = {option_get(OPT_JUDGED)->preset};
    size_t n = 1;
    for (size_t i = 0; i < metrics->n && n < 65; i++, n++) {
        pattern_split(names[i], metrics->texts[i]);
        known[n] = names[i];
    }
    return mark_error(e, ERR_SPEC, config->values[OPT_JUDGED].mark,
                      "%s: %s; workload.metrics defines further names", option_get(OPT_JUDGED)->key,
                      name_explain(text, sizeof text, wanted, known, n));
}

enum status foreign_time(const struct config *config, size_t *metric, double *ms, struct error *e)
{
    const char *wanted = config_text(config, OPT_JUDGED);
    size_t n = config->values[OPT_METRICS].n;
    *metric = n;
    *ms = 1e3;
    if (strcmp(wanted, option_get(OPT_JUDGED)->preset) == 0)
        return OK;
    for (*metric = 0; *metric < n; ++*metric) {
        char name[PATTERN_NAME];
        pattern_split(name, config->values[OPT_METRICS].texts[*metric]);
        if (strcmp(name, wanted) != 0)
            continue;
        struct condition_unit unit = condition_unit_in(wanted);
        *ms = 1e3 * unit.factor;
        return unit.text != NULL && unit.kind == TYPE_TIME
                   ? OK
                   : refuse(config, OPT_JUDGED, wanted,
                            "a time's name ends with _ns, _us, _ms or _s, and not with _per_s, "
                            "which is a rate",
                            e);
    }
    return refuse_time(config, wanted, e);
}

/* ---- Check a point ---- */

/* Rejects words that only a shell understands, such as && or a leading NAME=value. */
static enum status check_shell(const struct config *config, size_t i, struct error *e)
{
    const char *word = config->values[OPT_COMMAND].texts[i];
    static const char *const of_shells[] = {"|", "||", "&",  "&&",  ";",  ">",    ">>",
                                            "<", "<<", "2>", "2>>", "&>", "2>&1", ">&2"};
    size_t name = strspn(word, "ABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789");
    if (i == 0 && name > 0 && word[name] == '=')
        return refuse(config, OPT_COMMAND, word,
                      "the program is started without a shell. Use env to set a variable: [env, "
                      "NAME=value, program]",
                      e);
    if (name_index(word, of_shells, sizeof of_shells / sizeof *of_shells) < 0)
        return OK;
    return refuse(config, OPT_COMMAND, word,
                  "the program is started without a shell, and this would be an argument; use "
                  "[sh, -c, '...']",
                  e);
}

enum status foreign_check(const struct config *config, struct error *e)
{
    const struct value *command = &config->values[OPT_COMMAND];
    const struct foreign_launch launch = {.record = ""};
    size_t metric;
    double ms;
    if (command->n == 0)
        return mark_error(e, ERR_SPEC, config->values[OPT_WORKLOAD].mark,
                          "workload.command is missing. %s", option_get(OPT_COMMAND)->help);
    for (size_t i = 0; i < command->n; i++) {
        char *word;
        TRY(check_shell(config, i, e));
        TRY(foreign_word(&word, config, i, &launch, e));
        free(word);
    }
    return foreign_time(config, &metric, &ms, e);
}

bool foreign_has_metric(const struct spec *spec, const char *name)
{
    char own[PATTERN_NAME];
    for (size_t i = 0; i < spec->n_points; i++) {
        const struct value *metrics = &spec->points[i].config.values[OPT_METRICS];
        for (size_t k = 0; k < metrics->n; k++)
            if (pattern_split(own, metrics->texts[k]) != NULL && strcmp(own, name) == 0)
                return true;
    }
    return false;
}
