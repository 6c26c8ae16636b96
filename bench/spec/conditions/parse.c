/* Parses conditions and sums by recursive descent. */
#include "bench/spec/condition.h"

#include <ctype.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "bench/spec/conditions/steps.h"
#include "bench/spec/value.h"
#include "bench/spec/yaml/yaml_reader.h"
#include "kernels/base/mem.h"
#include "kernels/base/text.h"

#define TERMS_MAX 1000

/* ---- Tokens ---- */

enum token { TOKEN_END, TOKEN_WORD, TOKEN_TEXT, TOKEN_RELATION, TOKEN_OPEN, TOKEN_CLOSE };

struct parser {
    struct condition *c;
    const char *next;  /* first character after the token */
    const char *begin; /* first character of the token */
    enum token token;
    enum condition_relation relation;
    char *word;    /* text of a word or quoted text, stored in c->words */
    char *room;    /* unused rest of c->words */
    bool sum;      /* whether the text is an arithmetic expression (a sum), not a condition */
    bool is_truth; /* the expression parsed last is a condition, not a number */
    size_t first;  /* start of the comparison in c->steps */
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

/* Reports the expected and the found token. */
static enum status refuse_token(const struct parser *p, const char *wanted, struct error *e)
{
    int length = p->token == TOKEN_END ? 0 : (int)(p->next - p->begin);
    return error_at(e, ERR_ARGUMENT, NULL, 1, column_of(p, p->begin), "expected %s, found %s%.*s%s",
                    wanted,
                    length > 0 ? "'"
                    : p->sum   ? "the end of the sum"
                               : "the end of the condition",
                    length, p->begin, length > 0 ? "'" : "");
}

static const char word_ends[] = " \t\n\r()=!<>\"',&|";
static const char signs[] = "+-*/";

/* Returns the length of the word at `text`. In pure arithmetic (p->sum), an operator (+ - * /) ends
 * a word, except + or - in an exponent (1e-3). */
static size_t word_length(const struct parser *p, const char *text)
{
    size_t length = strcspn(text, word_ends), n = strcspn(text, signs);
    bool number = strchr("0123456789.", text[0]) != NULL;
    if (!p->sum || n >= length)
        return length;
    if (number && n > 0 && strchr("eE", text[n - 1]) != NULL && strchr("+-", text[n]) != NULL)
        n += 1 + strcspn(text + n + 1, signs);
    return n == 0 ? 1 : n < length ? n : length;
}

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
        return refuse(p, p->begin, e, "expected a closing quotation mark");
    keep_word(p, p->begin + 1, (size_t)(end - p->begin) - 1);
    p->token = TOKEN_TEXT;
    p->next = end + 1;
    return OK;
}

/* Finds the longest operator at the start of `text`. Returns its length; 0 if there is none. */
static size_t relation_at(const char *text, enum condition_relation *relation)
{
    static const struct {
        const char *text;
        enum condition_relation relation;
    } known[] = {{"==", RELATION_EQUAL},      {"!=", RELATION_UNEQUAL},
                 {"<=", RELATION_LESS_EQUAL}, {">=", RELATION_GREATER_EQUAL},
                 {"=", RELATION_EQUAL},       {"<", RELATION_LESS},
                 {">", RELATION_GREATER}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strncmp(text, known[i].text, strlen(known[i].text)) == 0) {
            *relation = known[i].relation;
            return strlen(known[i].text);
        }
    return 0;
}

/* Rejects the operators && || ! and the comma, which other languages use in conditions. */
static enum status refuse_sign(const struct parser *p, struct error *e)
{
    size_t length = strspn(p->begin, "&|,!");
    return error_at(e, ERR_ARGUMENT, NULL, 1, column_of(p, p->begin),
                    "'%.*s' is unknown; known: and or not ( ) = != < <= > >= + - * /, names, "
                    "numbers, words and \"texts\"; 'and' joins conditions, as in \"ranks > 1 and "
                    "nodes = 1\"",
                    (int)length, p->begin);
}

static enum status next_token(struct parser *p, struct error *e)
{
    const char *text = p->begin = p->next + strspn(p->next, " \t\n\r");
    if (strncmp(text, "=<", 2) == 0 || strncmp(text, "=>", 2) == 0)
        return error_at(e, ERR_ARGUMENT, NULL, 1, column_of(p, text),
                        "expected '%c=', found '%.2s'", text[1], text);
    size_t length = relation_at(text, &p->relation), word = word_length(p, text);
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

/* Returns whether the token begins with a sign in `some`. Tokens such as "-1" count: after an
 * operand, "-1" is the operator - and the operand 1. */
static bool is_sign(const struct parser *p, const char *some)
{
    return p->token == TOKEN_WORD && strchr(some, *p->begin) != NULL;
}

/* Splits the sign off the current word and reads the token after the sign. */
static enum status take_sign(struct parser *p, struct error *e)
{
    p->room = p->word;
    p->next = p->begin + 1;
    return next_token(p, e);
}

/* ---- Units ---- */

/* Comparison whose left side has been parsed. */
struct comparison {
    const char *begin;
    size_t step, term; /* indices of the comparison's first evaluation step (in c->steps) and of its
                          first name (in c->terms) */
    enum condition_relation relation;
};

static enum status convert_numbers(struct parser *p, const struct comparison *of, struct error *e)
{
    enum option_type type;
    for (size_t i = of->step; i < p->c->n_steps; i++) {
        struct condition_step *step = &p->c->steps[i];
        if (step->action != ACTION_NUMBER || !number_parse_unit(step->text, &type, &step->number))
            continue;
        step->number = condition_convert(p->c, of->term, type, step->number);
        if (isnan(step->number))
            return error_at(e, ERR_ARGUMENT, NULL, 1, step->column,
                            "expected a number in a unit of the compared quantity, found '%s'",
                            step->text);
    }
    return OK;
}

/* ---- Sums ---- */

static enum status parse_joined(struct parser *p, size_t rank, struct error *e);
static enum status parse_sum(struct parser *p, size_t rank, struct error *e);

static struct condition_step *emit(struct parser *p, enum condition_action action)
{
    struct condition_step *step = &p->c->steps[p->c->n_steps++];
    *step = (struct condition_step){.action = action};
    return step;
}

static enum status descend(struct parser *p, struct error *e)
{
    return ++p->depth > CONDITION_DEPTH ? refuse(p, p->begin, e, "nested more than 30 levels deep")
                                        : OK;
}

static enum status parse_group(struct parser *p, struct error *e)
{
    TRY(descend(p, e));
    TRY(next_token(p, e));
    TRY(p->sum ? parse_sum(p, 0, e) : parse_joined(p, 0, e));
    if (p->token != TOKEN_CLOSE)
        return refuse_token(p,
                            p->is_truth ? "and, or or )"
                            : p->sum    ? "+ - * / or )"
                                        : "= != < <= > >= + - * / or )",
                            e);
    p->depth--;
    return next_token(p, e);
}

static enum status check_is_number(struct parser *p, struct error *e)
{
    return p->is_truth ? refuse_token(p, "'and', 'or' or the end", e) : OK;
}

static enum status parse_negative(struct parser *p, struct error *e)
{
    TRY(descend(p, e));
    TRY(take_sign(p, e));
    TRY(parse_sum(p, SIZE_MAX, e));
    TRY(check_is_number(p, e));
    p->depth--;
    emit(p, ACTION_NEGATE);
    return OK;
}

/* Reads the word as a number. Returns false if it is not a number. Units are allowed in conditions,
 * not in a plain sum (p->sum). */
static bool read_number(const struct parser *p, double *number)
{
    enum option_type type;
    return number_parse_unit(p->word, &type, number) && (!p->sum || number_parse(p->word, number));
}

static enum status parse_name(struct parser *p, struct error *e)
{
    if (p->c->n_terms == TERMS_MAX)
        return refuse(p, p->begin, e, "a condition has at most 1000 names");
    emit(p, ACTION_NAME)->term = p->c->n_terms;
    p->c->terms[p->c->n_terms++] = (struct condition_term){
        .name = p->word, .name_column = column_of(p, p->begin), .number = NAN, .scale = 1};
    return OK;
}

/* Rejects a blank between a number and its unit. */
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
                    "expected '%s' without a space, found '%s %s'", text, number, p->word);
}

static enum status parse_number(struct parser *p, double number, struct error *e)
{
    struct condition_step *step = emit(p, ACTION_NUMBER);
    step->number = number;
    step->text = p->word;
    step->column = column_of(p, p->begin);
    const char *end = p->next;
    TRY(next_token(p, e));
    return !p->sum && p->begin > end ? check_unit(p, step->text, e) : OK;
}

static enum status parse_operand(struct parser *p, struct error *e)
{
    double number;
    bool begins = !p->sum && p->c->n_steps == p->first;
    if (p->token == TOKEN_OPEN)
        return parse_group(p, e);
    bool is_number = p->token == TOKEN_WORD && read_number(p, &number);
    if (is_sign(p, "-") && !is_number)
        return parse_negative(p, e);
    if (p->token != TOKEN_WORD || is_operator_word(p) || (is_sign(p, signs) && !is_number))
        return refuse_token(p, begins ? "a name, as in ranks > 1" : "a number, a name, - or (", e);
    p->is_truth = false;
    if (is_number)
        return parse_number(p, number, e);
    TRY(parse_name(p, e));
    return next_token(p, e);
}

static enum condition_action action_of_sign(char sign)
{
    return sign == '+'   ? ACTION_ADD
           : sign == '-' ? ACTION_SUBTRACT
           : sign == '*' ? ACTION_MULTIPLY
                         : ACTION_DIVIDE;
}

static enum status parse_sum(struct parser *p, size_t rank, struct error *e)
{
    static const char *const ranks[] = {"+-", "*/"};
    if (rank >= sizeof ranks / sizeof *ranks)
        return parse_operand(p, e);
    TRY(parse_sum(p, rank + 1, e));
    while (is_sign(p, ranks[rank]) && !p->is_truth) {
        enum condition_action action = action_of_sign(*p->begin);
        TRY(take_sign(p, e));
        TRY(parse_sum(p, rank + 1, e));
        TRY(check_is_number(p, e));
        emit(p, action);
    }
    return OK;
}

/* ---- Comparisons ---- */

/* Sets *is_text to whether the right side is a quoted text or, after = or !=, a word that is not a
 * number and does not begin a sum. */
static enum status find_text(bool *is_text, const struct parser *p, const struct comparison *of,
                             struct error *e)
{
    double number;
    struct parser ahead = *p;
    *is_text = p->token == TOKEN_TEXT;
    if (p->token != TOKEN_WORD || read_number(p, &number) || of->relation > RELATION_UNEQUAL)
        return OK;
    TRY(next_token(&ahead, e));
    *is_text = !is_sign(&ahead, signs);
    return OK;
}

/* Reports a value after < <= > or >= that is a quoted text or has an unknown unit, such as 1GB. */
static enum status refuse_bound(const struct parser *p, struct error *e)
{
    static const enum option_type types[] = {TYPE_TIME, TYPE_SIZE, TYPE_PERCENT};
    char wanted[160] = "a number after < <= > or >=, alone or with a unit:";
    if (p->token == TOKEN_TEXT)
        return refuse_token(p, "a number after < <= > or >=", e);
    for (size_t k = 0; k < sizeof types / sizeof *types; k++)
        for (size_t i = 0; value_unit(types[k], i) != NULL; i++)
            text_join(wanted, sizeof wanted, " ", value_unit(types[k], i));
    return refuse_token(p, wanted, e);
}

static enum status check_right(const struct parser *p, const struct comparison *of, struct error *e)
{
    bool begins = p->token == TOKEN_WORD || p->token == TOKEN_TEXT || p->token == TOKEN_OPEN;
    if (!begins || is_operator_word(p))
        return refuse_token(p, "a number, a word or a \"text\"", e);
    double number;
    bool torn =
        p->token == TOKEN_WORD && isdigit((unsigned char)*p->word) && !read_number(p, &number);
    return (torn || p->token == TOKEN_TEXT) && of->relation > RELATION_UNEQUAL ? refuse_bound(p, e)
                                                                               : OK;
}

/* Turns the current comparison into a step ACTION_COMPARE, which compares the value of a name with
 * `number`. If `number` is NAN or the value is not a number, the step compares the value with
 * `text` instead. `text`: right side of the comparison as written. */
static void compare_name(struct parser *p, const struct comparison *of, const char *text,
                         int column, double number)
{
    struct condition_term *term = &p->c->terms[of->term];
    p->c->steps[of->step].action = ACTION_COMPARE;
    p->c->n_steps = of->step + 1;
    term->relation = of->relation;
    term->text = text;
    term->text_column = column;
    term->number = number;
}

static enum status parse_right_sum(struct parser *p, const struct comparison *of, bool is_name,
                                   struct error *e)
{
    TRY(parse_sum(p, 0, e));
    TRY(check_is_number(p, e));
    if (p->c->n_terms == of->term)
        return refuse(p, of->begin, e, "expected a name, as in ranks > 1");
    TRY(convert_numbers(p, of, e));
    const struct condition_step *last = &p->c->steps[p->c->n_steps - 1];
    if (is_name && last == &p->c->steps[of->step + 1] && last->action == ACTION_NUMBER)
        compare_name(p, of, last->text, last->column, last->number);
    else
        emit(p, ACTION_RELATE)->relation = of->relation;
    return OK;
}

static enum status parse_right(struct parser *p, struct comparison *of, struct error *e)
{
    bool is_text, is_name = p->c->n_steps == of->step + 1 && p->c->n_terms == of->term + 1;
    of->relation = p->relation;
    TRY(next_token(p, e));
    TRY(check_right(p, of, e));
    TRY(find_text(&is_text, p, of, e));
    if (!is_text || !is_name)
        return parse_right_sum(p, of, is_name, e);
    compare_name(p, of, p->word, column_of(p, p->begin), NAN);
    return next_token(p, e);
}

static enum status parse_comparison(struct parser *p, struct error *e)
{
    struct comparison own = {p->begin, p->c->n_steps, p->c->n_terms, RELATION_EQUAL};
    p->first = own.step;
    TRY(parse_sum(p, 0, e));
    if (p->token != TOKEN_RELATION || p->is_truth)
        return OK;
    TRY(parse_right(p, &own, e));
    p->is_truth = true;
    return OK;
}

/* ---- and, or, not ---- */

static enum status check_is_truth(struct parser *p, struct error *e)
{
    return p->is_truth ? OK : refuse_token(p, "= != < <= > or >= after a name", e);
}

static enum status parse_factor(struct parser *p, struct error *e)
{
    if (!is_word(p, "not"))
        return parse_comparison(p, e);
    TRY(descend(p, e));
    TRY(next_token(p, e));
    TRY(parse_factor(p, e));
    TRY(check_is_truth(p, e));
    p->depth--;
    emit(p, ACTION_NOT);
    return OK;
}

static enum status parse_joined(struct parser *p, size_t rank, struct error *e)
{
    static const struct {
        const char *word;
        enum condition_action action;
    } ranks[] = {{"or", ACTION_OR}, {"and", ACTION_AND}};
    if (rank == sizeof ranks / sizeof *ranks)
        return parse_factor(p, e);
    TRY(parse_joined(p, rank + 1, e));
    while (is_word(p, ranks[rank].word)) {
        TRY(check_is_truth(p, e));
        TRY(next_token(p, e));
        TRY(parse_joined(p, rank + 1, e));
        TRY(check_is_truth(p, e));
        emit(p, ranks[rank].action);
    }
    return OK;
}

/* ---- Open and free ---- */

static enum status parse_text(struct condition *c, bool sum, struct error *e)
{
    struct parser p = {.c = c, .next = c->text, .room = c->words, .sum = sum};
    TRY(next_token(&p, e));
    TRY(sum ? parse_sum(&p, 0, e) : parse_joined(&p, 0, e));
    if (!sum)
        TRY(check_is_truth(&p, e));
    return p.token == TOKEN_END
               ? OK
               : refuse_token(&p, sum ? "+ - * or /" : "'and', 'or' or the end", e);
}

static enum status make_room(struct condition *c, const char *text, struct error *e)
{
    size_t length = strlen(text);
    c->text = strdup(text);
    TRY(MEM_NEW(c->words, 2 * length + 1, "a condition", e));
    TRY(MEM_NEW(c->steps, length + 1, "a condition", e));
    TRY(MEM_NEW(c->terms, length / 2 + 1, "a condition", e));
    return c->text != NULL ? OK : error_no_memory(e, "a condition");
}

static enum status parse(struct condition **c, const char *text, bool sum, struct error *e)
{
    TRY(MEM_NEW(*c, 1, "a condition", e));
    enum status status = make_room(*c, text, e);
    THEN(status, parse_text(*c, sum, e));
    if (status == OK)
        return OK;
    condition_free(*c);
    *c = NULL;
    return status;
}

enum status condition_parse(struct condition **c, const char *text, struct error *e)
{
    return parse(c, text, false, e);
}

enum status condition_parse_sum(struct condition **c, const char *text, struct error *e)
{
    return parse(c, text, true, e);
}

enum status condition_read(struct condition **c, const char *key, const struct node *node,
                           struct error *e)
{
    struct error inner;
    *c = NULL;
    if (node->kind != NODE_SCALAR || node_is_empty(node))
        return mark_error(e, ERR_SPEC, node->mark,
                          "%s: expected a condition, such as \"ranks > 1\"", key);
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
    free(c->steps);
    free(c->terms);
    free(c);
}

const struct condition_term *condition_terms(const struct condition *c, size_t *n)
{
    *n = c->n_terms;
    return c->terms;
}

void condition_set_text(struct condition *c, size_t term, const char *text)
{
    c->terms[term].text = text;
}

const char *condition_text(const struct condition *c)
{
    return c->text;
}
