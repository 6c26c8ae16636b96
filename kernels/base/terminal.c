#include "kernels/base/terminal.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>

/* Returns the code point of one UTF-8 character and sets *bytes to its length. For invalid UTF-8
 * (RFC 3629), returns a negative number and sets *bytes to 1. */
static int32_t decode(const char *text, size_t *bytes)
{
    static const int32_t least[] = {0, 0x80, 0x800, 0x10000};
    const unsigned char *c = (const unsigned char *)text;
    size_t more = c[0] < 0x80 ? 0 : c[0] < 0xc2 ? 9 : c[0] < 0xe0 ? 1 : c[0] < 0xf0 ? 2 : 3;
    int32_t code = more == 0 ? c[0] : c[0] & (0x3f >> more);
    *bytes = 1;
    if (c[0] > 0xf4 || more > 3)
        return -1;
    for (size_t i = 1; i <= more; i++) {
        if ((c[i] & 0xc0) != 0x80)
            return -1;
        code = code << 6 | (c[i] & 0x3f);
    }
    if (code < least[more] || (code >= 0xd800 && code <= 0xdfff) || code > 0x10ffff)
        return -1;
    *bytes = more + 1;
    return code;
}

/* Returns whether a code point is a control character of ASCII or Latin-1, or negative (invalid
 * UTF-8). */
static bool is_control(int32_t code)
{
    return code < 0x20 || (code >= 0x7f && code < 0xa0);
}

size_t terminal_show(char shown[TERMINAL_SHOWN], const char *from)
{
    size_t bytes;
    bool raw = !is_control(decode(from, &bytes));
    for (size_t i = 0; i < bytes && !raw; i++)
        snprintf(shown + 4 * i, 5, "\\x%02x", (unsigned char)from[i]);
    if (raw) {
        memcpy(shown, from, bytes);
        shown[bytes] = '\0';
    }
    return bytes;
}

char *terminal_clean(char *to, size_t size, const char *from)
{
    size_t used = 0, bytes;
    for (; *from; from += bytes) {
        char shown[TERMINAL_SHOWN];
        bytes = terminal_show(shown, from);
        if (used + strlen(shown) >= size)
            break;
        strcpy(to + used, shown);
        used += strlen(shown);
    }
    to[used] = '\0';
    return to;
}

/* Returns 2 for the Unicode blocks of wide characters (East Asian, emoji), 0 for combining marks
 * and other characters without width, else 1. */
static int columns_of(int32_t code)
{
    static const struct {
        int32_t first, last;
        int columns;
    } blocks[] = {{0x300, 0x36f, 0},   {0x1100, 0x115f, 2},   {0x200b, 0x200f, 0},
                  {0x2e80, 0xa4cf, 2}, {0xac00, 0xd7a3, 2},   {0xf900, 0xfaff, 2},
                  {0xfe00, 0xfe0f, 0}, {0xfe30, 0xfe6f, 2},   {0xff00, 0xff60, 2},
                  {0xffe0, 0xffe6, 2}, {0x1f300, 0x1faff, 2}, {0x20000, 0x3fffd, 2}};
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++)
        if (code >= blocks[i].first && code <= blocks[i].last)
            return blocks[i].columns;
    return 1;
}

size_t terminal_fit(const char *text, int columns)
{
    size_t used = 0, bytes;
    while (text[used]) {
        columns -= columns_of(decode(text + used, &bytes));
        if (columns < 0)
            break;
        used += bytes;
    }
    return used;
}

int terminal_columns(const char *text)
{
    int columns = 0;
    for (size_t bytes; *text; text += bytes)
        columns += columns_of(decode(text, &bytes));
    return columns;
}

int terminal_width(FILE *out)
{
    const char *columns = getenv("COLUMNS");
    long wanted = columns != NULL ? strtol(columns, NULL, 10) : 0;
    struct winsize size;
    if (wanted > 0)
        return wanted < 100000 ? (int)wanted : 0;
    return fileno(out) >= 0 && ioctl(fileno(out), TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

static void begin_line(FILE *out, int indent)
{
    fprintf(out, "\n%*s", indent, "");
}

void terminal_print_entry(FILE *out, const char *head, int indent, const char *text, int columns)
{
    int column = indent;
    fprintf(out, "%-*s", indent, head);
    if (indent > 0 && terminal_columns(head) >= indent)
        begin_line(out, indent);
    for (text += strspn(text, " "); *text; text += strspn(text, " ")) {
        int length = (int)strcspn(text, " ");
        if (column > indent && column + 1 + length > columns) {
            begin_line(out, indent);
            column = indent;
        }
        column += fprintf(out, "%s%.*s", column > indent ? " " : "", length, text);
        text += length;
    }
    fputc('\n', out);
}
