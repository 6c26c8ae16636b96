#include "bench/page/html.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench/base/file.h"
#include "bench/spec/value.h"
#include "kernels/base/terminal.h"
#include "kernels/base/text.h"

static const char *entity(char c)
{
    return c == '&' ? "&amp;" : c == '<' ? "&lt;" : c == '>' ? "&gt;" : c == '"' ? "&quot;" : NULL;
}

/* Control characters have no place in a page, but for ends of lines and tabs. */
void html_text(FILE *out, const char *text)
{
    char shown[TERMINAL_SHOWN];
    for (size_t bytes; *text; text += bytes) {
        unsigned char c = (unsigned char)*text;
        bytes = terminal_show(shown, text);
        if (entity(*text) != NULL)
            fputs(entity(*text), out);
        else if (c >= 0x80)
            fputs(shown, out);
        else
            fputc((c < ' ' && c != '\n' && c != '\t') || c == 0x7f ? ' ' : c, out);
    }
}

void html_processor(FILE *out, const char *name, const char *caches)
{
    fputs("<td>", out);
    html_text(out, name);
    if (caches[0]) {
        fputs("<small>caches ", out);
        html_text(out, caches);
        fputs("</small>", out);
    }
    fputs("</td>", out);
}

void html_day(FILE *out, const char *at)
{
    char day[sizeof "2026-11-20"];
    snprintf(day, sizeof day, "%s", at);
    html_text(out, day);
}

void html_address(FILE *out, const char *text)
{
    for (; *text; text++)
        if (isalnum((unsigned char)*text) || strchr("-_.~,", *text) != NULL)
            fputc(*text, out);
        else
            fprintf(out, "%%%02X", (unsigned char)*text);
}

void html_id(char *id, size_t size, const char *text)
{
    size_t n = 0;
    for (; *text && n + 1 < size; text++)
        id[n++] = isalnum((unsigned char)*text) || *text == '_' ? *text : '-';
    id[n] = '\0';
}

bool html_is_number(const char *cell)
{
    double x;
    return *cell == '\0' || number_parse(cell, &x);
}

void html_cell(FILE *out, const char *cell, bool number)
{
    double x;
    char text[TEXT_NUMBER];
    bool round =
        number && strlen(cell) > 6 && strpbrk(cell, ".e") != NULL && number_parse(cell, &x);
    if (round) {
        fputs("<td class=\"n\" title=\"", out);
        html_text(out, cell);
        fprintf(out, "\">%s", fabs(x) < 1e-3 ? text_real(text, x) : text_significant(text, x, 5));
    } else {
        fputs(number ? "<td class=\"n\">" : "<td>", out);
        html_text(out, cell);
    }
    fputs("</td>", out);
}

/* What `print` prints; *text is freed by the caller in any case. */
static enum status take_text(char **text, html_printer *print, const void *what, struct error *e)
{
    size_t size = 0;
    *text = NULL;
    FILE *memory = open_memstream(text, &size);
    if (memory == NULL)
        return error_no_memory(e, "a page");
    print(memory, what);
    return fclose(memory) == 0 ? OK : error_no_memory(e, "a page");
}

/* The text loses its line breaks. */
static void write_lines(FILE *out, const char *tag, char *text)
{
    char *rest = NULL;
    for (char *line = strtok_r(text, "\n", &rest); line != NULL;
         line = strtok_r(NULL, "\n", &rest)) {
        fprintf(out, "<%s>", tag);
        html_text(out, line + strspn(line, " "));
        fprintf(out, "</%s>\n", tag);
    }
}

enum status html_paragraphs(FILE *out, const char *tag, html_printer *print, const void *what,
                            struct error *e)
{
    char *text;
    enum status status = take_text(&text, print, what, e);
    if (status == OK)
        write_lines(out, tag, text);
    free(text);
    return status;
}

static size_t count_lines(const char *text)
{
    size_t n = 0;
    for (; (text = strchr(text, '\n')) != NULL; text++)
        n++;
    return n;
}

enum status html_findings(FILE *out, html_printer *print, const void *what, struct error *e)
{
    enum { LINES_SHOWN = 20 };
    static const char title[] = "What its numbers say";
    char *text;
    enum status status = take_text(&text, print, what, e);
    size_t lines = status == OK ? count_lines(text) : 0;
    bool folded = lines > LINES_SHOWN;
    if (folded)
        fprintf(out, "<details><summary>%s, %zu lines</summary>\n", title, lines);
    else
        fprintf(out, "<h3 class=\"small\">%s</h3>\n", title);
    fputs("<ul class=\"findings\">\n", out);
    if (status == OK)
        write_lines(out, "li", text);
    fprintf(out, "</ul>\n%s", folded ? "</details>\n" : "");
    free(text);
    return status;
}

/* ---- Files ---- */

static enum status copy(FILE *out, FILE *in, const char *path, struct error *e)
{
    char bytes[16384];
    size_t n;
    while ((n = fread(bytes, 1, sizeof bytes, in)) > 0)
        fwrite(bytes, 1, n, out);
    return ferror(in) ? error_at(e, ERR_SYSTEM, path, 0, 0, "cannot be read") : OK;
}

static enum status read_to(FILE *out, const char *path, struct error *e)
{
    const char *why;
    FILE *in = file_open_stream(path, &why);
    if (in == NULL)
        return error_at(e, ERR_SYSTEM, path, 0, 0, "cannot be read: %s", why);
    enum status status = copy(out, in, path, e);
    fclose(in);
    return status;
}

enum status html_read(char **text, const char *path, struct error *e)
{
    size_t size = 0;
    *text = NULL;
    FILE *memory = open_memstream(text, &size);
    if (memory == NULL)
        return error_no_memory(e, "a page");
    enum status status = read_to(memory, path, e);
    if (fclose(memory) != 0 && status == OK)
        status = error_no_memory(e, "a page");
    return status;
}

enum status html_file(FILE *out, const char *path, bool escaped, struct error *e)
{
    char *text;
    if (!escaped)
        return read_to(out, path, e);
    enum status status = html_read(&text, path, e);
    if (status == OK)
        html_text(out, text);
    free(text);
    return status;
}
