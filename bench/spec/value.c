#include "bench/spec/value.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench/spec/values/parts.h"
#include "kernels/base/mem.h"

static enum status parse_int(struct value *value, const struct given *g, struct error *e)
{
    TRY(value_parse_whole(g, &value->number, e));
    return value_set_text(value, e, "%.0f", value->number);
}

static enum status parse_real(struct value *value, const struct given *g, struct error *e)
{
    char text[32];
    TRY(value_parse_number(g, &value->number, e));
    TRY(value_check_range(g, value->number, "", e));
    return value_set_text(value, e, "%s", value_number_text(text, value->number));
}

static enum status parse_bool(struct value *value, const struct given *g, struct error *e)
{
    bool yes;
    if (!bool_parse(g->node->text, &yes) || g->node->quoted)
        return value_refuse(e, g, "'%s'%s is neither true nor false", g->node->text,
                            g->node->quoted ? " in quotes" : "");
    value->number = yes;
    return value_set_text(value, e, "%s", yes ? "true" : "false");
}

static enum status parse_text(struct value *value, const struct given *g, struct error *e)
{
    TRY(value_check_text(g, e));
    return value_set_text(value, e, "%s", g->node->text);
}

/* Sets the value of an option below workload.options. Keeps the text, which the program receives
 * unchanged. Sets value->number to the number that the text gives (number_parse_unit); NAN if the
 * text is not a number. */
static enum status parse_own(struct value *value, const struct given *g, struct error *e)
{
    enum option_type type;
    if (!number_parse_unit(g->node->text, &type, &value->number))
        value->number = NAN;
    return parse_text(value, g, e);
}

static enum status parse_enum(struct value *value, const struct given *g, struct error *e)
{
    int index;
    TRY(value_parse_name(g, &index, e));
    value->number = index;
    return value_set_text(value, e, "%s", g->node->text);
}

struct unit {
    const char *name;
    double factor;
};

static const struct unit time_units[] = {{"ms", 1e-3}, {"s", 1}, {"min", 60}, {"h", 3600}};
static const struct unit size_units[] = {
    {"GiB", 0x1p30}, {"MiB", 0x1p20}, {"KiB", 0x1p10}, {"B", 1}};
static const struct unit share_units[] = {{"%", 1}};
#define TIME_UNITS (sizeof time_units / sizeof *time_units)
#define SIZE_UNITS (sizeof size_units / sizeof *size_units)

const char *value_unit(enum option_type type, size_t i)
{
    if (type == TYPE_TIME)
        return i < TIME_UNITS ? time_units[i].name : NULL;
    if (type == TYPE_SIZE)
        return i < SIZE_UNITS ? size_units[i].name : NULL;
    return type == TYPE_PERCENT && i == 0 ? share_units[0].name : NULL;
}

/* Parses a number directly followed by one of the units; *number is in the base unit (factor 1).
 * Returns false if the text is not a number with one of these units. */
static bool parse_unit(const char *text, const struct unit *units, size_t n, double *number)
{
    size_t length = strlen(text);
    for (size_t i = 0; i < n; i++) {
        size_t unit_length = strlen(units[i].name);
        char digits[64];
        if (length <= unit_length || length - unit_length >= sizeof digits ||
            strcmp(text + length - unit_length, units[i].name) != 0)
            continue;
        memcpy(digits, text, length - unit_length);
        digits[length - unit_length] = '\0';
        if (number_parse(digits, number)) {
            *number *= units[i].factor;
            return true;
        }
    }
    return false;
}

bool number_parse_unit(const char *text, enum option_type *type, double *number)
{
    *type = number_parse(text, number)                         ? TYPE_REAL
            : parse_unit(text, time_units, TIME_UNITS, number) ? TYPE_TIME
            : parse_unit(text, size_units, SIZE_UNITS, number) ? TYPE_SIZE
                                                               : TYPE_PERCENT;
    return *type != TYPE_PERCENT || parse_unit(text, share_units, 1, number);
}

/* Returns whether the text is the option's default and the default is a word, such as off. */
static bool is_word(const struct given *g)
{
    const char *preset = g->option->preset;
    return preset != NULL && isalpha((unsigned char)preset[0]) &&
           strcmp(g->node->text, preset) == 0;
}

static enum status parse_time(struct value *value, const struct given *g, struct error *e)
{
    if (is_word(g))
        return value_set_text(value, e, "%s", g->node->text);
    if (!parse_unit(g->node->text, time_units, TIME_UNITS, &value->number))
        return value_refuse(
            e, g, "'%s' is not a time: expected a number and ms, s, min or h, such as 90s",
            g->node->text);
    char text[32];
    TRY(value_check_range(g, value->number, "s", e));
    return value_set_text(value, e, "%ss", value_number_text(text, value->number));
}

static enum status parse_size(struct value *value, const struct given *g, struct error *e)
{
    if (!parse_unit(g->node->text, size_units, SIZE_UNITS, &value->number) ||
        value->number != floor(value->number))
        return value_refuse(e, g,
                            "'%s' is not a size: expected a number and B, KiB, MiB or GiB, such as "
                            "64KiB, in whole bytes",
                            g->node->text);
    TRY(value_check_range(g, value->number, "B", e));
    size_t i = 0;
    while (value->number == 0 ? i < 3 : fmod(value->number, size_units[i].factor) != 0)
        i++;
    return value_set_text(value, e, "%.0f%s", value->number / size_units[i].factor,
                          size_units[i].name);
}

static enum status parse_percent(struct value *value, const struct given *g, struct error *e)
{
    if (!parse_unit(g->node->text, share_units, 1, &value->number))
        return value_refuse(e, g, "'%s' is not a percentage: expected a number and %%, such as 5%%",
                            g->node->text);
    char text[32];
    TRY(value_check_range(g, value->number, "%", e));
    return value_set_text(value, e, "%s%%", value_number_text(text, value->number));
}

/* Splits "6..20" into 6 and 20, "6" into 6 and 6. */
static bool split_range(const char *text, double *low, double *high)
{
    const char *dots = strstr(text, "..");
    char first[32];
    size_t length = dots != NULL ? (size_t)(dots - text) : strlen(text);
    if (length >= sizeof first)
        return false;
    memcpy(first, text, length);
    first[length] = '\0';
    return number_parse(first, low) && number_parse(dots != NULL ? dots + 2 : first, high) &&
           *low == floor(*low) && *high == floor(*high);
}

static enum status parse_range(struct value *value, const struct given *g, struct error *e)
{
    if (!split_range(g->node->text, &value->number, &value->number_hi))
        return value_refuse(e, g, "'%s' is not a range of whole numbers such as 6..20 or 6",
                            g->node->text);
    if (value->number > value->number_hi)
        return value_refuse(e, g, "'%s' is an empty range. Write the lower bound first",
                            g->node->text);
    TRY(value_check_range(g, value->number, "", e));
    TRY(value_check_range(g, value->number_hi, "", e));
    return value_set_text(value, e, "%.0f..%.0f", value->number, value->number_hi);
}

static enum status parse_ranks(struct value *value, const struct given *g, struct error *e)
{
    if (strcmp(g->node->text, "auto") == 0)
        return value_refuse(e, g, "auto is allowed in a matrix only: matrix: {ranks: auto}");
    return parse_int(value, g, e);
}

/* Parses a whole number, the word `a` or the word `b`. For a word, value->number is NAN until
 * nodes_resolve computes it. */
static enum status parse_or_word(struct value *value, const struct given *g, const char *a,
                                 const char *b, struct error *e)
{
    double number;
    if (strcmp(g->node->text, a) != 0 && strcmp(g->node->text, b) != 0)
        return number_parse(g->node->text, &number)
                   ? parse_int(value, g, e)
                   : value_refuse(e, g, "'%s' is neither a whole number nor %s%s%s", g->node->text,
                                  a, a != b ? " or " : "", a != b ? b : "");
    value->number = NAN;
    return value_set_text(value, e, "%s", g->node->text);
}

static enum status parse_nodes(struct value *value, const struct given *g, struct error *e)
{
    return parse_or_word(value, g, "auto", "auto", e);
}

static enum status parse_node_ranks(struct value *value, const struct given *g, struct error *e)
{
    return parse_or_word(value, g, "half", "full", e);
}

static enum status parse_condition(struct value *value, const struct given *g, struct error *e)
{
    if (g->node->text[0] == '\0' || strcmp(g->node->text, "none") == 0)
        return value_set_text(value, e, "%s", "");
    const char *number = g->node->text + 2;
    if (strncmp(g->node->text, ">=", 2) != 0 ||
        !number_parse(number + strspn(number, " "), &value->number))
        return value_refuse(e, g, "'%s' is not a condition, such as \">= 96.5\"", g->node->text);
    char text[32];
    TRY(value_check_range(g, value->number, "", e));
    return value_set_text(value, e, ">= %s", value_number_text(text, value->number));
}

static value_parser *parser_of(enum option_type type)
{
    static value_parser *const parsers[] = {
        [TYPE_INT] = parse_int,
        [TYPE_REAL] = parse_real,
        [TYPE_BOOL] = parse_bool,
        [TYPE_TEXT] = parse_text,
        [TYPE_ENUM] = parse_enum,
        [TYPE_TIME] = parse_time,
        [TYPE_SIZE] = parse_size,
        [TYPE_PERCENT] = parse_percent,
        [TYPE_RANGE] = parse_range,
        [TYPE_TEXTS] = value_parse_texts,
        [TYPE_STRINGS] = value_parse_texts,
        [TYPE_WORDS] = value_parse_texts,
        [TYPE_PATTERNS] = value_parse_patterns,
        [TYPE_INTS] = value_parse_ints,
        [TYPE_RANKS] = parse_ranks,
        [TYPE_NODES] = parse_nodes,
        [TYPE_NODE_RANKS] = parse_node_ranks,
        [TYPE_SEGMENTS] = value_parse_segments,
        [TYPE_CONDITION] = parse_condition,
        [TYPE_OWN] = parse_own,
    };
    return parsers[type];
}

/* Writes the words as a YAML list without brackets. Words with braces are quoted. */
static void separate_words(char *text, size_t size, const char *words)
{
    static const char between[] = " ,";
    size_t used = 0;
    text[0] = '\0';
    for (const char *c = words + strspn(words, between); *c && used < size;
         c += strspn(c, between)) {
        int length = (int)strcspn(c, between);
        const char *quote = memchr(c, '{', (size_t)length) != NULL ? "\"" : "";
        used += (size_t)snprintf(text + used, size - used, "%s%s%.*s%s", used > 0 ? ", " : "",
                                 quote, length, c, quote);
        c += length;
    }
}

void value_as_list(char text[200], const struct spec_option *option, const char *written)
{
    if (option->type == TYPE_SEGMENTS)
        snprintf(text, 200, "{epoch: 0, ranks: 1}, {epoch: 2, ranks: 2}");
    else if (option->type == TYPE_STRINGS || option->type == TYPE_PATTERNS)
        snprintf(text, 200, "%s", written);
    else if (strstr(written, "..") != NULL)
        snprintf(text, 200, "1, 2, 3");
    else
        separate_words(text, 200, written);
}

/* Checks that a value is present (a condition may be empty), and that it is a list if and only if
 * the option expects a list. Each item of a list must be a plain value, except in a list of
 * segments. */
static enum status check_kind(const struct given *g, struct error *e)
{
    bool list = type_is_list(g->option->type);
    if (node_is_empty(g->node) && g->option->type != TYPE_CONDITION)
        return value_refuse(e, g, "has no value");
    if (g->node->kind == NODE_MAP)
        return value_refuse(e, g, "expected %s, found a map", list ? "a list" : "one value");
    if (list && g->node->kind != NODE_LIST) {
        char text[200];
        value_as_list(text, g->option, g->node->text);
        return value_refuse(e, g, "expected a list: [%s]%s", text,
                            g->option->id == OPT_ACCURACY_SEEDS && strchr(text, ',') == NULL
                                ? ", or one seed per run, such as [1, 2, 3]"
                                : "");
    }
    if (!list && g->node->kind == NODE_LIST)
        return value_refuse(e, g, "expected one value, found a list; the default is %s",
                            g->option->preset != NULL ? g->option->preset : "none");
    for (size_t i = 0; i < g->node->n && g->option->type != TYPE_SEGMENTS; i++)
        if (g->node->items[i].kind != NODE_SCALAR)
            return value_refuse(e, &(struct given){g->option, &g->node->items[i]},
                                "expected a list of plain values%s",
                                g->option->id == OPT_COMMAND
                                    ? ", with names in quotation marks, such as \"{size}\""
                                    : "");
    return OK;
}

enum status value_parse_plain(struct value *value, const struct given *g, struct error *e)
{
    TRY(check_kind(g, e));
    struct value read = {.set = true, .mark = g->node->mark};
    enum status status = parser_of(g->option->type)(&read, g, e);
    if (status != OK) {
        value_free_plain(&read);
        return status;
    }
    value_free_plain(value);
    *value = read;
    return OK;
}

static enum status copy_contents(struct value *to, const struct value *from, struct error *e)
{
    if (from->text != NULL)
        TRY(node_copy_text(&to->text, from->text, "a value", e));
    if (from->path != NULL)
        TRY(node_copy_text(&to->path, from->path, "a value", e));
    if (from->of_numbers) {
        TRY(MEM_NEW(to->numbers, from->n, "a value", e));
        memcpy(to->numbers, from->numbers, from->n * sizeof *to->numbers);
    }
    if (!from->of_numbers && from->texts != NULL) {
        TRY(MEM_NEW(to->texts, from->n, "a value", e));
        for (size_t i = 0; i < from->n; i++)
            TRY(node_copy_text(&to->texts[i], from->texts[i], "a value", e));
    }
    return OK;
}

enum status value_copy_plain(struct value *to, const struct value *from, struct error *e)
{
    *to = *from;
    to->borrowed = false;
    to->texts = NULL; /* numbers and texts share a union: both are NULL now */
    to->figures = NULL;
    to->text = to->path = NULL;
    enum status status = copy_contents(to, from, e);
    if (status != OK)
        value_free_plain(to);
    return status;
}

void value_borrow(struct value *to, const struct value *from)
{
    *to = *from;
    to->borrowed = true;
}

void value_free_plain(struct value *value)
{
    if (value->borrowed) {
        *value = (struct value){.set = false};
        return;
    }
    free(value->text);
    free(value->path);
    for (size_t i = 0; !value->of_numbers && value->texts != NULL && i < value->n; i++)
        free(value->texts[i]);
    free(value->texts); /* frees numbers as well, which share a union with texts */
    memset(value, 0, sizeof *value);
}

bool value_is_preset(const struct spec_option *option, const struct value *value)
{
    if (option->preset == NULL)
        return false;
    double preset;
    enum option_type type;
    if (!number_parse_unit(option->preset, &type, &preset))
        return strcmp(option->preset, value->text) == 0;
    return preset == value->number;
}

bool value_equal(const struct value *a, const struct value *b)
{
    return a->text == b->text || strcmp(a->text, b->text) == 0;
}
