/* Parses numbers, booleans, names and texts in option values. */
#include "bench/spec/values/parts.h"

#include <ctype.h>
#include <locale.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/spec/value.h"
#include "kernels/base/names.h"
#include "kernels/base/text.h"

/* 2^53, up to which a double represents every whole number exactly. */
#define WHOLE_MAX 9007199254740992.0

enum status value_refuse(struct error *e, const struct given *g, const char *format, ...)
{
    char text[sizeof e->text];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    return mark_error(e, ERR_SPEC, g->node->mark, "%s: %s", g->option->key, text);
}

enum status value_set_text(struct value *value, struct error *e, const char *format, ...)
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

bool number_parse(const char *text, double *number)
{
    if (text[strspn(text, "0123456789+-.eE")] != '\0' ||
        !isdigit((unsigned char)text[strcspn(text, "0123456789")]))
        return false;
    char *end;
    locale_t points =
        newlocale(LC_NUMERIC_MASK, "C", (locale_t)0); /* independent of the user's locale */
    *number = strtod_l(text, &end, points);
    freelocale(points);
    return *end == '\0' && isfinite(*number);
}

/* Words for true, then as many words for false. */
static const char *const bool_words[] = {"true", "True", "TRUE", "yes",   "Yes",   "YES",
                                         "on",   "On",   "ON",   "false", "False", "FALSE",
                                         "no",   "No",   "NO",   "off",   "Off",   "OFF"};
enum { BOOL_WORDS = sizeof bool_words / sizeof *bool_words };

const char *bool_word(size_t i)
{
    return i < BOOL_WORDS ? bool_words[i] : NULL;
}

bool bool_parse(const char *text, bool *yes)
{
    int i = name_index(text, bool_words, BOOL_WORDS);
    *yes = i >= 0 && i < BOOL_WORDS / 2;
    return i >= 0;
}

const char *value_number_text(char text[32], double number)
{
    snprintf(text, 32, "%.15g", number);
    if (strtod(text, NULL) != number)
        snprintf(text, 32, "%.17g", number);
    return text;
}

enum status value_check_range(const struct given *g, double number, const char *unit,
                              struct error *e)
{
    bool preset = g->option->preset != NULL && strcmp(g->node->text, g->option->preset) == 0;
    if (preset || (number >= g->option->min && number <= g->option->max))
        return OK;
    char min[32], max[32];
    /* a blank precedes a unit that is a word: "0 images", but "0s" and "5%" */
    bool words = unit[0] == '\0' && g->option->unit[0] != '\0';
    return mark_error(e, ERR_SPEC, g->node->mark, "%s = %s%s%s: allowed %s%s..%s%s", g->option->key,
                      g->node->text, words ? " " : "", words ? g->option->unit : "",
                      value_number_text(min, g->option->min), unit,
                      value_number_text(max, g->option->max), unit);
}

enum status value_parse_number(const struct given *g, double *number, struct error *e)
{
    if (g->node->quoted && number_parse(g->node->text, number))
        return value_refuse(e, g, "'%s' is in quotes, which makes it a text, not a number",
                            g->node->text);
    if (!number_parse(g->node->text, number))
        return value_refuse(
            e, g, "'%s' is not a number%s", g->node->text,
            text_ends(g->node->text, ",")
                ? "; values in --set are separated by blanks, without commas"
            : strchr(g->node->text, ',') != NULL ? "; decimals are written with a point, 0.5"
            : g->node->text[strspn(g->node->text, "0123456789")] == 'k' ? "; write all its digits"
                                                                        : "");
    return OK;
}

enum status value_parse_whole(const struct given *g, double *number, struct error *e)
{
    TRY(value_parse_number(g, number, e));
    if (*number != floor(*number) || fabs(*number) > WHOLE_MAX)
        return value_refuse(e, g, "'%s' is not a whole number", g->node->text);
    return value_check_range(g, *number, "", e);
}

enum status value_check_text(const struct given *g, struct error *e)
{
    if (g->node->text[0] == '\0')
        return value_refuse(e, g, "expected a text, found an empty one");
    for (const char *c = g->node->text; *c; c++)
        if (iscntrl((unsigned char)*c))
            return value_refuse(e, g, "expected a text without line breaks and control characters");
    return OK;
}

enum status value_parse_name(const struct given *g, int *index, struct error *e)
{
    const struct enumeration *known = g->option->names;
    *index = name_index(g->node->text, known->names, known->n);
    if (*index >= 0)
        return OK;
    char text[512];
    return value_refuse(e, g, "%s",
                        name_explain(text, sizeof text, g->node->text, known->names, known->n));
}
