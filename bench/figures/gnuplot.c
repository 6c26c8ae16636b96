#include "bench/figures/gnuplot.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kernels/base/text.h"

extern char **environ;

/* Writes the rest of an assignment: ='value' and a semicolon. Control characters become blanks.
 * gnuplot expands nothing in single quotes. a'b becomes 'a'."\047".'b', because simpler forms fail:
 * gnuplot 5.4 ends the string at a leading doubled apostrophe, and expands macros after an
 * unescaped apostrophe. */
static void write_text(FILE *out, const char *value)
{
    fputs("='", out);
    for (; *value; value++) {
        if (*value == '\'')
            fputs("'.\"\\047\".'", out);
        else
            fputc((unsigned char)*value < ' ' ? ' ' : *value, out);
    }
    fputs("'; ", out);
}

void gnuplot_define_text(FILE *out, const char *name, const char *value)
{
    fputs(name, out);
    write_text(out, value);
}

void gnuplot_define_text_of(FILE *out, const char *list, size_t k, const char *field,
                            const char *value)
{
    fprintf(out, "%s%zu%s", list, k, field);
    write_text(out, value);
}

void gnuplot_define_number(FILE *out, const char *name, double value)
{
    char text[TEXT_NUMBER];
    fprintf(out, "%s=%s; ", name, isfinite(value) ? text_real(text, value) : "NaN");
}

void gnuplot_define_numbers(FILE *out, const char *name, const double *values, size_t n)
{
    char text[TEXT_NUMBER];
    fprintf(out, "%s='", name);
    for (size_t i = 0; i < n; i++)
        fprintf(out, "%s ", text_real(text, values[i]));
    fputs("'; ", out);
}

/* Size of a buffer for several lines of gnuplot's messages, each of which may contain a long
 * path. */
enum { MESSAGES_BYTES = 16384 };

/* Reads gnuplot's output and keeps the error message, without warnings. The message begins at the
 * last line with a script's name and line number; earlier lines repeat the command. Without such a
 * line, the message is the last line of the output. */
static void read_message(FILE *in, char message[MESSAGES_BYTES])
{
    char line[MESSAGES_BYTES];
    size_t used = 0;
    bool placed = false;
    while (fgets(line, sizeof line, in) != NULL) {
        bool place = line[0] == '"' && strstr(line, "\" line ") != NULL;
        line[strcspn(line, "\n")] = '\0';
        if (line[strspn(line, " \t\r^")] == '\0' || strstr(line, ": warning: ") != NULL)
            continue;
        placed |= place;
        used = place || !placed ? 0 : used;
        used += (size_t)snprintf(message + used, MESSAGES_BYTES - used, "%s%s",
                                 used > 0 ? "; " : "", line);
        used = used < MESSAGES_BYTES ? used : MESSAGES_BYTES - 1;
    }
    text_clean(message);
}

static int spawn_gnuplot(pid_t *pid, char *const *argv, int errors)
{
    posix_spawn_file_actions_t actions;
    int failed = posix_spawn_file_actions_init(&actions);
    if (failed)
        return failed;
    THEN(failed, posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0));
    THEN(failed, posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0));
    THEN(failed, posix_spawn_file_actions_adddup2(&actions, errors, 2));
    THEN(failed, posix_spawnp(pid, argv[0], &actions, NULL, argv, environ));
    posix_spawn_file_actions_destroy(&actions);
    return failed;
}

static enum status no_gnuplot(const char *why, struct error *e)
{
    return error_set(e, ERR_UNAVAILABLE,
                     "cannot run gnuplot, which draws the figures: %s. Install it with "
                     "'apt install gnuplot-nox', 'dnf install gnuplot' or 'brew install gnuplot'",
                     why);
}

/* Waits until gnuplot ends. If posix_spawnp forks before it searches for the program, exit status
 * 127 means that gnuplot is not installed. */
static enum status wait_for_gnuplot(pid_t pid, const char *script, const char *messages,
                                    struct error *e)
{
    int state = 0;
    while (waitpid(pid, &state, 0) < 0)
        if (errno != EINTR)
            return error_set(e, ERR_SYSTEM, "cannot wait for gnuplot: %s", strerror(errno));
    if (WIFEXITED(state) && WEXITSTATUS(state) == 0)
        return OK;
    if (WIFEXITED(state) && WEXITSTATUS(state) == 127)
        return no_gnuplot("not found", e);
    char end[TEXT_END];
    return error_at(e, ERR_SYSTEM, script, 0, 0, "gnuplot failed: %s",
                    messages[0] ? messages : text_end(end, state));
}

/* Option -d makes gnuplot ignore the user's settings, so that figures are equal on all machines. */
enum status gnuplot_run(char *definitions, char *script, struct error *e)
{
    char *argv[] = {"gnuplot", "-d", "-e", definitions, script, NULL};
    char messages[MESSAGES_BYTES] = "";
    int fds[2];
    pid_t pid;
    if (pipe2(fds, O_CLOEXEC) != 0)
        return error_set(e, ERR_SYSTEM, "cannot open a pipe to gnuplot: %s", strerror(errno));
    int failed = spawn_gnuplot(&pid, argv, fds[1]);
    close(fds[1]);
    FILE *in = fdopen(fds[0], "r");
    if (in != NULL) {
        read_message(in, messages);
        fclose(in);
    } else {
        close(fds[0]);
    }
    return failed ? no_gnuplot(strerror(failed), e) : wait_for_gnuplot(pid, script, messages, e);
}

/* ---- Pictures ---- */

/* The last format is optional. If gnuplot does not support it, an old picture in this format is
 * removed. */
static const char *const formats[] = {"svg", "png", "pdf"};
enum { FORMATS = sizeof formats / sizeof *formats, FORMATS_NEEDED = FORMATS - 1 };

/* Overwrites the creation date that Cairo writes into a PDF, so that equal figures give identical
 * files. A date inside a compressed stream cannot be overwritten. */
static enum status forget_time(const char *path, struct error *e)
{
    static const char mark[] = "/CreationDate (D:", epoch[] = "19700101000000";
    FILE *pdf = fopen(path, "r+");
    if (pdf == NULL)
        return errno == ENOENT
                   ? OK
                   : error_set(e, ERR_SYSTEM, "cannot open %s: %s", path, strerror(errno));
    size_t met = 0;
    int c;
    while (met < strlen(mark) && (c = fgetc(pdf)) != EOF)
        met = c == mark[met] ? met + 1 : c == mark[0];
    if (met == strlen(mark)) {
        fseek(pdf, 0, SEEK_CUR);
        fputs(epoch, pdf);
    }
    return fclose(pdf) == 0 ? OK : error_set(e, ERR_SYSTEM, "cannot write %s", path);
}

static enum status run_script(const struct pictures *pictures, const char *script, const char *name,
                              char *definitions, struct error *e)
{
    char path[4500], pdf[4500];
    snprintf(path, sizeof path, "%s/%s.gp", pictures->plots_dir, script);
    snprintf(pdf, sizeof pdf, "%s/%s.pdf", pictures->stage->dir, name);
    TRY(gnuplot_run(definitions, path, e));
    return forget_time(pdf, e);
}

enum status pictures_draw(const struct pictures *pictures, const char *script, const char *name,
                          pictures_definer *define, const void *what, struct error *e)
{
    char *definitions = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&definitions, &size);
    if (out == NULL)
        return error_no_memory(e, "a figure");
    if (pictures->files == FIGURES_FOR_PAGE)
        gnuplot_define_text(out, "formats", formats[0]);
    enum status status = define(out, what, pictures, e);
    if (fclose(out) != 0 && status == OK)
        status = error_no_memory(e, "a figure");
    THEN(status, run_script(pictures, script, name, definitions, e));
    free(definitions);
    return status;
}

enum status pictures_keep(const struct pictures *pictures, const char *name, struct error *e)
{
    const struct stage *stage = pictures->stage;
    size_t n = pictures->files == FIGURES_FOR_PAGE ? 1 : FORMATS;
    for (size_t i = 0; i < n; i++) {
        char file[64], path[4500];
        snprintf(file, sizeof file, "%s.%s", name, formats[i]);
        snprintf(path, sizeof path, "%s/%s", stage->dir, file);
        if (i < FORMATS_NEEDED || access(path, F_OK) == 0) {
            TRY(stage_keep(stage, file, e));
        } else {
            snprintf(path, sizeof path, "%s/%s", stage->run_dir, file);
            unlink(path);
        }
    }
    return OK;
}

void pictures_remove(const char *folder, const char *name)
{
    for (size_t i = 0; i < FORMATS; i++) {
        char path[4500];
        snprintf(path, sizeof path, "%s/%s.%s", folder, name, formats[i]);
        unlink(path);
    }
}
