#include "bench/launch/log_tail.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Number of bytes searched at the end of a log. Final messages and call stacks of ranks can follow
 * the line that explains a failure. */
#define LOG_BYTES ((size_t)4 << 20)

/* largest number of new bytes that one call of log_has_last_word reads */
#define LOOK_BYTES ((off_t)64 << 10)

/* Texts in the final message of a failing program of this project. For a user's program the text is
 * "\n", which matches nothing because no line contains it. */
static const char *const LAST_WORDS[] = {
    "pin: ",
#define WORKLOAD(name, helper, foreign, strategies, summary) (foreign) ? "\n" : #name ": ",
#include "bench/spec/workloads.def"
    " lasted longer than ", /* a program of this project exceeded a deadline */
    NULL,
};
/* Texts in lines that explain a failure, printed for example by the guard, a launcher, the C
 * library or a sanitizer. */
static const char *const EXPLAIN[] = {
    "cannot run ", /* printed by guard.c: the program could not be executed */
    "execvp error on file ",
    "ssh: ", /* from here to "Permission denied": ranks could not be started on another node */
    "Cannot open network namespace ",
    "Host key verification failed",
    ": Permission denied (",
    "error while loading shared libraries",
    "Sanitizer: ",
    "runtime error: ",
    "terminate called ",
    "*** stack smashing detected ***",
    "*** buffer overflow detected ***",
    "free(): ",
    "malloc(): ",
    "malloc_consolidate(): ",
    "realloc(): ",
    "double free or corruption",
    "corrupted size vs. prev_size",
    "Fatal glibc error",
    ": Assertion `",
    "Too many open files", /* from here on: system limits that any program can exceed */
    "No space left on device",
    "Disk quota exceeded",
    "Cannot allocate memory",
    "Resource temporarily unavailable",
    NULL,
};
/* Reports of slurmstepd about the out-of-memory killer. These reports follow the line about the
 * crash. */
static const char *const MEMORY_KILLER[] = {" oom_kill event", " oom-kill event", NULL};
/* Text in messages about too little shared memory, printed before MPI starts or by UCX. */
static const char *const SHARED_MEMORY[] = {"/dev/shm", NULL};
/* Text in the line that this project's crash reporter prints about a dead rank. */
static const char *const CRASH_REPORTER[] = {" was killed or has crashed", NULL};
/* Texts of the network library UCX. These texts are more precise than the messages of MPI, which
 * uses UCX. */
static const char *const NETWORK[] = {"UCX  ERROR", "UCX  FATAL", "Caught signal ", NULL};
/* A line of this project's programs with one of these texts does not report an error. */
static const char *const LEVELS[] = {": warning: ", ": note: ", ": detail: ", NULL};
/* texts in lines that only report that another process failed */
static const char *const PASSED_ON[] = {"application called MPI_Abort", "==== backtrace", NULL};
/* texts in hydra's banner about the death of a rank */
static const char *const BANNER[] = {"YOUR APPLICATION TERMINATED",
                                     "This typically refers to a problem",
                                     "Please see the FAQ page", NULL};
static const char EXIT_STRING[] = "EXIT STRING: ";

static char *read_end(const char *path)
{
    FILE *f = fopen(path, "re");
    char *text = calloc(1, LOG_BYTES + 1);
    if (f != NULL && text != NULL) {
        if (fseek(f, -(long)LOG_BYTES, SEEK_END) != 0)
            rewind(f); /* the log is shorter than LOG_BYTES */
        for (size_t i = 0, n = fread(text, 1, LOG_BYTES, f); i < n; i++)
            if (text[i] == '\0')
                text[i] = ' ';
    }
    if (f != NULL)
        fclose(f);
    return text;
}

static bool has_word(const char *line, const char *const *words)
{
    while (*words != NULL && strstr(line, *words) == NULL)
        words++;
    return *words != NULL;
}

/* Returns whether a line ends a Python traceback: "RuntimeError: ..." or a bare "MemoryError". */
static bool is_exception(const char *line)
{
    size_t n = strspn(line, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz._");
    bool named = (n >= 5 && strncmp(line + n - 5, "Error", 5) == 0) ||
                 (n >= 9 && strncmp(line + n - 9, "Exception", 9) == 0);
    return named && (line[n] == '\0' || strncmp(line + n, ": ", 2) == 0);
}

static bool is_last_word(const char *line)
{
    return has_word(line, LAST_WORDS) && !has_word(line, LEVELS);
}

static bool explains(const char *line)
{
    return (is_last_word(line) ||
            ((has_word(line, EXPLAIN) || is_exception(line)) && !has_word(line, LEVELS))) &&
           !has_word(line, CRASH_REPORTER);
}

/* Lines that can explain a failed launch, one of each kind. `last` and `passed_on` are the last
 * lines of their kinds; all others are the first. */
struct findings {
    const char *memory_killer, *explains, *shared_memory, *crash_reporter, *network, *framed, *last,
        *passed_on, *said;
    bool in_frame;
};

/* Returns whether the line is a row of dashes, as Open MPI prints before and after a message. */
static bool is_frame(const char *line)
{
    enum { DASHES = 74 };
    size_t n = strspn(line, "-");
    return n == DASHES && line[n] == '\0';
}

/* Sets f->framed to the first line of the first message between two rows of dashes (Open MPI). */
static void look_at_frame(struct findings *f, const char *line)
{
    if (f->in_frame && f->framed == NULL && !is_frame(line))
        f->framed = line;
    f->in_frame = is_frame(line);
}

static void look_at(struct findings *f, const char *line)
{
    const char *said = strstr(line, EXIT_STRING);
    if (said != NULL && f->said == NULL)
        f->said = said + strlen(EXIT_STRING);
    /* after a rank died, lines of other ranks do not explain the failure */
    if (f->explains == NULL && f->crash_reporter == NULL && explains(line))
        f->explains = line;
    if (f->memory_killer == NULL && has_word(line, MEMORY_KILLER))
        f->memory_killer = line;
    if (f->shared_memory == NULL && has_word(line, SHARED_MEMORY))
        f->shared_memory = line;
    if (f->crash_reporter == NULL && has_word(line, CRASH_REPORTER))
        f->crash_reporter = line;
    if (f->network == NULL && has_word(line, NETWORK))
        f->network = line;
    look_at_frame(f, line);
    if (has_word(line, PASSED_ON))
        f->passed_on = line;
    else if (*line != '=' && !is_frame(line) && !has_word(line, BANNER))
        f->last = line;
}

/* Splits `text` into lines in place, and searches the lines for explanations of a failed launch. */
static struct findings look_through(char *text)
{
    struct findings f = {0};
    char *rest = NULL;
    for (char *line = strtok_r(text, "\n", &rest); line != NULL;
         line = strtok_r(NULL, "\n", &rest)) {
        size_t n = strlen(line);
        while (n > 0 && isspace((unsigned char)line[n - 1]))
            line[--n] = '\0';
        if (n > 0)
            look_at(&f, line);
    }
    return f;
}

static const char *find_reason(const struct findings *f)
{
    const char *const order[] = {f->memory_killer, f->explains, f->shared_memory, f->crash_reporter,
                                 f->network,       f->framed,   f->last,          f->passed_on};
    for (size_t i = 0; i < sizeof order / sizeof *order; i++)
        if (order[i] != NULL)
            return order[i];
    return NULL;
}

void log_tail(const char *path, char *text, size_t size)
{
    char *log = read_end(path);
    struct findings f = log != NULL ? look_through(log) : (struct findings){0};
    const char *line = find_reason(&f);
    snprintf(text, size, "%s%s%s", f.said != NULL ? f.said : "",
             f.said != NULL && line != NULL ? "; " : "", line != NULL ? line : "");
    free(log);
}

/* Reads complete lines from offset r->read on, and stops after a line with the final message of a
 * failing rank (is_last_word). Returns whether it found such a line. Moves r->read past the lines
 * that it read, so the next call reads an incomplete last line again. */
static bool read_on(struct log_reader *r, FILE *f)
{
    char *line = NULL;
    size_t size = 0;
    ssize_t n;
    bool last_word = false;
    while (!last_word && (n = getline(&line, &size, f)) > 0 && line[n - 1] == '\n') {
        line[n - 1] = '\0';
        last_word = is_last_word(line);
        r->read += n;
    }
    free(line);
    return last_word;
}

bool log_has_last_word(struct log_reader *r)
{
    struct stat info;
    if (stat(r->path, &info) != 0 || info.st_size <= r->read)
        return false;
    if (info.st_size - r->read > LOOK_BYTES)
        r->read = info.st_size - LOOK_BYTES;
    FILE *f = fopen(r->path, "re");
    bool last_word = f != NULL && fseeko(f, r->read, SEEK_SET) == 0 && read_on(r, f);
    if (f != NULL)
        fclose(f);
    return last_word;
}
