/* Conditions as they are written. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench/spec/value.h"
#include "bench/spec/values/condition_parts.h"
#include "bench/spec/yaml_reader.h"
#include "kernels/base/mem.h"
#include "kernels/base/text.h"

/* Every parenthesis and every `not` is a level: the stack of condition_holds is the bits of one
 * word, of which a level takes two. */
#define DEPTH_MAX 30
#define TERMS_MAX 1000

/* ---- Words ---- */

enum token { TOKEN_END, TOKEN_WORD, TOKEN_TEXT, TOKEN_RELATION, TOKEN_OPEN, TOKEN_CLOSE };

struct parser {
    struct condition *c;
    const char *next;  /* behind the token */
    const char *begin; /* of the token */
    enum token token;
    enum relation relation;
    char *word; /* of a word or a text; in c->words */
    char *room; /* what is left of c->words */
    int depth;
};

static int column_of(const struct parser *p, const char *place)
{
    return 1 + (int)text_characters(p->c->text, (size_t)(place - p->c->text));
}

static enum status refuse(const struct parser *p, const char *place, struct error *e,
                          const char *what)
{
    return error_at(e, ERR_ARGUMENT, NULL, 1, column_of(p, place), "%s", what);
}

/* "what was wanted, not 'what is there'" */
static enum status refuse_token(const struct parser *p, const char *wanted, struct error *e)
{
    int length = p->token == TOKEN_END ? 0 : (int)(p->next - p->begin);
    return error_at(e, ERR_ARGUMENT, NULL, 1, column_of(p, p->begin), "%s, %s%.*s%s", wanted,
                    length > 0 ? "not '" : "but the condition ends", length, p->begin,
                    length > 0 ? "'" : "");
}

static const char word_ends[] = " \t\n\r()=!<>\"',&|";

static void keep_word(struct parser *p, const char *text, size_t length)
{
    p->word = p->room;
    memcpy(p->word, text, length);
    p->word[length] = '\0';
    p->room += length + 1;
}

static enum status read_text(struct parser *p, struct error *e)
{
    const char *end = strchr(p->begin + 1, *p->begin);
    if (end == NULL)
        return refuse(p, p->begin, e, "a quotation mark that is not closed");
    keep_word(p, p->begin + 1, (size_t)(end - p->begin) - 1);
    p->token = TOKEN_TEXT;
    p->next = end + 1;
    return OK;
}

/* The longest operator that begins here; the length is 0 where there is none. */
static size_t relation_at(const char *text, enum relation *relation)
{
    static const struct {
        const char *text;
        enum relation relation;
    } known[] = {{"==", EQUAL}, {"!=", UNEQUAL}, {"<=", LESS_EQUAL}, {">=", GREATER_EQUAL},
                 {"=", EQUAL},  {"<", LESS},     {">", GREATER}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strncmp(text, known[i].text, strlen(known[i].text)) == 0) {
            *relation = known[i].relation;
            return strlen(known[i].text);
        }
    return 0;
}

/* Other languages join by signs. */
static enum status refuse_sign(const struct parser *p, struct error *e)
{
    size_t length = strspn(p->begin, "&|,!");
    return error_at(e, ERR_ARGUMENT, NULL, 1, column_of(p, p->begin),
                    "'%.*s' is unknown; known: and or not ( ) = != < <= > >=, names, numbers, "
                    "words and \"texts\"; and joins conditions, as in \"ranks > 1 and nodes = 1\"",
                    (int)length, p->begin);
}

static bool is_turned_around(const char *text)
{
    return text[0] == '=' && (text[1] == '<' || text[1] == '>');
}

static enum status next_token(struct parser *p, struct error *e)
{
    const char *text = p->begin = p->next + strspn(p->next, " \t\n\r");
    if (is_turned_around(text))
        return error_at(e, ERR_ARGUMENT, NULL, 1, column_of(p, text),
                        "expected '%c=', found '%.2s'", text[1], text);
    size_t length = relation_at(text, &p->relation), word = strcspn(text, word_ends);
    if (*text == '"' || *text == '\'')
        return read_text(p, e);
    p->token = *text == '\0'  ? TOKEN_END
               : *text == '(' ? TOKEN_OPEN
               : *text == ')' ? TOKEN_CLOSE
               : length > 0   ? TOKEN_RELATION
                              : TOKEN_WORD;
    if (p->token == TOKEN_WORD && word == 0)
        return refuse_sign(p, e);
    if (p->token == TOKEN_WORD)
        keep_word(p, text, length = word);
    p->next = text + (p->token == TOKEN_END ? 0 : length > 0 ? length : 1);
    return OK;
}

static bool is_word(const struct parser *p, const char *word)
{
    return p->token == TOKEN_WORD && strcmp(p->word, word) == 0;
}

static bool is_operator_word(const struct parser *p)
{
    return is_word(p, "and") || is_word(p, "or") || is_word(p, "not");
}

/* ---- Comparisons ---- */

static bool ends_in(const char *name, const char *tail)
{
    size_t length = strlen(name), part = strlen(tail);
    return length > part && strcmp(name + length - part, tail) == 0;
}

/* Which unit a name says at its end, and what a number in seconds, bytes or per cent is to be multiplied with for it. */
static const struct name_unit {
    enum option_type type;
    const char *tail;
    double factor;
} name_units[] = {{TYPE_TIME, "_ms", 1e3},      {TYPE_TIME, "_us", 1e6},
                  {TYPE_TIME, "_ns", 1e9},      {TYPE_TIME, "_s", 1},
                  {TYPE_SIZE, "_kib", 0x1p-10}, {TYPE_SIZE, "_mib", 0x1p-20},
                  {TYPE_SIZE, "_gib", 0x1p-30}, {TYPE_PERCENT, "_pct", 1}};

/* Columns of summary.csv say behind it which number of a point they are: step_ms_median, step_ms_lo. */
static const struct name_unit *unit_of(const char *name)
{
    static const char *const ends[] = {"", "_median", "_lo", "_hi"};
    char tail[32];
    for (size_t i = 0; i < sizeof name_units / sizeof *name_units; i++)
        for (size_t k = 0; k < sizeof ends / sizeof *ends; k++) {
            snprintf(tail, sizeof tail, "%s%s", name_units[i].tail, ends[k]);
            if (ends_in(name, tail))
                return &name_units[i];
        }
    return NULL;
}

/* NAN: no number; *fits: not of another unit than the name says. */
static double value_number(const struct parser *p, const char *name, bool *fits)
{
    double number;
    enum option_type type;
    const struct name_unit *unit = unit_of(name);
    *fits = true;
    if (p->token == TOKEN_TEXT || !number_parse_unit(p->word, &type, &number))
        return NAN;
    if (unit != NULL && type == unit->type)
        return number * unit->factor;
    *fits = unit == NULL || type == TYPE_REAL;
    return type == TYPE_PERCENT && strchr(name, '.') == NULL ? number * 0.01 : number;
}

static enum status parse_name(struct parser *p, struct condition_term *term, struct error *e)
{
    double number;
    enum option_type type;
    if (p->token != TOKEN_WORD || is_operator_word(p) || number_parse_unit(p->word, &type, &number))
        return refuse_token(p, "a name is expected, as in ranks > 1", e);
    term->name = p->word;
    term->name_column = column_of(p, p->begin);
    return next_token(p, e);
}

/* A unit behind a blank is none of the words that may follow. */
static enum status check_unit(const struct parser *p, const char *number, struct error *e)
{
    char text[64];
    double value;
    enum option_type type;
    if (p->token != TOKEN_WORD)
        return OK;
    snprintf(text, sizeof text, "%.40s%.20s", number, p->word);
    if (!number_parse_unit(text, &type, &value))
        return OK;
    return error_at(e, ERR_ARGUMENT, NULL, 1, column_of(p, p->begin),
                    "expected a number and its unit without a blank, %s, found '%s %s'", text,
                    number, p->word);
}

static enum status parse_value(struct parser *p, struct condition_term *term,
                               struct comparison *comparison, struct error *e)
{
    if ((p->token != TOKEN_WORD && p->token != TOKEN_TEXT) || is_operator_word(p))
        return refuse_token(p, "a number, a word or a \"text\" is expected", e);
    bool fits;
    comparison->number = value_number(p, term->name, &fits);
    if (!fits)
        return refuse_token(p, "a number in the unit that the name says is expected", e);
    if (term->ordered && isnan(comparison->number))
        return refuse_token(p, "an order is one of numbers", e);
    term->number = !isnan(comparison->number);
    term->text = p->word;
    term->text_column = column_of(p, p->begin);
    const char *end = p->next;
    TRY(next_token(p, e));
    return term->number && p->begin > end ? check_unit(p, term->text, e) : OK;
}

static void emit(struct parser *p, enum action action)
{
    p->c->actions[p->c->n_actions++] = action;
}

static enum status parse_comparison(struct parser *p, struct error *e)
{
    struct condition_term *term = &p->c->terms[p->c->n_terms];
    struct comparison *comparison = &p->c->comparisons[p->c->n_terms];
    if (p->c->n_terms == TERMS_MAX)
        return refuse(p, p->begin, e, "a condition has at most 1000 comparisons");
    TRY(parse_name(p, term, e));
    if (p->token != TOKEN_RELATION)
        return refuse_token(p, "= != < <= > or >= is expected behind a name", e);
    comparison->relation = p->relation;
    term->ordered = p->relation != EQUAL && p->relation != UNEQUAL;
    TRY(next_token(p, e));
    TRY(parse_value(p, term, comparison, e));
    p->c->n_terms++;
    emit(p, ACTION_COMPARE);
    return OK;
}

/* ---- What joins them ---- */

static enum status parse_any(struct parser *p, struct error *e);

static enum status descend(struct parser *p, struct error *e)
{
    if (++p->depth > DEPTH_MAX)
        return refuse(p, p->begin, e, "nested more than 30 levels deep");
    return next_token(p, e);
}

static enum status parse_group(struct parser *p, struct error *e)
{
    TRY(descend(p, e));
    TRY(parse_any(p, e));
    if (p->token != TOKEN_CLOSE)
        return refuse_token(p, "and, or or ) is expected", e);
    p->depth--;
    return next_token(p, e);
}

static enum status parse_factor(struct parser *p, struct error *e)
{
    if (p->token == TOKEN_OPEN)
        return parse_group(p, e);
    if (!is_word(p, "not"))
        return parse_comparison(p, e);
    TRY(descend(p, e));
    TRY(parse_factor(p, e));
    p->depth--;
    emit(p, ACTION_NOT);
    return OK;
}

static enum status parse_all(struct parser *p, struct error *e)
{
    TRY(parse_factor(p, e));
    while (is_word(p, "and")) {
        TRY(next_token(p, e));
        TRY(parse_factor(p, e));
        emit(p, ACTION_AND);
    }
    return OK;
}

static enum status parse_any(struct parser *p, struct error *e)
{
    TRY(parse_all(p, e));
    while (is_word(p, "or")) {
        TRY(next_token(p, e));
        TRY(parse_all(p, e));
        emit(p, ACTION_OR);
    }
    return OK;
}

static enum status parse_text(struct condition *c, struct error *e)
{
    struct parser p = {.c = c, .next = c->text, .room = c->words};
    TRY(next_token(&p, e));
    TRY(parse_any(&p, e));
    return p.token == TOKEN_END ? OK : refuse_token(&p, "'and', 'or' or the end is expected", e);
}

/* No text has more parts than half its length, since a comparison takes three characters. */
static enum status make_room(struct condition *c, const char *text, struct error *e)
{
    size_t length = strlen(text), terms = length / 3 + 1;
    c->text = strdup(text);
    TRY(MEM_NEW(c->words, 2 * length + 1, "a condition", e));
    TRY(MEM_NEW(c->actions, length + 1, "a condition", e));
    TRY(MEM_NEW(c->terms, terms, "a condition", e));
    TRY(MEM_NEW(c->comparisons, terms, "a condition", e));
    return c->text != NULL ? OK : error_no_memory(e, "a condition");
}

enum status condition_parse(struct condition **c, const char *text, struct error *e)
{
    TRY(MEM_NEW(*c, 1, "a condition", e));
    enum status status = make_room(*c, text, e);
    THEN(status, parse_text(*c, e));
    if (status == OK)
        return OK;
    condition_free(*c);
    *c = NULL;
    return status;
}

enum status condition_read(struct condition **c, const char *key, const struct node *node,
                           struct error *e)
{
    struct error inner;
    *c = NULL;
    if (node->kind != NODE_SCALAR || node_is_empty(node))
        return mark_error(e, ERR_SPEC, node->mark, "%s takes a condition, as \"ranks > 1\"", key);
    enum status status = condition_parse(c, node->text, &inner);
    if (status != ERR_ARGUMENT)
        return status == OK ? OK : error_set(e, status, "%s", inner.text);
    return mark_error(e, ERR_SPEC, mark_ahead(node_text_mark(node), inner.column - 1), "%s: %s",
                      key, inner.text);
}

void condition_free(struct condition *c)
{
    if (c == NULL)
        return;
    free(c->text);
    free(c->words);
    free(c->actions);
    free(c->terms);
    free(c->comparisons);
    free(c);
}
