#include "bench/page/picture.h"

#include <stdlib.h>
#include <string.h>

#include "bench/page/html.h"

/* What an id, or what refers to one, stands behind inside a tag. */
static const char *const marks[] = {" id='", " id=\"", "href='#", "href=\"#", "url(#"};
enum { MARKS = sizeof marks / sizeof *marks };

/* The mark that `text` begins with, or NULL. */
static const char *mark_at(const char *text)
{
    for (size_t i = 0; i < MARKS; i++)
        if (strncmp(text, marks[i], strlen(marks[i])) == 0)
            return marks[i];
    return NULL;
}

/* An element from its opening tag on, all of it. */
static const char *skip_element(const char *text, const char *open, const char *close)
{
    if (strncmp(text, open, strlen(open)) != 0)
        return text;
    const char *end = strstr(text, close);
    return end != NULL ? end + strlen(close) : text;
}

static const char *skip_titles(const char *text)
{
    return skip_element(skip_element(text, "<title>", "</title>"), "<desc>", "</desc>");
}

/* Where the tag begins that the first `length` bytes end with, blanks after it aside, if it opens a group; else
 * `length`. */
static size_t group_at_end(const char *text, size_t length)
{
    size_t end = length;
    while (end > 0 && strchr(" \t\n", text[end - 1]) != NULL)
        end--;
    if (end < 3 || text[end - 1] != '>' || text[end - 2] == '/')
        return length;
    size_t begin = end - 1;
    while (begin > 0 && text[begin] != '<')
        begin--;
    return strncmp(text + begin, "<g ", 3) == 0 || strncmp(text + begin, "<g>", 3) == 0 ? begin
                                                                                        : length;
}

/* gnuplot opens a group wherever it may be about to draw: two of five hold nothing. */
static void drop_empty_groups(char *text)
{
    static const char close[] = "</g>";
    size_t length = 0;
    for (const char *from = text; *from;) {
        size_t begin = length;
        if (strncmp(from, close, sizeof close - 1) == 0)
            begin = group_at_end(text, length);
        if (begin < length) {
            length = begin;
            from += sizeof close - 1;
        } else {
            text[length++] = *from++;
        }
    }
    text[length] = '\0';
}

/* gnuplot writes '<' and '>' of texts as entities, so that each one is the end of a tag. */
static void write_content(FILE *out, const char *text, const char *id)
{
    bool inside = false;
    while (*text) {
        text = inside ? text : skip_titles(text);
        const char *mark = inside ? mark_at(text) : NULL;
        if (mark != NULL) {
            fprintf(out, "%s%s-", mark, id);
            text += strlen(mark);
        } else if (*text) {
            inside = *text == '<' || (inside && *text != '>');
            fputc(*text++, out);
        }
    }
}

/* Figures as wide as a page of text, not a column: beside their numbers they could not be read. */
#define WIDE 600

enum status picture_write(FILE *out, const char *path, const char *id, struct error *e)
{
    char *text;
    float width, height;
    enum status status = html_read(&text, path, e);
    if (status == OK)
        drop_empty_groups(text);
    const char *svg = status == OK ? strstr(text, "<svg") : NULL;
    const char *box = svg != NULL ? strstr(svg, "viewBox=\"") : NULL;
    const char *content = box != NULL ? strchr(box, '>') : NULL;
    if (status == OK &&
        (content == NULL || sscanf(box, "viewBox=\"0 0 %f %f", &width, &height) != 2))
        status = error_at(e, ERR_DATA, path, 0, 0, "no picture as gnuplot writes them");
    if (status == OK) {
        fprintf(
            out,
            "<svg class=\"chart%s\" viewBox=\"0 0 %g %g\" style=\"max-width:%gpx\" role=\"img\" "
            "aria-labelledby=\"%s-title\" aria-describedby=\"%s-caption\" "
            "xmlns=\"http://www.w3.org/2000/svg\" xmlns:xlink=\"http://www.w3.org/1999/xlink\">",
            width > WIDE ? " wide" : "", width, height, 1.15 * width, id, id);
        write_content(out, content + 1, id);
    }
    free(text);
    return status;
}
