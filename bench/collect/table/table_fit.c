/* Fits the table and the text around it to the width of a terminal. */
#include <stdlib.h>
#include <string.h>

#include "bench/collect/summary.h"
#include "bench/collect/table/table.h"
#include "kernels/base/terminal.h"

static int width_of(const struct table *t)
{
    int width = 2 * ((int)t->n - 1);
    for (size_t c = 0; c < t->n; c++)
        width += t->widths[c];
    return width;
}

static void remove_column(struct table *t, size_t c)
{
    t->n--;
    t->n_options -= c < t->n_options;
    memmove(&t->columns[c], &t->columns[c + 1], (t->n - c) * sizeof t->columns[0]);
    memmove(&t->widths[c], &t->widths[c + 1], (t->n - c) * sizeof t->widths[0]);
}

/* Returns whether column c has equal text in every row, and copies the text. Ignores results of
 * points that were not measured. */
static bool is_same(const struct table *t, size_t c, char text[TABLE_CELL])
{
    size_t rows = 0;
    strcpy(text, "-");
    for (size_t i = 0; i < t->s->n; i++) {
        char cell[TABLE_CELL];
        const struct point_summary *p = &t->s->points[i];
        if (c >= t->n_options && !t->columns[c].published && !point_was_measured(p))
            continue;
        table_cell(cell, t, c, p);
        if (rows++ > 0 && strcmp(cell, text) != 0)
            return false;
        strcpy(text, cell);
    }
    return true;
}

/* Returns the column with the lowest priority below `most`; t->n: none. `same`: considers only
 * columns that are equal in all rows. */
static size_t least_column(const struct table *t, bool same, int most)
{
    size_t least = t->n;
    for (size_t c = 0; c < t->n; c++) {
        char text[TABLE_CELL];
        int worth = t->columns[c].worth;
        if (worth < most && (!same || is_same(t, c, text))) {
            least = c;
            most = worth;
        }
    }
    return least;
}

static int excess_of(const struct table *t, int width)
{
    int excess = width > 0 ? width_of(t) - width : 0;
    return excess > 0 ? excess : 0;
}

/* Narrows columns of options until the table fits. No column gets narrower than `least` terminal
 * columns or its header. */
static void shorten_texts(struct table *t, int width, int least)
{
    for (size_t c = 0; c < t->n_options; c++) {
        int header = terminal_columns(t->columns[c].header);
        int floor = least > header ? least : header, excess = excess_of(t, width);
        if (t->widths[c] > floor)
            t->widths[c] = t->widths[c] - excess > floor ? t->widths[c] - excess : floor;
    }
}

static void lift_same_columns(struct table *t, int width)
{
    size_t c;
    char text[TABLE_CELL], named[2 * TABLE_CELL];
    while (excess_of(t, width) > 0 && (c = least_column(t, true, TABLE_WORTH_ALL)) < t->n) {
        is_same(t, c, text);
        snprintf(named, sizeof named, "%s%s%s", t->columns[c].header, text[0] ? " " : "", text);
        if (strcmp(text, "-") != 0)
            text_join(t->same, sizeof t->same, ", ", named);
        remove_column(t, c);
    }
}

static void leave_out_columns(struct table *t, int width, int most)
{
    size_t c;
    while (excess_of(t, width) > 0 && (c = least_column(t, false, most)) < t->n) {
        text_join(t->left_out, sizeof t->left_out, ", ", t->columns[c].header);
        remove_column(t, c);
    }
}

void table_fit(struct table *t, int width)
{
    lift_same_columns(t, width);
    shorten_texts(t, width, 24);
    leave_out_columns(t, width, TABLE_WORTH_TIMES);
    shorten_texts(t, width, 8);
    leave_out_columns(t, width, TABLE_WORTH_KEPT);
}

void table_print_padded(FILE *out, const char *text, int width)
{
    int columns = terminal_columns(text), head = (width - 2) / 2;
    if (columns <= width) {
        fprintf(out, "%*s%s", width - columns, "", text);
        return;
    }
    size_t bytes = terminal_fit(text, head);
    const char *tail = text + bytes;
    head = columns - terminal_columns(tail);
    while (terminal_columns(tail) > width - 2 - head)
        do
            tail++;
        while (((unsigned char)*tail & 0xc0) == 0x80); /* skip the rest of a UTF-8 character */
    fprintf(out, "%*s%.*s..%s", width - 2 - head - terminal_columns(tail), "", (int)bytes, text,
            tail);
}

/* Returns the length of the line if it fits in `width`, otherwise the offset at which to break it.
 * Breaks at two adjacent blanks in the second half of the width, because a remark follows them.
 * Otherwise breaks at the last blank that fits, or after the first word if no blank fits. */
static size_t break_of(const char *line, int width)
{
    size_t fits = terminal_fit(line, width), start = strspn(line, " ");
    if (!line[fits])
        return fits;
    size_t at = fits;
    while (at > fits / 2 && at > start && strncmp(line + at, "  ", 2) != 0)
        at--;
    if (at > fits / 2 && at > start)
        return at;
    at = fits;
    while (at > start && line[at] != ' ')
        at--;
    return at > start ? at : fits + strcspn(line + fits, " ");
}

static void print_line(FILE *out, const char *line, int width)
{
    const int indent = 4;
    size_t length;
    for (int room = width; width > 0 && line[length = break_of(line, room)];
         room = width > indent ? width - indent : 1) {
        size_t end = length;
        while (end > 0 && line[end - 1] == ' ')
            end--;
        fprintf(out, "%.*s\n%*s", (int)end, line, indent, "");
        line += length + strspn(line + length, " ");
    }
    fprintf(out, "%s\n", line);
}

void table_print_lines(FILE *out, char *text, int width)
{
    char *rest = text;
    for (char *line; (line = strsep(&rest, "\n")) != NULL && rest != NULL;) {
        size_t size = 4 * strlen(line) + 1;
        char *clean = malloc(size);
        print_line(out, clean != NULL ? terminal_clean(clean, size, line) : "no memory for a line",
                   width);
        free(clean);
    }
}
