#include "bench/runner/log_tail.h"

#include <stdio.h>
#include <string.h>

#define TAIL_BYTES 16384

/* How the line ends that tells of a rank which cannot speak for itself any more. */
#define KEEPER_WORDS " was killed or has crashed"

static size_t read_end(const char *path, char *text, size_t size)
{
    FILE *f = fopen(path, "re");
    text[0] = '\0';
    if (!f)
        return 0;
    if (fseek(f, -(long)(size - 1), SEEK_END) != 0)
        rewind(f); /* shorter than that */
    size_t n = fread(text, 1, size - 1, f);
    fclose(f);
    text[n] = '\0';
    return n;
}

/* The last line with anything in it; NULL if none. Cuts `text`. */
static char *last_line(char *text)
{
    for (;;) {
        size_t n = strlen(text);
        while (n > 0 && (unsigned char)text[n - 1] <= ' ')
            text[--n] = '\0';
        char *newline = strrchr(text, '\n');
        if (newline)
            return newline + 1;
        return n > 0 ? text : NULL;
    }
}

/* Among what others said when it had died, this is the reason. NULL if there is none. Cuts `text`
 * where it is found. */
static char *words_of_keeper(char *text)
{
    char *end = strstr(text, KEEPER_WORDS);
    if (!end)
        return NULL;
    end[strlen(KEEPER_WORDS)] = '\0';
    char *newline = strrchr(text, '\n');
    return newline ? newline + 1 : text;
}

void log_tail(const char *path, char *text, size_t size)
{
    char tail[TAIL_BYTES];
    read_end(path, tail, sizeof tail);
    char *banner = strstr(tail, "\n=====");
    char *said = banner ? strstr(banner, "EXIT STRING: ") : NULL;
    if (said) {
        said += strlen("EXIT STRING: ");
        said[strcspn(said, "\n")] = '\0';
    }
    if (banner)
        *banner = '\0';
    char *line = words_of_keeper(tail);
    if (!line)
        line = last_line(tail);
    if (said && line)
        snprintf(text, size, "%s; last line: %s", said, line);
    else
        snprintf(text, size, "%s", said ? said : line ? line : "");
}
