#include "bench/sites/machines.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "bench/base/log.h"
#include "bench/sites/argv.h"
#include "kernels/base/mem.h"

enum { LINE_BYTES = 8192 };

/* Parsed output of `scalebench machine` on one machine. */
struct answer {
    char class[HARDWARE_CLASS_BYTES];
    int cores;
    /* [n] hashes of the programs that the command names, in this order; "-": not found */
    char (*hashes)[MACHINE_HASH_BYTES];
    size_t n;
    /* Last line of the output that is not part of the answer, for error messages. It may come from
     * a login script. */
    char complaint[300];
    int status; /* exit status of the command; 128 + signal if a signal ended it */
};

enum status machines_open(struct machines *m, const char *scalebench, const char *const *programs,
                          struct error *e)
{
    struct argv_builder argv = {0};
    *m = (struct machines){0};
    while (programs[m->n_programs] != NULL)
        m->n_programs++;
    argv_add(&argv, scalebench);
    argv_add(&argv, "machine");
    argv_add_all(&argv, programs);
    return argv_finish(&argv, &m->question, "the programs of a campaign", e);
}

void machines_close(struct machines *m)
{
    free(m->question);
    free(m->hashes);
    free(m->all);
    *m = (struct machines){0};
}

/* ---- A question and its answer ---- */

/* Reads an output line of `scalebench machine`, for example "program 0123...ef /opt/build/pin". */
static void take_line(struct answer *a, const char *line, size_t n_programs)
{
    static const char class[] = "machine ", cores[] = "cores ", program[] = "program ";
    if (strncmp(line, class, sizeof class - 1) == 0)
        snprintf(a->class, sizeof a->class, "%.*s", HARDWARE_CLASS_BYTES - 1,
                 line + sizeof class - 1);
    else if (strncmp(line, cores, sizeof cores - 1) == 0)
        a->cores = (int)strtol(line + sizeof cores - 1, NULL, 10);
    else if (strncmp(line, program, sizeof program - 1) == 0 && a->n < n_programs)
        snprintf(a->hashes[a->n++], MACHINE_HASH_BYTES, "%.*s",
                 (int)strcspn(line + sizeof program - 1, " "), line + sizeof program - 1);
    else
        snprintf(a->complaint, sizeof a->complaint, "%.*s", (int)sizeof a->complaint - 1, line);
}

/* Returns all words of the NULL-terminated list in one text, each quoted for a shell. Returns NULL
 * if there is no memory. Free the text with free(). */
static char *quote(char *const *words)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    for (; out != NULL && *words != NULL; words++) {
        fputc('\'', out);
        for (const char *c = *words; *c; c++)
            fputs(*c == '\'' ? "'\\''" : (const char[]){*c, '\0'}, out);
        fputs("' ", out);
    }
    if (out != NULL && fclose(out) == 0)
        return text;
    free(text);
    return NULL;
}

static enum status ask(struct answer *a, char *const *argv, size_t n_programs, struct error *e)
{
    char line[LINE_BYTES], *words = quote(argv), *command = NULL;
    bool made = words != NULL && asprintf(&command, "exec %s </dev/null 2>&1", words) >= 0;
    FILE *in = made ? popen(command, "re") : NULL;
    free(words);
    if (made)
        free(command);
    if (in == NULL)
        return made ? error_set(e, ERR_SYSTEM, "cannot start ssh: %s", strerror(errno))
                    : error_no_memory(e, "a command line");
    while (fgets(line, sizeof line, in) != NULL) {
        line[strcspn(line, "\r\n")] = '\0';
        if (line[0] != '\0')
            take_line(a, line, n_programs);
    }
    int state = pclose(in);
    a->status = WIFEXITED(state) ? WEXITSTATUS(state) : 128 + WTERMSIG(state);
    return OK;
}

static enum status ask_machine(struct answer *a, const struct machines *m, const char *name,
                               struct error *e)
{
    char *command = quote(m->question);
    char *const argv[] = {"ssh",        "-n",         "-o",    SSH_SILENT, "-o",
                          SSH_PATIENCE, (char *)name, command, NULL};
    enum status status =
        command != NULL ? ask(a, argv, m->n_programs, e) : error_no_memory(e, "a command line");
    free(command);
    return status;
}

/* Returns whether an answer has all lines. Exit status 1 is accepted: it only means that a program
 * was not found. */
static bool is_complete(const struct answer *a, const struct machines *m)
{
    return (a->status == 0 || a->status == 1) && a->class[0] != '\0' && a->cores > 0 &&
           a->n == m->n_programs;
}

/* Runs the command m->question on this machine, without ssh, to hash the campaign's programs. Later
 * calls do nothing. */
static enum status ask_own(struct machines *m, struct error *e)
{
    struct answer a = {.n = 0};
    if (m->hashes != NULL)
        return OK;
    TRY(MEM_NEW(m->hashes, m->n_programs + 1, "the programs of a campaign", e));
    a.hashes = m->hashes;
    TRY(ask(&a, m->question, m->n_programs, e));
    if (a.status == 0 && a.n == m->n_programs)
        return OK;
    return error_set(e, ERR_SYSTEM,
                     "cannot read the hardware and programs of this machine with `%s machine`: %s",
                     m->question[0], a.complaint);
}

/* ---- Checks of the answer ---- */

#define BELONGS "Install the same build there, at the same path"

/* Compares the programs of the machine `name` with this machine's programs. The error names the
 * first program that is missing there or differs. */
static enum status compare(const struct machines *m, const char *name, const struct answer *a,
                           struct error *e)
{
    for (size_t i = 0; i < m->n_programs; i++) {
        const char *path = m->question[2 + i];
        if (strcmp(a->hashes[i], "-") == 0)
            return error_set(e, ERR_UNAVAILABLE,
                             "site: ssh: machine %s: program %s not found. " BELONGS, name, path);
        if (strcmp(a->hashes[i], m->hashes[i]) != 0)
            return error_set(
                e, ERR_UNAVAILABLE,
                "site: ssh: machine %s: program %s is another build: SHA-256 %.12s there, %.12s "
                "here. " BELONGS,
                name, path, a->hashes[i], m->hashes[i]);
    }
    return OK;
}

/* Checks that a machine's answer is complete, and that the machine has the same programs as this
 * machine. Exit status of the command run there: 126 or 127 if scalebench cannot run, 2 if
 * scalebench lacks the command `machine`. */
static enum status judge(const struct machines *m, const char *name, const struct answer *a,
                         struct error *e)
{
    bool unknown = a->status == 2 || a->status == 126 || a->status == 127;
    if (is_complete(a, m))
        return compare(m, name, a, e);
    return error_set(e, ERR_UNAVAILABLE, "site: ssh: %s: %s%s", name,
                     a->complaint[0] ? a->complaint : "no answer", unknown ? ". " BELONGS : "");
}

static enum status meet(struct machines *m, struct machine *machine, struct error *e)
{
    struct answer a = {.n = 0};
    TRY(ask_own(m, e));
    TRY(MEM_NEW(a.hashes, m->n_programs + 1, "the programs of a campaign", e));
    enum status status = ask_machine(&a, m, machine->name, e);
    if (status == OK)
        judge(m, machine->name, &a, &machine->reason);
    snprintf(machine->class, sizeof machine->class, "%s", a.class);
    machine->cores = a.cores;
    free(a.hashes);
    return status;
}

/* Sets *at to the index of the machine `name` in m->all. If m->all lacks the machine, runs the
 * command m->question on that machine through ssh, and adds the machine to m->all. */
static enum status find(struct machines *m, size_t *at, const char *name, struct error *e)
{
    for (*at = 0; *at < m->n; ++*at)
        if (strcmp(m->all[*at].name, name) == 0)
            return OK;
    TRY(MEM_GROW(m->all, m->n, "the machines of a campaign", e));
    m->all[m->n] = (struct machine){.reason.status = OK};
    snprintf(m->all[m->n].name, sizeof m->all[m->n].name, "%s", name);
    TRY(meet(m, &m->all[m->n], e));
    m->n++;
    return OK;
}

static void warn_of_classes(struct machines *m, const struct machine *a, const struct machine *b)
{
    if (m->warned || strcmp(a->class, b->class) == 0)
        return;
    m->warned = true;
    log_print(LOG_WARNING,
              "site: ssh: %s and %s have different hardware (%s; %s). Points that use both "
              "machines run at the speed of the slower one, and are flagged `mixed` if the "
              "processors differ",
              a->name, b->name, a->class, b->class);
}

enum status machines_check(struct machines *m, const struct config *config, struct error *e)
{
    const struct value *names = &config->values[OPT_SITE_MACHINES];
    size_t first = 0, at;
    for (long i = 0; i < config_int(config, OPT_NODES) && i < (long)names->n; i++) {
        TRY(find(m, &at, names->texts[i], e));
        if (m->all[at].reason.status != OK) {
            *e = m->all[at].reason;
            return e->status;
        }
        if (i == 0)
            first = at;
        warn_of_classes(m, &m->all[first], &m->all[at]);
    }
    return OK;
}

bool machines_has(const struct config *config, const char *name)
{
    const struct value *names = &config->values[OPT_SITE_MACHINES];
    for (long i = 0; i < config_int(config, OPT_NODES) && i < (long)names->n; i++)
        if (strcmp(names->texts[i], name) == 0)
            return true;
    return false;
}

int machines_cores(const struct machines *m, const struct config *config)
{
    int fewest = 0;
    for (size_t i = 0; i < m->n; i++) {
        const struct machine *machine = &m->all[i];
        if (machine->reason.status == OK && (fewest == 0 || machine->cores < fewest) &&
            (config == NULL || machines_has(config, machine->name)))
            fewest = machine->cores;
    }
    return fewest;
}
