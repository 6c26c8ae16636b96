#include "bench/spec/value.h"

#include <ctype.h>
#include <locale.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/base/mem.h"
#include "kernels/base/names.h"

/* Whole numbers beyond this are not exact in a double. */
#define WHOLE_MAX 9007199254740992.0

typedef enum status value_parser(struct value *value, const struct spec_option *option,
                                 const struct node *node, struct error *e);

/* "key: what is wrong", at the place of the value. */
static enum status refuse(struct error *e, const struct spec_option *option,
                          const struct node *node, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

static enum status refuse(struct error *e, const struct spec_option *option,
                          const struct node *node, const char *format, ...)
{
    char text[sizeof e->text];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    return mark_error(e, ERR_SPEC, node->mark, "%s: %s", option->key, text);
}

static enum status set_text(struct value *value, struct error *e, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static enum status set_text(struct value *value, struct error *e, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int length = vasprintf(&value->text, format, arguments);
    va_end(arguments);
    if (length >= 0)
        return OK;
    value->text = NULL;
    return error_no_memory(e, "a value");
}

static enum status copy_text(char **to, const char *from, struct error *e)
{
    *to = strdup(from);
    return *to != NULL ? OK : error_no_memory(e, "a value");
}

bool number_parse(const char *text, double *number)
{
    if (text[strspn(text, "0123456789+-.eE")] != '\0' ||
        !isdigit((unsigned char)text[strcspn(text, "0123456789")]))
        return false;
    char *end;
    locale_t points = newlocale(LC_NUMERIC_MASK, "C", (locale_t)0); /* whatever ours writes */
    *number = strtod_l(text, &end, points);
    freelocale(points);
    return *end == '\0' && isfinite(*number);
}

/* The shortest of two forms that reads back to the same number. */
static const char *number_text(char text[32], double number)
{
    snprintf(text, 32, "%.15g", number);
    if (strtod(text, NULL) != number)
        snprintf(text, 32, "%.17g", number);
    return text;
}

/* `unit` is the one that the value is written with, if any. The preset may lie out of bounds: a
 * command line repeats it for what is not given. */
static enum status check_range(const struct spec_option *option, const struct node *node,
                               double number, const char *unit, struct error *e)
{
    bool preset = option->preset != NULL && strcmp(node->text, option->preset) == 0;
    if (preset || (number >= option->min && number <= option->max))
        return OK;
    char min[32], max[32];
    bool words = unit[0] == '\0' && option->unit[0] != '\0'; /* "0 images", but "0s" and "5%" */
    return mark_error(e, ERR_SPEC, node->mark, "%s = %s%s%s: allowed %s%s..%s%s", option->key,
                      node->text, words ? " " : "", words ? option->unit : "",
                      number_text(min, option->min), unit, number_text(max, option->max), unit);
}

static enum status parse_number(const struct spec_option *option, const struct node *node,
                                double *number, struct error *e)
{
    if (node->quoted)
        return refuse(e, option, node, "'%s' is in quotes, which makes it a text, not a number",
                      node->text);
    if (!number_parse(node->text, number))
        return refuse(e, option, node, "'%s' is not a number", node->text);
    return OK;
}

static enum status parse_whole(const struct spec_option *option, const struct node *node,
                               double *number, struct error *e)
{
    TRY(parse_number(option, node, number, e));
    if (*number != floor(*number) || fabs(*number) > WHOLE_MAX)
        return refuse(e, option, node, "'%s' is not a whole number", node->text);
    return check_range(option, node, *number, "", e);
}

static enum status parse_int(struct value *value, const struct spec_option *option,
                             const struct node *node, struct error *e)
{
    TRY(parse_whole(option, node, &value->number, e));
    return set_text(value, e, "%.0f", value->number);
}

static enum status parse_real(struct value *value, const struct spec_option *option,
                              const struct node *node, struct error *e)
{
    char text[32];
    TRY(parse_number(option, node, &value->number, e));
    TRY(check_range(option, node, value->number, "", e));
    return set_text(value, e, "%s", number_text(text, value->number));
}

static enum status parse_bool(struct value *value, const struct spec_option *option,
                              const struct node *node, struct error *e)
{
    bool yes = strcmp(node->text, "true") == 0, no = strcmp(node->text, "false") == 0;
    if (node->quoted || (!yes && !no))
        return refuse(e, option, node, "'%s'%s is neither true nor false", node->text,
                      node->quoted ? " in quotes" : "");
    value->number = yes;
    return set_text(value, e, "%s", node->text);
}

/* Control characters would not survive a command line or a line of a file. */
static enum status check_text(const struct spec_option *option, const struct node *node,
                              struct error *e)
{
    if (node->text[0] == '\0')
        return refuse(e, option, node, "an empty text");
    for (const char *c = node->text; *c; c++)
        if (iscntrl((unsigned char)*c))
            return refuse(e, option, node, "a text with a line break or control character in it");
    return OK;
}

static enum status parse_text(struct value *value, const struct spec_option *option,
                              const struct node *node, struct error *e)
{
    TRY(check_text(option, node, e));
    return set_text(value, e, "%s", node->text);
}

/* The program takes it as it is written. */
static enum status parse_own(struct value *value, const struct spec_option *option,
                             const struct node *node, struct error *e)
{
    enum option_type type;
    if (!number_parse_unit(node->text, &type, &value->number))
        value->number = NAN;
    return parse_text(value, option, node, e);
}

static enum status parse_name(const struct spec_option *option, const struct node *node, int *index,
                              struct error *e)
{
    const struct enumeration *known = option->names;
    *index = name_index(node->text, known->names, known->n);
    if (*index >= 0)
        return OK;
    char text[512];
    return refuse(e, option, node, "%s",
                  name_explain(text, sizeof text, node->text, known->names, known->n));
}

static enum status parse_enum(struct value *value, const struct spec_option *option,
                              const struct node *node, struct error *e)
{
    int index;
    TRY(parse_name(option, node, &index, e));
    value->number = index;
    return set_text(value, e, "%s", node->text);
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

/* A number directly followed by one of the units. */
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

/* A word as preset, off, is no time at all. */
static bool is_word_of(const struct spec_option *option, const struct node *node)
{
    return option->preset != NULL && isalpha((unsigned char)option->preset[0]) &&
           strcmp(node->text, option->preset) == 0;
}

static enum status parse_time(struct value *value, const struct spec_option *option,
                              const struct node *node, struct error *e)
{
    if (is_word_of(option, node))
        return set_text(value, e, "%s", node->text);
    if (!parse_unit(node->text, time_units, TIME_UNITS, &value->number))
        return refuse(e, option, node, "'%s' is not a time: a number and ms, s, min or h, as 90s",
                      node->text);
    char text[32];
    TRY(check_range(option, node, value->number, "s", e));
    return set_text(value, e, "%ss", number_text(text, value->number));
}

static enum status parse_size(struct value *value, const struct spec_option *option,
                              const struct node *node, struct error *e)
{
    if (!parse_unit(node->text, size_units, SIZE_UNITS, &value->number) ||
        value->number != floor(value->number))
        return refuse(e, option, node,
                      "'%s' is not a size: a number and B, KiB, MiB or GiB, as 64KiB, whole bytes",
                      node->text);
    TRY(check_range(option, node, value->number, "B", e));
    size_t i = 0;
    while (value->number == 0 ? i < 3 : fmod(value->number, size_units[i].factor) != 0)
        i++;
    return set_text(value, e, "%.0f%s", value->number / size_units[i].factor, size_units[i].name);
}

static enum status parse_percent(struct value *value, const struct spec_option *option,
                                 const struct node *node, struct error *e)
{
    if (!parse_unit(node->text, share_units, 1, &value->number))
        return refuse(e, option, node, "'%s' is not a share: a number and %%, as 5%%", node->text);
    char text[32];
    TRY(check_range(option, node, value->number, "%", e));
    return set_text(value, e, "%s%%", number_text(text, value->number));
}

/* "6..20" into its halves; "6" into twice the same. */
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

static enum status parse_range(struct value *value, const struct spec_option *option,
                               const struct node *node, struct error *e)
{
    if (!split_range(node->text, &value->number, &value->number_hi))
        return refuse(e, option, node, "'%s' is not a range of whole numbers, as 6..20 or 6",
                      node->text);
    if (value->number > value->number_hi)
        return refuse(e, option, node, "'%s' is empty: the least comes first", node->text);
    TRY(check_range(option, node, value->number, "", e));
    TRY(check_range(option, node, value->number_hi, "", e));
    return set_text(value, e, "%.0f..%.0f", value->number, value->number_hi);
}

static enum status parse_ranks(struct value *value, const struct spec_option *option,
                               const struct node *node, struct error *e)
{
    if (strcmp(node->text, "auto") == 0)
        return refuse(e, option, node, "auto is for a matrix: matrix: {ranks: auto}");
    return parse_int(value, option, node, e);
}

/* A number, or one of the words, which nodes_resolve makes a number of: NAN until then. */
static enum status parse_or_word(struct value *value, const struct spec_option *option,
                                 const struct node *node, const char *a, const char *b,
                                 struct error *e)
{
    if (strcmp(node->text, a) != 0 && strcmp(node->text, b) != 0)
        return parse_int(value, option, node, e);
    value->number = NAN;
    return set_text(value, e, "%s", node->text);
}

static enum status parse_nodes(struct value *value, const struct spec_option *option,
                               const struct node *node, struct error *e)
{
    return parse_or_word(value, option, node, "auto", "auto", e);
}

static enum status parse_node_ranks(struct value *value, const struct spec_option *option,
                                    const struct node *node, struct error *e)
{
    return parse_or_word(value, option, node, "half", "full", e);
}

static enum status parse_condition(struct value *value, const struct spec_option *option,
                                   const struct node *node, struct error *e)
{
    if (node->text[0] == '\0')
        return set_text(value, e, "%s", "");
    const char *number = node->text + 2;
    if (strncmp(node->text, ">=", 2) != 0 ||
        !number_parse(number + strspn(number, " "), &value->number))
        return refuse(e, option, node, "'%s' is not a condition, as \">= 96.5\"", node->text);
    char text[32];
    TRY(check_range(option, node, value->number, "", e));
    return set_text(value, e, ">= %s", number_text(text, value->number));
}

void value_write_quoted(FILE *out, const char *text)
{
    fputc('"', out);
    for (; *text; text++) {
        if (*text == '"' || *text == '\\')
            fputc('\\', out);
        fputc(*text, out);
    }
    fputc('"', out);
}

/* "[a, b]"; quoted where a comma or a quotation mark inside a text must stay its own. */
static enum status set_list(struct value *value, bool quoted, struct error *e)
{
    size_t size;
    FILE *out = open_memstream(&value->text, &size);
    if (out == NULL)
        return error_no_memory(e, "a value");
    for (size_t i = 0; i < value->n; i++) {
        fputs(i > 0 ? ", " : "[", out);
        if (value->of_numbers)
            fprintf(out, "%.0f", value->numbers[i]);
        else if (quoted)
            value_write_quoted(out, value->texts[i]);
        else
            fputs(value->texts[i], out);
    }
    fputs(value->n > 0 ? "]" : "[]", out);
    return fclose(out) == 0 ? OK : error_no_memory(e, "a value");
}

static enum status refuse_repeated(const struct spec_option *option, const struct node *item,
                                   struct error *e)
{
    return refuse(e, option, item, "'%s' is listed twice", item->text);
}

static enum status parse_ints(struct value *value, const struct spec_option *option,
                              const struct node *node, struct error *e)
{
    TRY(MEM_NEW(value->numbers, node->n, "a value", e));
    value->of_numbers = true;
    for (; value->n < node->n; value->n++) {
        const struct node *item = &node->items[value->n];
        double *number = &value->numbers[value->n];
        TRY(parse_whole(option, item, number, e));
        for (size_t j = 0; j < value->n; j++)
            if (value->numbers[j] == *number)
                return refuse_repeated(option, item, e);
    }
    return set_list(value, false, e);
}

static enum status parse_texts(struct value *value, const struct spec_option *option,
                               const struct node *node, struct error *e)
{
    TRY(MEM_NEW(value->texts, node->n, "a value", e));
    for (; value->n < node->n; value->n++) {
        const struct node *item = &node->items[value->n];
        int index;
        TRY(parse_name(option, item, &index, e));
        for (size_t j = 0; j < value->n; j++)
            if (strcmp(value->texts[j], item->text) == 0)
                return refuse_repeated(option, item, e);
        TRY(copy_text(&value->texts[value->n], item->text, e));
    }
    return set_list(value, false, e);
}

static enum status parse_strings(struct value *value, const struct spec_option *option,
                                 const struct node *node, struct error *e)
{
    TRY(MEM_NEW(value->texts, node->n, "a value", e));
    for (; value->n < node->n; value->n++) {
        TRY(check_text(option, &node->items[value->n], e));
        TRY(copy_text(&value->texts[value->n], node->items[value->n].text, e));
    }
    return set_list(value, true, e);
}

/* ---- Segments ---- */

static enum status refuse_segment(const struct spec_option *option, const struct node *node,
                                  struct error *e)
{
    return refuse(e, option, node,
                  "takes a list of segments, [{epoch: 0, ranks: 1}, {epoch: 2, ranks: 2}]");
}

/* The whole number of an entry, which is of the option that bounds it. */
static enum status parse_entry(const struct spec_option *option, const struct node *segment,
                               const char *key, const struct spec_option *of, double *number,
                               struct error *e)
{
    const struct node *entry = node_find(segment, key);
    if (entry == NULL || entry->kind != NODE_SCALAR || segment->n != 2)
        return refuse_segment(option, segment, e);
    return parse_whole(of, entry, number, e);
}

/* Epochs are counted from 0 where train.epochs, whose bound is theirs, is a number of them. */
static enum status parse_segment(const struct spec_option *option, const struct node *segment,
                                 double pair[2], const double *before, struct error *e)
{
    struct spec_option epoch = *option_get(OPT_EPOCHS), ranks = *option_get(OPT_RANKS);
    if (segment->kind != NODE_MAP)
        return refuse_segment(option, segment, e);
    epoch.key = "elastic: epoch";
    ranks.key = "elastic: ranks";
    epoch.min = 0;
    epoch.preset = ranks.preset = NULL;
    TRY(parse_entry(option, segment, "epoch", &epoch, &pair[0], e));
    TRY(parse_entry(option, segment, "ranks", &ranks, &pair[1], e));
    if (before == NULL && pair[0] != 0)
        return refuse(e, option, segment, "the first segment begins with epoch %.0f: 0 is wanted",
                      pair[0]);
    if (before != NULL && pair[0] <= before[0])
        return refuse(e, option, segment,
                      "epoch %.0f comes after epoch %.0f: later ones are wanted", pair[0],
                      before[0]);
    return OK;
}

static enum status parse_segments(struct value *value, const struct spec_option *option,
                                  const struct node *node, struct error *e)
{
    size_t size;
    TRY(MEM_NEW(value->numbers, 2 * node->n, "a value", e));
    value->of_numbers = true;
    for (; value->n < 2 * node->n; value->n += 2) {
        double *pair = value->numbers + value->n;
        const double *before = value->n > 0 ? pair - 2 : NULL;
        TRY(parse_segment(option, &node->items[value->n / 2], pair, before, e));
    }
    FILE *out = open_memstream(&value->text, &size);
    if (out == NULL)
        return error_no_memory(e, "a value");
    fputc('[', out);
    for (size_t i = 0; i < value->n; i += 2)
        fprintf(out, "%s{epoch: %.0f, ranks: %.0f}", i > 0 ? ", " : "", value->numbers[i],
                value->numbers[i + 1]);
    fputc(']', out);
    return fclose(out) == 0 ? OK : error_no_memory(e, "a value");
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
        [TYPE_TEXTS] = parse_texts,
        [TYPE_STRINGS] = parse_strings,
        [TYPE_INTS] = parse_ints,
        [TYPE_RANKS] = parse_ranks,
        [TYPE_NODES] = parse_nodes,
        [TYPE_NODE_RANKS] = parse_node_ranks,
        [TYPE_SEGMENTS] = parse_segments,
        [TYPE_CONDITION] = parse_condition,
        [TYPE_OWN] = parse_own,
    };
    return parsers[type];
}

/* A list where one belongs and nowhere else, with plain values in it; something written at all. */
static enum status check_kind(const struct spec_option *option, const struct node *node,
                              struct error *e)
{
    bool list = type_is_list(option->type);
    if (node_is_empty(node) && option->type != TYPE_CONDITION)
        return refuse(e, option, node, "has no value");
    if (node->kind == NODE_MAP)
        return refuse(e, option, node, "takes %s, not a map", list ? "a list" : "one value");
    if (list && node->kind != NODE_LIST)
        return refuse(e, option, node, "takes a list: [%s]", node->text);
    if (!list && node->kind == NODE_LIST)
        return refuse(e, option, node, "takes one value, not a list");
    for (size_t i = 0; i < node->n && option->type != TYPE_SEGMENTS; i++)
        if (node->items[i].kind != NODE_SCALAR)
            return refuse(e, option, &node->items[i], "takes a list of plain values");
    return OK;
}

enum status value_parse_plain(struct value *value, const struct spec_option *option,
                              const struct node *node, struct error *e)
{
    TRY(check_kind(option, node, e));
    struct value read = {.set = true, .mark = node->mark};
    enum status status = parser_of(option->type)(&read, option, node, e);
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
        TRY(copy_text(&to->text, from->text, e));
    if (from->of_numbers) {
        TRY(MEM_NEW(to->numbers, from->n, "a value", e));
        memcpy(to->numbers, from->numbers, from->n * sizeof *to->numbers);
    }
    if (!from->of_numbers && from->texts != NULL) {
        TRY(MEM_NEW(to->texts, from->n, "a value", e));
        for (size_t i = 0; i < from->n; i++)
            TRY(copy_text(&to->texts[i], from->texts[i], e));
    }
    return OK;
}

enum status value_copy_plain(struct value *to, const struct value *from, struct error *e)
{
    *to = *from;
    to->borrowed = false;
    to->texts = NULL; /* and the numbers */
    to->figures = NULL;
    to->text = NULL;
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
    for (size_t i = 0; !value->of_numbers && value->texts != NULL && i < value->n; i++)
        free(value->texts[i]);
    free(value->texts); /* or the numbers */
    memset(value, 0, sizeof *value);
}

bool value_equal(const struct value *a, const struct value *b)
{
    return a->text == b->text || strcmp(a->text, b->text) == 0;
}
