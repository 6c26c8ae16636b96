#include "bench/collect/table/markup.h"

#include <string.h>

const struct markup markup_markdown = {"| ", " | ", " |\n", "# ", "\n", "\n", "|\\*_<"};
const struct markup markup_latex = {"",    " & ",           " \\\\\n", "\\noindent\\textbf{",
                                    "}\n", "\n\\noindent ", "#$%&_{}"};

/* Returns the LaTeX command that prints a special character. NULL: there is none; the character
 * needs at most a backslash before it. */
static const char *latex_command(char c)
{
    return c == '\\'  ? "\\textbackslash{}"
           : c == '~' ? "\\textasciitilde{}"
           : c == '^' ? "\\textasciicircum{}"
           : c == '<' ? "\\textless{}"
           : c == '>' ? "\\textgreater{}"
                      : NULL;
}

void markup_write_text(FILE *out, const struct markup *m, const char *text)
{
    for (; *text; text++) {
        const char *command = m == &markup_latex ? latex_command(*text) : NULL;
        if (command != NULL) {
            fputs(command, out);
            continue;
        }
        if (strchr(m->special, *text) != NULL)
            fputc('\\', out);
        fputc(*text, out);
    }
}

static void write_often(FILE *out, const char *text, size_t n)
{
    for (size_t i = 0; i < n; i++)
        fputs(text, out);
}

void markup_begin_table(FILE *out, const struct markup *m, size_t numbers, size_t texts)
{
    if (m != &markup_latex)
        return;
    fputs("\\begin{tabular}{", out);
    write_often(out, "r", numbers);
    write_often(out, "l", texts);
    fputs("}\n\\hline\n", out);
}

void markup_end_headers(FILE *out, const struct markup *m, size_t numbers, size_t texts)
{
    if (m == &markup_latex) {
        fputs("\\hline\n", out);
        return;
    }
    fputc('|', out);
    write_often(out, "---:|", numbers);
    write_often(out, "---|", texts);
    fputc('\n', out);
}

void markup_end_table(FILE *out, const struct markup *m)
{
    if (m == &markup_latex)
        fputs("\\hline\n\\end{tabular}\n", out);
}

void markup_write_notes(FILE *out, const struct markup *m, char *notes)
{
    char *rest = NULL;
    for (char *line = strtok_r(notes, "\n", &rest); line != NULL;
         line = strtok_r(NULL, "\n", &rest)) {
        fputs(m->note, out);
        markup_write_text(out, m, line + strspn(line, " "));
        fputc('\n', out);
    }
}
