#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "bench/base/file.h"
#include "bench/collect/collect.h"
#include "bench/figures/figures.h"
#include "bench/runner/commands/commands.h"
#include "bench/runner/commands/help/dictionaries.h"
#include "bench/runner/commands/with_tables.h"
#include "bench/runner/run_spec.h"
#include "bench/spec/figures/request.h"
#include "bench/spec/find.h"
#include "bench/spec/spec.h"
#include "kernels/base/mem.h"
#include "kernels/base/names.h"
#include "kernels/base/text.h"

static enum status print_model(const char *path, void *arg, struct error *e)
{
    FILE *out = arg;
    struct net_desc net;
    char shape[40];
    TRY(model_load(&net, path, e));
    fprintf(out, "%-18s %zu parameters, %s to %d classes, %d layers\n", net.name, net.n_params,
            shape_text(shape, net.input), net.classes, net.n_layers);
    net_desc_free(&net);
    return OK;
}

struct config_list {
    FILE *out;
    size_t skip; /* number of characters at the start of a path that are not printed */
};

/* Prints a spec's path below configs and its title. For a spec without a title, prints the first
 * line of the file if this line is a comment. */
static enum status print_config(const char *path, void *arg, struct error *e)
{
    const struct config_list *list = arg;
    struct spec spec;
    struct error unread = {.status = OK};
    char line[256];
    const char *title = spec_load_here(&spec, path, NULL, &unread) == OK ? spec_title(&spec) : NULL;
    file_first_line(path, line, sizeof line);
    if (title == NULL)
        title = line[0] == '#' ? line + strspn(line, "# ") : "";
    fprintf(list->out, "%-40s %s\n", path + list->skip, title);
    spec_free(&spec);
    return OK;
}

static enum status list_configs(const struct arguments *a, FILE *out, struct error *e)
{
    static const char *const places[] = {"configs/*.yaml", "configs/course/*.yaml",
                                         "configs/examples/*.yaml", "configs/reports/*/*.yaml"};
    struct config_list list = {out, strlen(a->tools->home) + strlen("/configs/")};
    for (size_t i = 0; i < sizeof places / sizeof *places; i++)
        TRY(files_visit(a->tools->home, places[i], print_config, &list, NULL, e));
    return OK;
}

static enum status list_models(const struct arguments *a, FILE *out, struct error *e)
{
    static const char models[] = "configs/models/*.yaml";
    size_t n;
    TRY(files_visit(a->tools->home, models, print_model, out, &n, e));
    return n > 0 ? OK : error_set(e, ERR_DATA, "%s/%s: no networks found", a->tools->home, models);
}

static enum status list_columns(const struct arguments *a, FILE *out, struct error *e)
{
    const struct csv_file *d;
    columns_print(out);
    for (size_t i = 0; (d = dictionary_get(i)) != NULL; i++) {
        if (d->rows == NULL)
            continue;
        fputc('\n', out);
        csv_print_columns(out, d);
    }
    return OK;
}

static enum status list_folders(find_with_tables *find, const struct arguments *a, FILE *out,
                                struct error *e)
{
    struct with_tables found = {.n = 0};
    if (a->out != a->default_out && !path_is_folder(a->out))
        return error_set(e, ERR_ARGUMENT,
                         "list: --out %s: folder not found; expected a folder of results", a->out);
    enum status status = find(&found, a->out, a->tools, e);
    for (size_t i = 0; status == OK && i < found.n; i++)
        fprintf(out, "%s\n", found.folders[i]);
    with_tables_free(&found);
    return status;
}

/* lists that `scalebench list` prints in addition to the values of options */
static const struct {
    const char *kind;
    enum status (*list)(const struct arguments *a, FILE *out, struct error *e);
    find_with_tables *find; /* function that finds the folders to print; NULL: call `list` */
} others[] = {{"configs", list_configs, NULL},
              {"models", list_models, NULL},
              {"columns", list_columns, NULL},
              {"runs", NULL, with_tables_runs},
              {"sweeps", NULL, with_tables_sweeps}};
#define N_OTHERS (sizeof others / sizeof *others)

enum { KINDS_MAX = 64 };

static size_t all_kinds(const char *kinds[KINDS_MAX])
{
    size_t n, known = 0;
    const struct enumeration *const *lists = enumerations(&n);
    for (size_t i = 0; i < N_OTHERS; i++)
        kinds[known++] = others[i].kind;
    for (size_t i = 0; i < n && known < KINDS_MAX; i++)
        kinds[known++] = lists[i]->list;
    return known;
}

enum status command_list(const struct arguments *a, FILE *out, int *exit_status, struct error *e)
{
    const char *kind = a->operand, *kinds[KINDS_MAX];
    char text[sizeof e->text];
    size_t n, known = all_kinds(kinds);
    const struct enumeration *const *lists = enumerations(&n);
    for (size_t i = 0; kind == NULL && i < known; i++)
        fprintf(out, "%s\n", kinds[i]);
    int index = kind != NULL ? name_index(kind, kinds, known) : 0;
    if (index < 0)
        return error_set(e, ERR_ARGUMENT, "list: %s",
                         name_explain(text, sizeof text, kind, kinds, known));
    if (kind != NULL && (size_t)index < N_OTHERS)
        return others[index].find != NULL ? list_folders(others[index].find, a, out, e)
                                          : others[index].list(a, out, e);
    if (kind != NULL)
        enumeration_print(out, "", lists[(size_t)index - N_OTHERS]);
    return OK;
}

/* The explain_ functions that return size_t print the meanings of a name and return their number.
 * `seed`, for example, is an option and a column of several files. */
static size_t explain_option(FILE *out, const char *name)
{
    const struct spec_option *option = option_find(name);
    option = option != NULL ? option : figure_option_find(name);
    if (option != NULL)
        option_explain(out, option);
    return option != NULL;
}

/* Returns the i-th option; NULL after the last. Options of specs come first, then options of
 * figures. */
static const struct spec_option *option_at(size_t i)
{
    return i < OPTION_ROWS ? option_get((enum option_id)i) : figure_option_at(i - OPTION_ROWS);
}

static void print_option(FILE *out, const char *indent, const struct spec_option *option)
{
    fprintf(out, "%s%-30s %.*s\n", indent, option->key, text_sentence(option->help), option->help);
}

static size_t explain_group(FILE *out, const char *name)
{
    const struct spec_option *option;
    size_t found = 0, length = strlen(name);
    for (size_t i = 0; length > 0 && (option = option_at(i)) != NULL; i++) {
        if (strncmp(option->key, name, length) != 0 || option->key[length] != '.')
            continue;
        if (found++ == 0)
            fprintf(out, "%s, a group of options\n", name);
        print_option(out, "  ", option);
    }
    return found > 0;
}

static size_t explain_columns(FILE *out, const char *name)
{
    size_t found = 0;
    const struct csv_file *d;
    for (size_t f = 0; (d = dictionary_get(f)) != NULL; f++)
        for (size_t i = 0; i < d->n; i++)
            if (strcmp(d->columns[i].name, name) == 0) {
                column_explain(out, &d->columns[i]);
                found++;
            }
    return found;
}

/* Returns whether `name` names a single value that a figure can show: a quantity or a numeric
 * column. */
static bool is_number(const char *name)
{
    const struct csv_file *d;
    if (name_index(name, names_quantities->names, names_quantities->n) >= 0)
        return true;
    for (size_t f = 0; (d = dictionary_get(f)) != NULL; f++)
        for (size_t i = 0; i < d->n; i++)
            if (d->columns[i].type != CSV_TEXT && strcmp(d->columns[i].name, name) == 0)
                return true;
    return false;
}

/* Returns whether a figure can show `name`: a quantity, a numeric column, or a sum of columns such
 * as "forward_ms+backward_ms". */
static bool is_of_figures(const char *name)
{
    char term[FIGURES_STEM + 8];
    while (true) {
        size_t length = strcspn(name, "+");
        snprintf(term, sizeof term, "%.*s", (int)length, name);
        text_trim(term);
        if (!is_number(term))
            return false;
        if (!name[length])
            return true;
        name += length + 1;
    }
}

static size_t explain_sum(FILE *out, const char *name)
{
    if (strchr(name, '+') == NULL || !is_of_figures(name))
        return 0;
    fprintf(out, "%s in series_NAME.csv\n  Sum of columns: median over launches or seeds.\n", name);
    return 1;
}

/* Explains a column of series_NAME.csv whose name is a value's name with a suffix, such as
 * "step_ms_lo". The suffix may replace the unit _pct: "test_acc_lo" belongs to test_acc_pct.
 * Returns 1 if `name` is such a column, else 0. */
static size_t explain_ending(FILE *out, const char *name)
{
    char stem[FIGURES_STEM], with_unit[FIGURES_STEM + 8];
    const char *meaning = figures_explain_ending(stem, name);
    if (meaning == NULL)
        return 0;
    snprintf(with_unit, sizeof with_unit, "%s_pct", stem);
    if (!is_of_figures(stem) && !is_of_figures(with_unit))
        return 0;
    fprintf(out, "%s in series_NAME.csv\n  %s Value: %s.\n", name, meaning, stem);
    return 1;
}

/* Returns whether `name` equals `key`. If so, prints `name`, its kind (`of`; may be "") and its
 * `meaning`. */
static bool explain_row(FILE *out, const char *name, const char *key, const char *of,
                        const char *meaning)
{
    bool same = strcmp(key, name) == 0;
    if (same)
        fprintf(out, "%s%s%s\n  %s\n", name, *of ? ", " : "", of, meaning);
    return same;
}

static size_t explain_words(FILE *out, const char *name)
{
    size_t n, found = 0;
    const struct word *words = words_all(&n);
    for (size_t i = 0; i < n; i++)
        found += explain_row(out, name, words[i].name, words[i].of, words[i].meaning);
    return found;
}

/* Explains every option whose key ends in the word `name`, such as momentum for train.momentum,
 * because tables and figures show only this word. Returns the number of options. */
static size_t explain_last_word(FILE *out, const char *name)
{
    const struct spec_option *option;
    size_t found = 0;
    for (size_t i = 0; (option = option_at(i)) != NULL; i++) {
        const char *dot = strrchr(option->key, '.');
        if (dot == NULL || strcmp(dot + 1, name) != 0)
            continue;
        option_explain(out, option);
        found++;
    }
    return found;
}

static void explain_variants(FILE *out, const char *name)
{
    const char *variants[VARIANTS];
    int strategy = name_index(name, strategy_names(), STRATEGIES);
    size_t n = strategy < 0 ? 0 : strategy_variant_list((enum strategy_kind)strategy, variants);
    for (size_t i = 1; i < n; i++)
        fprintf(out, "%s%s%s", i == 1 ? "  sync.variant  " : " ", variants[i],
                i == 1 ? " (default)" : "");
    if (n > 1)
        fputc('\n', out);
}

static void explain_compressor(FILE *out, const char *name)
{
    const char *takers[STRATEGIES];
    int compressor = name_index(name, compressor_names(), COMPRESSORS);
    size_t n = strategy_list(STRATEGY_COMPRESSES, takers);
    if (compressor <= COMPRESSOR_none)
        return;
    fprintf(out, "  source   %s\n  sync.strategy",
            compressor_source((enum compressor_kind)compressor));
    for (size_t i = 0; i < n; i++)
        fprintf(out, " %s", takers[i]);
    fputc('\n', out);
}

static void explain_layer_option(FILE *out, const struct layer_option *o)
{
    if (o->type == LAYER_PART) {
        fprintf(out, "  %-9s %s; true or false; default true\n", o->key, o->help);
        return;
    }
    fprintf(out, "  %-9s %s%s; %.15g..%.15g", o->key, o->help,
            o->type == LAYER_PAIR ? ": one number or [rows, columns]" : "", o->min, o->max);
    if (isnan(o->preset))
        fprintf(out, "; required\n");
    else
        fprintf(out, "; default %.15g\n", o->preset);
}

/* Prints how a layer changes shapes, and its options in a model file. */
static void explain_layer(FILE *out, const char *name)
{
    int kind = name_index(name, layer_names(), LAYER_KINDS);
    if (kind < 0)
        return;
    const struct layer_rule *rule = layer_rule_get((enum layer_kind)kind);
    fprintf(out, "  shapes    %s\n", rule->shapes);
    for (const struct layer_option *o = rule->options; o->key != NULL; o++)
        explain_layer_option(out, o);
    fprintf(out, "  %-9s name of the layer; default %s and a number\n", "name", name);
}

static size_t explain_entries(FILE *out, const char *name)
{
    size_t n, found = 0;
    const struct enumeration *const *lists = enumerations(&n);
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < lists[i]->n; k++) {
            if (strcmp(lists[i]->names[k], name) != 0)
                continue;
            fprintf(out, "%s, one of the %s\n  %s\n", name, lists[i]->list, lists[i]->summaries[k]);
            explain_variants(out, name);
            if (lists[i] == names_compressors) /* checks the list, not the name: `fp16` and `bf16`
                                                  are also names of precisions */
                explain_compressor(out, name);
            explain_layer(out, name);
            found++;
        }
    return found;
}

static enum status explain_model(FILE *out, const char *name, const struct tools *tools,
                                 size_t *found, struct error *e)
{
    char path[PATH_BYTES];
    TRY(path_format(path, e, "%s/configs/models/%s.yaml", tools->home, name));
    if (strchr(name, '/') != NULL || !path_exists(path))
        return OK;
    (*found)++;
    return print_model(path, out, e);
}

/* A name that `explain` accepts, and its meaning. */
struct known_name {
    const char *name, *meaning;
};

/* keys that are allowed in any YAML file */
static const struct known_name yaml_keys[] = {
    {"x-", "Prefix of your own keys at the top of a spec, model or site file, for example to hold "
           "anchors: x-adam: &adam {optimizer: adam}. scalebench ignores them"},
    {"<<",
     "Merges a map, or a list of maps, into the map around it: train: {<<: *adam, epochs: 5}. Its "
     "own keys override merged ones, and an earlier map of the list overrides a later one"},
};
enum { YAML_KEYS = sizeof yaml_keys / sizeof *yaml_keys };

static void add_name(struct known_name *known, size_t *n, const char *name, const char *meaning)
{
    if (known != NULL)
        known[*n] = (struct known_name){name, meaning};
    ++*n;
}

/* Fills `known` with single words that `explain` accepts. Returns their number. known = NULL: only
 * counts. */
static size_t list_names(struct known_name *known)
{
    const struct spec_option *option;
    const struct csv_file *d;
    size_t n_lists, n_parts, n_words, n = 0;
    const struct enumeration *const *lists = enumerations(&n_lists);
    const struct spec_part *parts = spec_parts(&n_parts);
    const struct word *words = words_all(&n_words);
    for (size_t i = 0; (option = option_at(i)) != NULL; i++)
        add_name(known, &n, option->key, option->help);
    for (size_t i = 0; i < n_parts; i++)
        add_name(known, &n, parts[i].name, parts[i].help);
    for (size_t f = 0; (d = dictionary_get(f)) != NULL; f++)
        for (size_t i = 0; i < d->n; i++)
            add_name(known, &n, d->columns[i].name, d->columns[i].meaning);
    for (size_t i = 0; i < n_words; i++) /* leave out names with a blank: shells can only complete
                                            single words */
        if (strchr(words[i].name, ' ') == NULL)
            add_name(known, &n, words[i].name, words[i].meaning);
    for (size_t i = 0; i < n_lists; i++)
        for (size_t k = 0; k < lists[i]->n; k++)
            add_name(known, &n, lists[i]->names[k], lists[i]->summaries[k]);
    return n;
}

/* Suggests the first known name whose description begins with the words in `name`. For example,
 * suggests train.lr for learning_rate, because the description of train.lr begins with "Learning
 * rate". */
static void find_meant(char near[NAME_NEAR_BYTES], const char *name, const struct known_name *known,
                       size_t n)
{
    const char *dot = strrchr(name, '.');
    char words[64];
    snprintf(words, sizeof words, "%s", dot != NULL ? dot + 1 : name);
    for (char *c = words; *c; c++)
        *c = *c == '_' ? ' ' : *c;
    for (size_t i = 0; i < n && !near[0] && isalpha((unsigned char)words[0]); i++)
        if (strncasecmp(known[i].meaning, words, strlen(words)) == 0)
            snprintf(near, NAME_NEAR_BYTES, "; nearest '%.100s'", known[i].name);
}

/* Allocates *known, the list of names, and fills it. The caller frees *known. */
static enum status get_names(struct known_name **known, size_t *n, struct error *e)
{
    *n = list_names(NULL);
    TRY(MEM_NEW(*known, *n, "the names of options", e));
    list_names(*known);
    return OK;
}

static enum status find_near_name(char near[NAME_NEAR_BYTES], const char *name, struct error *e)
{
    struct known_name *known;
    const char **names = NULL;
    size_t n;
    TRY(get_names(&known, &n, e));
    enum status status = MEM_NEW(names, n, "the names of options", e);
    for (size_t i = 0; status == OK && i < n; i++)
        names[i] = known[i].name;
    near[0] = '\0';
    if (status == OK && name[0])
        name_near(near, name, names, n);
    if (status == OK)
        find_meant(near, name, known, n);
    free(names);
    free(known);
    return status;
}

static enum status unknown_name(const char *name, const struct tools *tools, struct error *e)
{
    static const char *const models[] = {"configs/models/", NULL};
    struct near_file file = {.distance = 0};
    char near[NAME_NEAR_BYTES];
    TRY(find_near_name(near, name, e));
    find_near(&file, tools->home, models, name);
    return error_set(e, ERR_ARGUMENT,
                     "explain: '%s' is not the name of an option, group, column, network or list "
                     "entry%s; `scalebench explain` lists options, `scalebench list KIND` lists "
                     "other names",
                     name, near[0] ? near : file.text);
}

static size_t explain_parts(FILE *out, const char *name)
{
    size_t n, found = 0;
    const struct spec_part *parts = spec_parts(&n);
    for (size_t i = 0; i < n; i++)
        found += explain_row(out, name, parts[i].name, "", parts[i].help);
    for (size_t i = 0; i < YAML_KEYS; i++)
        found += explain_row(out, name, yaml_keys[i].name, "", yaml_keys[i].meaning);
    return found;
}

static enum status explain_name(FILE *out, const char *name, const struct tools *tools,
                                struct error *e)
{
    size_t found = explain_words(out, name);
    found += explain_option(out, name);
    found += explain_group(out, name);
    found += explain_parts(out, name);
    found += explain_columns(out, name);
    found += explain_entries(out, name);
    if (found == 0)
        found = explain_last_word(out, name) + explain_sum(out, name) + explain_ending(out, name);
    TRY(explain_model(out, name, tools, &found, e));
    return found == 0 ? unknown_name(name, tools, e) : OK;
}

/* Reduces a setting, as written in specs and --set, to the option's key. Drops a leading "matrix."
 * and everything from "=": "ranks" from "matrix.ranks", "train.lr" from "train.lr=0.1". */
static const char *cut_setting(char cut[NAME_NEAR_BYTES], const char *name)
{
    static const char axes[] = "matrix.";
    size_t skipped = strncmp(name, axes, strlen(axes)) == 0 ? strlen(axes) : 0;
    snprintf(cut, NAME_NEAR_BYTES, "%.*s", (int)strcspn(name + skipped, "="), name + skipped);
    return cut;
}

enum status command_explain(const struct arguments *a, FILE *out, int *exit_status, struct error *e)
{
    const struct spec_option *option;
    char name[NAME_NEAR_BYTES];
    if (a->operand != NULL)
        return explain_name(out, cut_setting(name, a->operand), a->tools, e);
    for (size_t i = 0; (option = option_at(i)) != NULL; i++)
        print_option(out, "", option);
    return OK;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct known_name *)a)->name, ((const struct known_name *)b)->name);
}

/* Prints each name once, even if several files have a column of that name. */
enum status explain_names(const struct arguments *a, FILE *out, int *exit_status, struct error *e)
{
    struct known_name *known;
    size_t n;
    TRY(get_names(&known, &n, e));
    qsort(known, n, sizeof *known, by_name);
    for (size_t i = 0; i < n; i++)
        if (i == 0 || strcmp(known[i].name, known[i - 1].name) != 0)
            fprintf(out, "%s %s\n", known[i].name, known[i].meaning);
    free(known);
    return OK;
}
