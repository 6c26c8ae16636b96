#include "bench/page/markdown.h"

#include <stdbool.h>
#include <string.h>

#include "bench/page/html.h"
#include "kernels/base/text.h"

/* ---- Within a line ---- */

/* The bracket that closes the one at `open`, others in pairs between them; NULL: none does. */
static char *find_close(char *open)
{
    int depth = 0;
    for (char *at = open; *at; at++) {
        depth += (*at == '[') - (*at == ']');
        if (depth == 0)
            return at;
    }
    return NULL;
}

/* "[words](address)" at `open`, its end in *rest; false: a bracket of the text. */
static bool write_link(FILE *out, char *open, char **rest)
{
    char *close = find_close(open);
    char *end = close != NULL && close[1] == '(' ? strchr(close + 2, ')') : NULL;
    if (end == NULL)
        return false;
    *close = *end = '\0';
    bool here = close[2] == '#';
    if (here) {
        fputs("<a href=\"", out);
        html_text(out, close + 2);
        fputs("\">", out);
    }
    html_text(out, open + 1);
    fputs(here ? "</a>" : "", out);
    *rest = end + 1;
    return true;
}

/* The beginning or, every second time, the end of what `mark` encloses. */
static char *write_tag(FILE *out, char *at, const char *mark, const char *tag, bool *inside)
{
    fprintf(out, "<%s%s>", *inside ? "/" : "", tag);
    *inside = !*inside;
    return at + strlen(mark);
}

static void write_line(FILE *out, char *text)
{
    bool strong = false, code = false;
    while (*text) {
        size_t plain = strcspn(text, "[*`");
        char first = text[plain];
        text[plain] = '\0';
        html_text(out, text);
        text += plain;
        *text = first;
        if (first == '[' && write_link(out, text, &text))
            continue;
        if (first == '`')
            text = write_tag(out, text, "`", "code", &code);
        else if (strncmp(text, "**", 2) == 0)
            text = write_tag(out, text, "**", "strong", &strong);
        else if (first)
            fputc(*text++, out);
    }
}

/* ---- Blocks ---- */

/* A line between its first and its last stroke. */
static void write_row(FILE *out, char *line, const char *tag)
{
    fputs("<tr>", out);
    char *last = strrchr(line, '|');
    *last = '\0';
    for (char *rest = last > line ? line + 1 : NULL, *cell; (cell = strsep(&rest, "|")) != NULL;) {
        text_trim(cell);
        fprintf(out, "<%s class=\"wrap\">", tag);
        write_line(out, cell);
        fprintf(out, "</%s>", tag);
    }
    fputs("</tr>\n", out);
}

/* In the order of its text, which no header sorts. The second line says how columns are aligned. */
static void write_table(FILE *out, char *text)
{
    fputs("<div class=\"scroll\"><table class=\"told\"><thead>", out);
    write_row(out, strsep(&text, "\n"), "th");
    fputs("</thead><tbody>\n", out);
    strsep(&text, "\n");
    for (char *line; (line = strsep(&text, "\n")) != NULL;)
        if (line[0] == '|')
            write_row(out, line, "td");
    fputs("</tbody></table></div>\n", out);
}

static void write_block(FILE *out, char *text)
{
    static const char heading[] = "## ";
    bool titled = strncmp(text, heading, strlen(heading)) == 0;
    if (text[0] == '|') {
        write_table(out, text);
        return;
    }
    fputs(titled ? "<h3>" : "<p>", out);
    write_line(out, text + (titled ? strlen(heading) : 0));
    fputs(titled ? "</h3>\n" : "</p>\n", out);
}

void markdown_write_html(FILE *out, char *text)
{
    while (text != NULL) {
        char *end = strstr(text, "\n\n");
        if (end != NULL)
            *end = '\0';
        text += strspn(text, "\n");
        if (*text)
            write_block(out, text);
        text = end != NULL ? end + 2 : NULL;
    }
}
