/* Checks the story of the claims: hand-written text whose links must show the claims' values and
 * verdicts. */
#include <stdlib.h>
#include <string.h>

#include "bench/base/file.h"
#include "bench/claims/claims.h"
#include "kernels/base/names.h"

static const char begin_mark[] = "<!-- `scalebench claims` checks the links of what follows -->\n";
static const char end_mark[] = "<!-- until here -->\n";

bool story_link_at(struct story_link *link, const char *open)
{
    int depth = 0;
    const char *close = open;
    for (; *close; close++) {
        depth += (*close == '[') - (*close == ']');
        if (depth == 0)
            break;
    }
    const char *end = *close && close[1] == '(' ? strchr(close, ')') : NULL;
    if (end == NULL)
        return false;
    *link = (struct story_link){open + 1, close + 2, (size_t)(close - open) - 1,
                                (size_t)(end - close) - 2};
    return true;
}

/* Reduces the text to the part between begin_mark and end_mark. *line is the line of the original
 * text where this part begins. */
static void cut(char *text, int *line)
{
    char *begin = strstr(text, begin_mark);
    char *own = begin != NULL ? begin + strlen(begin_mark) : text + strlen(text);
    char *end = strstr(own, end_mark);
    *line = 1;
    for (const char *at = text; at < own; at++)
        *line += *at == '\n';
    if (end != NULL)
        *end = '\0';
    memmove(text, own, strlen(own) + 1);
}

enum status claims_read_story(char **text, int *line, const struct claims *c, struct error *e)
{
    char path[PATH_BYTES];
    const char *why;
    size_t size = 0;
    *text = NULL;
    TRY(path_format(path, e, "%s/" STORY_FILE, c->folder));
    if (!path_exists(path) || strcmp(file_name(c->path), "claims.yaml") != 0)
        return OK;
    FILE *in = file_open_stream(path, &why);
    if (in == NULL)
        return error_at(e, ERR_ARGUMENT, path, 0, 0, "cannot be read: %s", why);
    if (getdelim(text, &size, '\0', in) > 0)
        cut(*text, line);
    fclose(in);
    return OK;
}

/* ---- Links ---- */

/* Returns whether `words` is the value, rounded to any number of significant digits from 1 to 9. If
 * `value` is NULL, returns whether `words` is the claim's verdict. */
static bool says(const struct claim *claim, const struct claim_value *value, const char *words)
{
    char text[CLAIM_VALUE_TEXT];
    if (value == NULL)
        return strcmp(claim_verdict_names[claim->verdict], words) == 0;
    for (int digits = 1; digits <= 9; digits++)
        if (strcmp(claim_value_text(text, value, digits), words) == 0)
            return true;
    return false;
}

static void expect(FILE *expected, const struct claim *claim, const struct claim_value *value)
{
    char text[CLAIM_VALUE_TEXT];
    if (ftell(expected) > 0)
        fputs(" or ", expected);
    if (value == NULL)
        fprintf(expected, "%s", claim_verdict_names[claim->verdict]);
    else
        fprintf(expected, "%s %s", value->name, claim_value_text(text, value, 4));
}

/* Returns whether `words` is a value or verdict of a claim at `address` (FILE#L<line>). If not,
 * writes the values or verdicts there to `expected`. */
static bool holds(FILE *expected, const struct claims *c, const char *address, const char *words)
{
    char own[CLAIM_ADDRESS];
    bool verdict = name_index(words, claim_verdict_names, CLAIM_VERDICTS) >= 0;
    for (size_t i = 0; i < c->n; i++)
        for (size_t k = 0; k < (verdict ? 1 : c->claims[i].n); k++) {
            const struct claim_value *value = verdict ? NULL : &c->claims[i].values[k];
            if (strcmp(claim_address(own, value, i), address) != 0)
                continue;
            if (says(&c->claims[i], value, words))
                return true;
            expect(expected, &c->claims[i], value);
        }
    return false;
}

static enum status check_link(FILE *out, const struct claims *c, const struct story_link *link,
                              int line, size_t *wrong, struct error *e)
{
    char words[CLAIM_VALUE_TEXT], address[CLAIM_ADDRESS], *expected = NULL;
    size_t size = 0;
    snprintf(words, sizeof words, "%.*s", (int)link->words_length, link->words);
    snprintf(address, sizeof address, "%.*s", (int)link->address_length, link->address);
    if (strstr(address, "#L") == NULL)
        return OK;
    FILE *memory = open_memstream(&expected, &size);
    if (memory == NULL)
        return error_no_memory(e, "a story");
    bool good = holds(memory, c, address, words);
    fclose(memory);
    if (!good)
        fprintf(out, "%s/" STORY_FILE ":%d: %s: found '%s', expected %s\n", c->folder, line,
                address, words, size > 0 ? expected : "the address of a claim's value");
    *wrong += !good;
    free(expected);
    return OK;
}

enum status claims_check_story(FILE *out, const struct claims *c, size_t *wrong, struct error *e)
{
    char *text;
    int line;
    struct story_link link;
    *wrong = 0;
    TRY(claims_read_story(&text, &line, c, e));
    enum status status = OK;
    for (const char *at = text; at != NULL && *at && status == OK; at++) {
        line += *at == '\n';
        if (*at == '[' && story_link_at(&link, at))
            status = check_link(out, c, &link, line, wrong, e);
    }
    free(text);
    return status;
}
