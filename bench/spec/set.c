/* Applies the key=value words of --set and of option `quick`, which override the spec's files. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "bench/spec/matrix.h"
#include "kernels/base/names.h"

/* Returns the length of one word: up to a blank outside brackets and quotation marks. */
static size_t word_length(const char *text)
{
    int depth = 0;
    char quote = '\0';
    size_t i = 0;
    for (; text[i] && (depth > 0 || quote || !isspace((unsigned char)text[i])); i++) {
        if (quote)
            quote = text[i] == quote ? '\0' : quote;
        else if (text[i] == '"' || text[i] == '\'')
            quote = text[i];
        else
            depth += (strchr("[{", text[i]) != NULL) - (strchr("]}", text[i]) != NULL);
    }
    return i;
}

static enum status apply_entry(struct reading *reading, struct node *entry, struct error *e);

static enum status apply_rest(struct reading *reading, struct node *entry, size_t length,
                              struct error *e)
{
    char *key = entry->key;
    entry->key = key + length;
    enum status status = apply_entry(reading, entry, e);
    entry->key = key;
    return status;
}

static bool begins(const char *key, const char *prefix)
{
    return strncmp(key, prefix, strlen(prefix)) == 0;
}

/* Returns the length of `label` at the start of `key` ("LABEL.key" or "'LABEL'.key"), including dot
 * and quotation marks. Returns 0 if the key begins with another label. */
static size_t label_length(const char *key, const char *label)
{
    size_t length = strlen(label), quote = *key == '"' || *key == '\'';
    bool closed = !quote || key[1 + length] == *key;
    return strncmp(key + quote, label, length) == 0 && closed && key[length + 2 * quote] == '.'
               ? length + 2 * quote + 1
               : 0;
}

/* Applies cases.LABEL.key=value to one case. */
static enum status apply_to_case(struct reading *reading, struct node *entry, size_t prefix,
                                 struct error *e)
{
    struct matrix *matrix = reading->spec->matrix;
    const char *labels[1000];
    char text[900];
    for (size_t i = 0; i < matrix->n_cases; i++) {
        struct matrix *of = &matrix->cases[i];
        size_t length = label_length(entry->key + prefix, of->label);
        struct reading own = {reading->spec, of, &of->own.config};
        if (length > 0)
            return apply_rest(&own, entry, prefix + length, e);
        labels[i] = of->label;
    }
    char *label = entry->key + prefix;
    label[strcspn(label, ".")] = '\0';
    if (matrix->n_cases == 0)
        return mark_error(e, ERR_SPEC, entry->key_mark, "cases.%s: this spec has no cases", label);
    name_explain(text, sizeof text, label, labels, matrix->n_cases);
    return mark_error(e, ERR_SPEC, entry->key_mark, "cases: %s", text);
}

/* Rejects "baseline.ranks=2" and "zip.ranks=[1,2]": --set replaces baseline and zip only as a
 * whole. */
static enum status check_undotted(const struct node *entry, struct error *e)
{
    static const char *const whole[] = {"baseline.", "zip."};
    for (size_t i = 0; i < sizeof whole / sizeof *whole; i++) {
        int length = (int)strlen(whole[i]);
        if (begins(entry->key, whole[i]))
            return mark_error(e, ERR_SPEC, entry->key_mark,
                              "'%s' is not supported. Use %.*s={%s: VALUE}", entry->key, length - 1,
                              whole[i], entry->key + length);
    }
    return OK;
}

/* Applies a key=value word like an entry of a spec: "matrix.ranks=[1,2]" has the same effect as
 * "matrix: {ranks: [1, 2]}". ERR_SPEC for keys that a word cannot set, such as exclude. */
static enum status apply_entry(struct reading *reading, struct node *entry, struct error *e)
{
    static const char in_matrix[] = "matrix.", in_cases[] = "cases.";
    static const char *const refused[] = {"exclude", "cases", "what_if", "extends"};
    struct node map = {.kind = NODE_MAP, .mark = entry->key_mark, .items = entry, .n = 1};
    if (strcmp(entry->key, "baseline") == 0)
        return baseline_read(reading, entry, e);
    if (strcmp(entry->key, "zip") == 0)
        return matrix_read_zip(reading, entry, e);
    if (strcmp(entry->key, "matrix") == 0)
        return matrix_read_axes(reading, entry, e);
    if (name_index(entry->key, refused, 4) >= 0)
        return mark_error(
            e, ERR_SPEC, entry->key_mark,
            "%s cannot be set here; expected an option, matrix, zip, baseline or cases.LABEL.key",
            entry->key);
    TRY(check_undotted(entry, e));
    if (begins(entry->key, in_cases) && reading->matrix == reading->spec->matrix)
        return apply_to_case(reading, entry, strlen(in_cases), e);
    if (!begins(entry->key, in_matrix))
        return matrix_read_options(reading, &map, e);
    struct node inside = *entry;
    inside.key += strlen(in_matrix);
    map.key = (char *)"matrix";
    map.items = &inside;
    return matrix_read_axes(reading, &map, e);
}

/* Returns the index of the first '=' outside quotation marks; a quoted label may contain another
 * '='. Returns the length of the text if there is none. */
static size_t equals_at(const char *text)
{
    char quote = '\0';
    size_t i = 0;
    for (; text[i] && (quote || text[i] != '='); i++)
        if (quote || text[i] == '"' || text[i] == '\'')
            quote = quote == text[i] ? '\0' : quote ? quote : text[i];
    return i;
}

/* Returns advice to append to the error about a word that is not of the form key=value; "" if
 * spaces probably did not cause the error. */
static const char *blank_hint(const char *word, const char *rest)
{
    const char *next = rest + strspn(rest, " \t\n");
    size_t length = word_length(next), equals = equals_at(next);
    bool split = length > 0 && (equals == 0 || equals >= length);
    if (begins(word, "cases.") && strchr(word + strlen("cases."), '.') == NULL)
        return ". Put a label with spaces in quotation marks: cases.'A LABEL'.KEY=VALUE";
    return split ? ", without spaces around =" : "";
}

/* Applies one key=value word; `rest` is the text after it. */
static enum status apply_word(struct reading *reading, char *word, const char *rest,
                              struct mark mark, struct error *e)
{
    char *equals = word + equals_at(word);
    if (*equals == '\0' || equals == word)
        return mark_error(e, ERR_SPEC, mark, "'%s' is not of the form key=value%s", word,
                          blank_hint(word, rest));
    *equals = '\0';
    struct node entry;
    struct mark value_mark = mark;
    value_mark.column += (int)(equals + 1 - word);
    if (equals[1] == '\0')
        return mark_error(e, ERR_SPEC, value_mark, "%s= has no value; expected key=value%s", word,
                          blank_hint(word, rest));
    enum status status = yaml_read_text(&entry, equals + 1, value_mark, e);
    entry.key_mark = mark;
    THEN(status, node_copy_text(&entry.key, word, "SET", e));
    THEN(status, apply_entry(reading, &entry, e));
    node_free(&entry);
    return status;
}

/* Moves a position past the first `length` characters of a text. */
static void mark_move(struct mark *mark, const char *text, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        mark->line += text[i] == '\n';
        mark->column = text[i] == '\n' ? 1 : mark->column + 1;
    }
}

enum status matrix_apply_words(struct spec *spec, enum words_origin origin, const char *words,
                               struct error *e)
{
    struct reading reading = {spec, spec->matrix, &spec->config};
    struct mark mark = mark_in(words_files[origin], 1, 1);
    for (;;) {
        size_t blank = strspn(words, " \t\n"), length = word_length(words + blank);
        mark_move(&mark, words, blank);
        words += blank;
        if (length == 0)
            return OK;
        char *word = strndup(words, length);
        if (word == NULL)
            return error_no_memory(e, "SET");
        enum status status = apply_word(&reading, word, words + length, mark, e);
        free(word);
        TRY(status);
        mark_move(&mark, words, length);
        words += length;
    }
}

int matrix_set_column(const char *set, const char *word)
{
    size_t length = strlen(word);
    const char *c = set + strspn(set, " \t\n");
    for (; *c; c += strspn(c, " \t\n")) {
        size_t n = word_length(c);
        if ((n == length || word[length - 1] == '=') && begins(c, word))
            return (int)(c - set) + 1;
        c += n;
    }
    return 0;
}
