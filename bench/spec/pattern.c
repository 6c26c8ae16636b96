#include "bench/spec/pattern.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <ctype.h>
#include <pcre2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/base/mem.h"
#include "kernels/base/text.h"

enum {
    STEPS = 10000000,     /* limit of backtracking steps per match (about half a second) */
    HEAP_KIB = 128 << 10, /* limit of memory per match, in KiB */
    ITEMS = 1024,         /* number of items (elements of the regular expression) that the matcher
                             tries between two reads of the clock */
};

struct pattern {
    pcre2_code *code;
    pcre2_match_data *match;
    pcre2_match_context *limits;
    uint32_t group; /* number of the group with the value; 0: the whole match */
    clock_t until;  /* clock() at which a match is stopped */
    unsigned items; /* number of pattern items tried so far; the clock is read every ITEMS items */
};

/* ---- Compile a pattern ---- */

const char *pattern_split(char name[PATTERN_NAME], const char *text)
{
    size_t n = strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789_");
    const char *equals = text + n + strspn(text + n, " ");
    if (n == 0 || n >= PATTERN_NAME || isdigit((unsigned char)text[0]) || *equals != '=')
        return NULL;
    snprintf(name, PATTERN_NAME, "%.*s", (int)n, text);
    equals += 1 + strspn(equals + 1, " ");
    return *equals ? equals : NULL;
}

static enum status no_memory(struct error *e)
{
    return error_no_memory(e, "a pattern");
}

/* Returns the PCRE2 compile options for a pattern. Output may contain any byte, so an ASCII pattern
 * matches bytes. Any other pattern matches UTF-8 characters and skips invalid bytes. */
static uint32_t options_for(const char *source)
{
    size_t size = strlen(source);
    bool ascii = true;
    for (size_t i = 0; i < size; i++)
        ascii = ascii && isascii((unsigned char)source[i]);
    return PCRE2_AUTO_CALLOUT |
           (ascii ? PCRE2_NEVER_UTF : PCRE2_MATCH_INVALID_UTF | PCRE2_NEVER_BACKSLASH_C);
}

static enum status compile(struct pattern *p, const char *text, const char *source, size_t *at,
                           struct error *e)
{
    int code;
    char why[256];
    PCRE2_SIZE offset;
    p->code = pcre2_compile((PCRE2_SPTR)source, PCRE2_ZERO_TERMINATED, options_for(source), &code,
                            &offset, NULL);
    if (p->code != NULL)
        return OK;
    if (code == PCRE2_ERROR_HEAP_FAILED)
        return no_memory(e);
    pcre2_get_error_message(code, (PCRE2_UCHAR *)why, sizeof why);
    size_t before = text_characters(source, offset);
    *at = (size_t)(source - text) + before;
    return error_set(e, ERR_SPEC, "%s at character %zu of the pattern", why, before + 1);
}

static enum status choose_group(struct pattern *p, struct error *e)
{
    uint32_t groups, names;
    PCRE2_SPTR table; /* named groups: number of the group in two bytes, then its name */
    pcre2_pattern_info(p->code, PCRE2_INFO_CAPTURECOUNT, &groups);
    pcre2_pattern_info(p->code, PCRE2_INFO_NAMECOUNT, &names);
    pcre2_pattern_info(p->code, PCRE2_INFO_NAMETABLE, &table);
    int group = names > 1    ? pcre2_substring_number_from_name(p->code, (PCRE2_SPTR) "value")
                : names == 1 ? table[0] << 8 | table[1]
                : groups > 1 ? -1
                             : (int)groups;
    if (group < 0)
        return error_set(e, ERR_SPEC,
                         "expected one group around the number, such as ([0-9.]+), or a group "
                         "named value; found %u groups. Write (?<value>...) around the number, or "
                         "(?:...) for the other groups",
                         groups);
    p->group = (uint32_t)group;
    return OK;
}

/* ---- Limits ---- */

/* Stops a match that takes too long; called before each item of the pattern. The limit of steps
 * does not suffice: "a+$" never backtracks, but its time is quadratic in the line's length. */
static int check_time(pcre2_callout_block *block, void *data)
{
    struct pattern *p = data;
    return ++p->items % ITEMS == 0 && clock() > p->until ? PCRE2_ERROR_MATCHLIMIT : 0;
}

static enum status set_limits(struct pattern *p, struct error *e)
{
    p->match = pcre2_match_data_create_from_pattern(p->code, NULL);
    p->limits = pcre2_match_context_create(NULL);
    if (p->match == NULL || p->limits == NULL)
        return no_memory(e);
    pcre2_set_match_limit(p->limits, STEPS);
    pcre2_set_heap_limit(p->limits, HEAP_KIB);
    pcre2_set_callout(p->limits, check_time, p);
    return OK;
}

enum status pattern_open(struct pattern **pattern, const char *text, size_t *at, struct error *e)
{
    char name[PATTERN_NAME];
    const char *source = pattern_split(name, text);
    *pattern = NULL;
    *at = 0;
    if (source == NULL)
        return error_set(e, ERR_SPEC,
                         "expected \"name = pattern\", with a name of at most %d lower-case "
                         "letters, digits and _",
                         PATTERN_NAME - 1);
    TRY(MEM_NEW(*pattern, 1, "a pattern", e));
    TRY(compile(*pattern, text, source, at, e));
    TRY(choose_group(*pattern, e));
    return set_limits(*pattern, e);
}

void pattern_free(struct pattern *pattern)
{
    if (pattern == NULL)
        return;
    pcre2_match_data_free(pattern->match);
    pcre2_match_context_free(pattern->limits);
    pcre2_code_free(pattern->code);
    free(pattern);
}

/* ---- Match a line ---- */

static enum status refuse(int code, struct error *e)
{
    char why[256];
    if (code == PCRE2_ERROR_NOMEMORY)
        return no_memory(e);
    if (code == PCRE2_ERROR_MATCHLIMIT || code == PCRE2_ERROR_HEAPLIMIT)
        return error_set(e, ERR_DATA,
                         "matching takes too much %s. Avoid nested repetitions, such as (a+)*, or "
                         "use fewer repetitions",
                         code == PCRE2_ERROR_MATCHLIMIT ? "time" : "memory");
    pcre2_get_error_message(code, (PCRE2_UCHAR *)why, sizeof why);
    return error_set(e, ERR_DATA, "%s", why);
}

enum status pattern_find(struct pattern *pattern, const char *line, size_t size, clock_t until,
                         struct pattern_value *value, struct error *e)
{
    *value = (struct pattern_value){.text = NULL};
    pattern->until = until;
    int code =
        pcre2_match(pattern->code, (PCRE2_SPTR)line, size, 0, 0, pattern->match, pattern->limits);
    if (code == PCRE2_ERROR_NOMATCH)
        return OK;
    if (code < 0)
        return refuse(code, e);
    const PCRE2_SIZE *ends = pcre2_get_ovector_pointer(pattern->match) + 2 * pattern->group;
    value->text = line;
    if (ends[0] < ends[1]) /* with \K in a lookahead, a match may end before it begins */
        *value = (struct pattern_value){.text = line + ends[0], .size = ends[1] - ends[0]};
    return OK;
}

/* ---- Replace matches ---- */

static int substitute(char *to, PCRE2_SIZE size, const char *from, const char *source,
                      const char *with)
{
    int code;
    PCRE2_SIZE offset;
    pcre2_code *compiled =
        pcre2_compile((PCRE2_SPTR)source, PCRE2_ZERO_TERMINATED, 0, &code, &offset, NULL);
    if (compiled == NULL)
        return code;
    code = pcre2_substitute(compiled, (PCRE2_SPTR)from, PCRE2_ZERO_TERMINATED, 0,
                            PCRE2_SUBSTITUTE_GLOBAL | PCRE2_SUBSTITUTE_UNSET_EMPTY, NULL, NULL,
                            (PCRE2_SPTR)with, PCRE2_ZERO_TERMINATED, (PCRE2_UCHAR *)to, &size);
    pcre2_code_free(compiled);
    return code;
}

enum status pattern_replace(char **text, const char *source, const char *with, struct error *e)
{
    size_t size = strlen(*text) + 1;
    char *to = malloc(size);
    int code = to != NULL ? substitute(to, size, *text, source, with) : PCRE2_ERROR_NOMEMORY;
    if (code < 0) {
        free(to);
        return refuse(code, e);
    }
    free(*text);
    *text = to;
    return OK;
}
