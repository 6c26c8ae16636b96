/* The story: a text whose numbers and verdicts are those of claims, and whose words go by them. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench/base/file.h"
#include "bench/claims/claims.h"
#include "kernels/base/names.h"
#include "kernels/base/text.h"

static const char begin_mark[] = "<!-- `make claims` writes what follows, from story.md -->\n";
static const char end_mark[] = "<!-- until here -->\n";

/* What stands between "{{" and "}}": claim[:value[:digits]]. */
struct place {
    char words[256];
    const char *claim, *value;
    int digits;
};

struct telling {
    const struct claims *c;
    const char *path; /* of the text */
    FILE *out;
    claim_address_writer *address; /* of its links, with `arg` */
    const void *arg;
    const struct claim *of; /* by whose verdict words are being chosen; NULL: by none */
    unsigned covered;       /* verdicts that have words, a bit each */
    bool silent;            /* these are not the words */
};

#define ALL_VERDICTS ((1u << CLAIM_VERDICTS) - 1)

static enum status refuse(const struct telling *t, int line, const char *what, const char *why,
                          struct error *e)
{
    return error_at(e, ERR_SPEC, t->path, line, 0, "'%s': %s", what, why);
}

static enum status split(struct place *place, const struct telling *t, const char *text,
                         size_t length, int line, struct error *e)
{
    *place = (struct place){.digits = 3};
    if (length >= sizeof place->words)
        return refuse(t, line, "{{", "more than 255 characters up to }}", e);
    snprintf(place->words, sizeof place->words, "%.*s", (int)length, text);
    char *rest = place->words;
    place->claim = strsep(&rest, ":");
    place->value = strsep(&rest, ":");
    if (rest != NULL && (rest[0] < '1' || rest[0] > '9' || rest[1] != '\0'))
        return refuse(t, line, rest, "not a number of digits from 1 to 9", e);
    if (rest != NULL)
        place->digits = rest[0] - '0';
    return OK;
}

static void write_link(const struct telling *t, const char *words, size_t row,
                       const struct claim_value *value)
{
    fprintf(t->out, "[%s](", words);
    t->address(t->out, t->arg, row, value);
    fputc(')', t->out);
}

static void write_value(const struct telling *t, const struct claim_value *value, size_t row,
                        int digits)
{
    char text[TEXT_INTERVAL];
    struct interval shown = value->number;
    bool exact = shown.lo == shown.hi;
    if (exact)
        shown.lo = shown.hi = NAN;
    const char *words = "not measured yet";
    if (value->word != NULL)
        words = value->word;
    else if (!isnan(shown.mid))
        words = exact && shown.mid == trunc(shown.mid) ? text_whole(text, shown.mid)
                                                       : text_interval(text, &shown, digits);
    write_link(t, words, row, value);
}

static enum status find_claim(size_t *i, const struct telling *t, const char *id, int line,
                              struct error *e)
{
    *i = 0;
    while (*i < t->c->n && strcmp(t->c->claims[*i].id, id) != 0)
        ++*i;
    return *i < t->c->n ? OK : refuse(t, line, id, "no such claim", e);
}

static enum status tell(const struct telling *t, const struct place *place, int line,
                        struct error *e)
{
    size_t i, k = 0;
    TRY(find_claim(&i, t, place->claim, line, e));
    const struct claim *claim = &t->c->claims[i];
    while (place->value != NULL && k < claim->n && strcmp(claim->values[k].name, place->value) != 0)
        k++;
    if (place->value != NULL && k == claim->n)
        return refuse(t, line, place->value, "no value of that claim", e);
    if (t->silent)
        return OK;
    if (place->value != NULL)
        write_value(t, &claim->values[k], i, place->digits);
    else
        write_link(t, claim_verdict_names[claim->verdict], i, NULL);
    return OK;
}

/* ---- Words by verdict: {{when report/name: fails, undecided}} ... {{or survives}} ... {{else}} ... {{end}} ---- */

/* The words that follow are for these verdicts, "fails, undecided". */
static enum status choose(struct telling *t, char *verdicts, int line, struct error *e)
{
    char why[256], *name;
    t->silent = true;
    while ((name = strsep(&verdicts, ",")) != NULL) {
        text_trim(name);
        int verdict = name_index(name, claim_verdict_names, CLAIM_VERDICTS);
        if (verdict < 0)
            return error_at(
                e, ERR_SPEC, t->path, line, 0, "%s",
                name_explain(why, sizeof why, name, claim_verdict_names, CLAIM_VERDICTS));
        if (t->covered & 1u << verdict)
            return refuse(t, line, name, "has its words already", e);
        t->covered |= 1u << verdict;
        t->silent &= t->of->verdict != (enum claim_verdict)verdict;
    }
    return OK;
}

static enum status begin_choice(struct telling *t, char *words, int line, struct error *e)
{
    size_t i;
    char *id = strsep(&words, ":");
    text_trim(id);
    if (t->of != NULL)
        return refuse(t, line, id, "words by one verdict stand inside those by another", e);
    if (words == NULL)
        return refuse(t, line, id, "a colon and verdicts are expected behind it", e);
    TRY(find_claim(&i, t, id, line, e));
    t->of = &t->c->claims[i];
    t->covered = 0;
    return choose(t, words, line, e);
}

/* The rest of the verdicts. */
static void choose_else(struct telling *t)
{
    t->silent = t->covered & 1u << t->of->verdict;
    t->covered = ALL_VERDICTS;
}

/* None may be without words: it will be the one that a later run comes to. */
static enum status end_choice(struct telling *t, int line, struct error *e)
{
    for (int i = 0; i < CLAIM_VERDICTS; i++)
        if (!(t->covered & 1u << i))
            return refuse(t, line, t->of->id, "no words for every verdict; {{else}} has the rest",
                          e);
    t->of = NULL;
    t->silent = false;
    return OK;
}

/* *chooses: the words are not those of a claim's verdict or value. */
static enum status take_choice(struct telling *t, char *words, bool *chooses, int line,
                               struct error *e)
{
    char *rest = words, *first = strsep(&rest, " ");
    bool when = strcmp(first, "when") == 0, or = strcmp(first, "or") == 0;
    bool otherwise = strcmp(first, "else") == 0, end = strcmp(first, "end") == 0;
    *chooses = when || or || otherwise || end;
    if (!*chooses)
        return OK;
    if ((when || or) && rest == NULL)
        return refuse(t, line, first, "nothing stands behind it", e);
    if (when)
        return begin_choice(t, rest, line, e);
    if (t->of == NULL)
        return refuse(t, line, first, "no {{when}} before it", e);
    if (or)
        return choose(t, rest, line, e);
    if (end)
        return end_choice(t, line, e);
    choose_else(t);
    return OK;
}

/* ---- The text ---- */

static enum status tell_place(struct telling *t, const char *text, size_t length, int line,
                              struct error *e)
{
    struct place place;
    char words[sizeof place.words];
    bool chooses = false;
    snprintf(words, sizeof words, "%.*s", (int)length, text);
    TRY(take_choice(t, words, &chooses, line, e));
    if (chooses)
        return OK;
    TRY(split(&place, t, text, length, line, e));
    return tell(t, &place, line, e);
}

static enum status tell_text(struct telling *t, const char *text, struct error *e)
{
    int line = 1;
    const char *open;
    while ((open = strstr(text, "{{")) != NULL) {
        const char *close = strstr(open, "}}");
        for (const char *at = text; at < open; at++)
            line += *at == '\n';
        if (close == NULL)
            return refuse(t, line, "{{", "not closed by }}", e);
        if (!t->silent)
            fwrite(text, 1, (size_t)(open - text), t->out);
        TRY(tell_place(t, open + 2, (size_t)(close - open) - 2, line, e));
        text = close + 2;
    }
    if (t->of != NULL)
        return refuse(t, line, t->of->id, "not ended by {{end}}", e);
    fputs(text, t->out);
    return OK;
}

/* A file as one text, the caller's to free. */
static enum status read_text(char **text, const char *path, struct error *e)
{
    const char *why;
    size_t size = 0;
    FILE *in = file_open_stream(path, &why);
    *text = NULL;
    if (in == NULL)
        return error_at(e, ERR_ARGUMENT, path, 0, 0, "cannot read: %s", why);
    bool there = getdelim(text, &size, '\0', in) > 0;
    fclose(in);
    return there ? OK : error_at(e, ERR_DATA, path, 0, 0, "nothing stands there");
}

struct page {
    const struct claims *c;
    const char *path, *story, *before; /* of the story; its text; the page as it was */
};

static void address_of_row(FILE *out, const void *arg, size_t index,
                           const struct claim_value *value)
{
    claim_write_address(out, value, index);
}

static enum status write_page(FILE *out, const void *arg, struct error *e)
{
    const struct page *page = arg;
    const char *begin = strstr(page->before, begin_mark);
    const char *end = begin != NULL ? strstr(begin, end_mark) : NULL;
    if (end == NULL)
        return error_at(e, ERR_DATA, page->path, 0, 0,
                        "the page lacks the lines between which its story stands");
    fwrite(page->before, 1, (size_t)(begin - page->before) + strlen(begin_mark), out);
    struct telling telling = {
        .c = page->c, .path = page->path, .out = out, .address = address_of_row};
    TRY(tell_text(&telling, page->story, e));
    fputs(end, out);
    return OK;
}

enum status claims_write_story(const struct claims *c, struct error *e)
{
    char path[PATH_BYTES], to[PATH_BYTES];
    char *story = NULL, *before = NULL;
    TRY(path_format(path, e, "%s/story.md", c->folder));
    TRY(path_format(to, e, "%s/README.md", c->folder));
    if (!path_exists(path))
        return OK;
    enum status status = read_text(&story, path, e);
    THEN(status, read_text(&before, to, e));
    THEN(status, file_write(to, write_page, &(struct page){c, path, story, before}, e));
    free(story);
    free(before);
    return status;
}

static enum status tell_to_memory(char **text, struct telling *t, const char *story,
                                  struct error *e)
{
    size_t size = 0;
    t->out = open_memstream(text, &size);
    if (t->out == NULL)
        return error_no_memory(e, "a story");
    enum status status = tell_text(t, story, e);
    if (fclose(t->out) != 0 && status == OK)
        status = error_no_memory(e, "a story");
    return status;
}

enum status claims_tell_story(char **text, const struct claims *c, claim_address_writer *address,
                              const void *arg, struct error *e)
{
    char path[PATH_BYTES], *story;
    struct telling telling = {.c = c, .path = path, .address = address, .arg = arg};
    *text = NULL;
    TRY(path_format(path, e, "%s/story.md", c->folder));
    if (!path_exists(path))
        return OK;
    enum status status = read_text(&story, path, e);
    THEN(status, tell_to_memory(text, &telling, story, e));
    free(story);
    return status;
}
