#include "kernels/base/text.h"

#include <locale.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "kernels/base/names.h"
#include "kernels/base/terminal.h"

/* Replaces the locale's decimal mark, which may have several bytes, by a point. */
static void use_decimal_point(char *text)
{
    const char *mark = localeconv()->decimal_point;
    char *found = strcmp(mark, ".") == 0 ? NULL : strstr(text, mark);
    if (found == NULL)
        return;
    size_t length = strlen(mark);
    *found = '.';
    memmove(found + 1, found + length, strlen(found + length) + 1);
}

/* Quiet NaN that marks undefined results. Its bits differ from the bits of NAN. */
static const union {
    uint64_t bits;
    double x;
} not_a_number = {.bits = 0x7ff8000000000d1e};

double text_not_a_number(void)
{
    return not_a_number.x;
}

char *text_real(char text[TEXT_NUMBER], double x)
{
    text[0] = '\0';
    if (isfinite(x))
        snprintf(text, TEXT_NUMBER, "%.10g", x);
    else if (isinf(x))
        strcpy(text, x > 0 ? "Inf" : "-Inf");
    else if (memcmp(&x, &not_a_number.x, sizeof x) == 0)
        strcpy(text, "NaN");
    use_decimal_point(text);
    return text;
}

/* Writes `x` with `decimals` digits after the point, or in %.10g format if these digits do not fit
 * in `text`. Never truncates, which would change the value. */
static void write_digits(char text[TEXT_NUMBER], double x, int decimals)
{
    if (snprintf(text, TEXT_NUMBER, "%.*f", decimals, x) >= TEXT_NUMBER)
        snprintf(text, TEXT_NUMBER, "%.10g", x);
    use_decimal_point(text);
}

char *text_whole(char text[TEXT_NUMBER], double x)
{
    text[0] = '\0';
    if (isfinite(x))
        write_digits(text, x, 0);
    return text;
}

char *text_fixed(char text[TEXT_NUMBER], double x, int decimals)
{
    if (isfinite(x))
        write_digits(text, x, decimals);
    else
        snprintf(text, TEXT_NUMBER, "-");
    return text;
}

static int decimals_of(double x, int digits)
{
    double size = fabs(x);
    int before = size > 0 && isfinite(size) ? (int)floor(log10(size)) + 1 : 1;
    return before < digits ? digits - before : 0;
}

char *text_significant(char text[TEXT_NUMBER], double x, int digits)
{
    return text_fixed(text, x, decimals_of(x, digits));
}

char *text_interval(char text[TEXT_INTERVAL], const struct interval *i, int digits)
{
    int decimals = decimals_of(i->mid, digits);
    char mid[TEXT_NUMBER], lo[TEXT_NUMBER], hi[TEXT_NUMBER];
    text_fixed(mid, i->mid, decimals);
    if (isfinite(i->lo) && isfinite(i->hi))
        snprintf(text, TEXT_INTERVAL, "%s [%s, %s]", mid, text_fixed(lo, i->lo, decimals),
                 text_fixed(hi, i->hi, decimals));
    else
        snprintf(text, TEXT_INTERVAL, "%s", mid);
    return text;
}

char *text_count(char text[TEXT_NUMBER], long n)
{
    char digits[TEXT_NUMBER];
    int length = snprintf(digits, sizeof digits, "%ld", n);
    char *to = text;
    for (int i = 0; i < length; i++) {
        *to++ = digits[i];
        int left = length - 1 - i;
        if (left > 0 && left % 3 == 0 && digits[i] != '-')
            *to++ = ',';
    }
    *to = '\0';
    return text;
}

char *text_duration(char text[TEXT_NUMBER], double seconds)
{
    long s = seconds > 0 ? lround(seconds) : 0;
    if (s < 60)
        snprintf(text, TEXT_NUMBER, "%ld s", s);
    else if (s < 3600)
        snprintf(text, TEXT_NUMBER, "%ld min %ld s", s / 60, s % 60);
    else
        snprintf(text, TEXT_NUMBER, "%ld h %ld min", s / 3600, s % 3600 / 60);
    return text;
}

char *text_wall_time(char text[TEXT_NUMBER], double seconds)
{
    if (seconds >= 10)
        return text_duration(text, seconds);
    text_fixed(text, seconds, 1);
    return strcat(text, " s");
}

int text_sentence(const char *text)
{
    const char *end = strstr(text, ". ");
    return end != NULL ? (int)(end - text) : (int)strlen(text);
}

char *text_plural(char text[TEXT_NUMBER], long n, const char *noun)
{
    static const char *const hissing[] = {"nch", "tch"}; /* endings of nouns with a plural in -es;
                                                          * the plural of "epoch" ends in -s */
    size_t length = strlen(noun);
    bool hisses = length >= 3 && name_index(noun + length - 3, hissing, 2) >= 0;
    snprintf(text, TEXT_NUMBER, "%ld %s%s", n, noun, n == 1 ? "" : hisses ? "es" : "s");
    return text;
}

char *text_end(char text[TEXT_END], int wait_status)
{
    if (WIFSIGNALED(wait_status))
        snprintf(text, TEXT_END, "killed by signal %d (%s)", WTERMSIG(wait_status),
                 strsignal(WTERMSIG(wait_status)));
    else
        snprintf(text, TEXT_END, "exit status %d", WEXITSTATUS(wait_status));
    return text;
}

void text_write_field(FILE *out, const char *text)
{
    bool quoted = strpbrk(text, ",\"\r\n") != NULL;
    char shown[TERMINAL_SHOWN];
    fputs(quoted ? "\"" : "", out);
    while (*text) {
        if (strchr("\"\t\r\n", *text) != NULL) {
            fputs(*text == '"' ? "\"" : "", out);
            fputc(*text++, out);
            continue;
        }
        text += terminal_show(shown, text);
        fputs(shown, out);
    }
    fputs(quoted ? "\"" : "", out);
}

void text_clean(char *text)
{
    for (; *text; text++) {
        if (*text == '"')
            *text = '\'';
        else if ((unsigned char)*text < ' ')
            *text = ' ';
    }
}

void text_write_markup(FILE *out, const char *text)
{
    for (const char *c = text; *c; c++) {
        const char *entity = *c == '&'   ? "&amp;"
                             : *c == '<' ? "&lt;"
                             : *c == '>' ? "&gt;"
                             : *c == '"' ? "&quot;"
                                         : NULL;
        if (entity != NULL)
            fputs(entity, out);
        else
            fputc(*c, out);
    }
}

void text_join(char *text, size_t size, const char *separator, const char *more)
{
    size_t used = strlen(text);
    snprintf(text + used, size - used, "%s%s", used > 0 ? separator : "", more);
}

bool text_ends(const char *text, const char *end)
{
    size_t length = strlen(text), part = strlen(end);
    return length > part && strcmp(text + length - part, end) == 0;
}

void text_trim(char *text)
{
    size_t n = strlen(text), blanks = strspn(text, " ");
    while (n > blanks && text[n - 1] == ' ')
        n--;
    memmove(text, text + blanks, n - blanks);
    text[n - blanks] = '\0';
}

size_t text_characters(const char *text, size_t bytes)
{
    size_t n = 0;
    for (size_t i = 0; i < bytes; i++)
        n += ((unsigned char)text[i] & 0xC0) != 0x80; /* counts the bytes that are not UTF-8
                                                       * continuation bytes */
    return n;
}

static int compare_texts(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

size_t text_count_distinct(const char **texts, size_t n)
{
    size_t distinct = n > 0;
    if (n > 0)
        qsort(texts, n, sizeof *texts, compare_texts);
    for (size_t i = 1; i < n; i++)
        distinct += strcmp(texts[i - 1], texts[i]) != 0;
    return distinct;
}
