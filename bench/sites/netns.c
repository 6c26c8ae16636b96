#include "bench/sites/netns.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench/base/interrupt.h"
#include "kernels/base/mem.h"

/* ---- The script ---- */

/* Running process of ci/netns.sh. `line`: socket connected to the process's standard input, output
 * and error. */
struct script {
    pid_t pid;
    int line;
};

/* Replaces this forked process with the script, in a new session. Ctrl-C then reaches only
 * scalebench, which decides when to take the hosts down. */
static _Noreturn void become_script(char *const *argv, int line)
{
    setsid();
    interrupt_forget();
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        dup2(line, fd);
    execv(argv[0], argv);
    dprintf(STDOUT_FILENO, "%s: %s\n", argv[0], strerror(errno));
    _exit(127);
}

static enum status start(struct script *script, char *const *argv, struct error *e)
{
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
        return error_set(e, ERR_SYSTEM, "cannot start ci/netns.sh: socketpair: %s",
                         strerror(errno));
    pid_t pid = fork();
    if (pid == 0)
        become_script(argv, ends[1]);
    int why = errno;
    close(ends[1]);
    *script = (struct script){pid, ends[0]};
    if (pid > 0)
        return OK;
    close(ends[0]);
    return error_set(e, ERR_SYSTEM, "cannot start ci/netns.sh: fork: %s", strerror(why));
}

void netns_add_command(struct argv_builder *argv, const struct netns *n,
                       const struct config *config, const char *mode)
{
    const char *const link[] = {"--rate",  config_text(config, OPT_SITE_RATE),
                                "--delay", config_text(config, OPT_SITE_DELAY),
                                mode,      NULL};
    argv_add(argv, n->script);
    argv_add(argv, "--hosts");
    argv_format(argv, "%d", n->hosts);
    argv_add_all(argv, link);
}

static enum status start_for(struct script *script, const struct netns *n,
                             const struct config *config, const char *mode, struct error *e)
{
    struct argv_builder argv = {0};
    char **command;
    netns_add_command(&argv, n, config, mode);
    TRY(argv_finish(&argv, &command, "a command line", e));
    enum status status = start(script, command, e);
    free(command);
    return status;
}

/* Reads a line without its newline; "" at the end of the output. */
static void read_line(int from, char *line, size_t size)
{
    size_t n = 0;
    char c;
    for (;;) {
        ssize_t got = read(from, &c, 1);
        if (got < 0 && errno == EINTR)
            continue;
        if (got != 1 || c == '\n')
            break;
        if (n + 1 < size)
            line[n++] = c;
    }
    line[n] = '\0';
}

static int end(const struct script *script)
{
    int status = 0;
    close(script->line);
    while (waitpid(script->pid, &status, 0) < 0 && errno == EINTR)
        continue;
    return status;
}

/* Converts the script's message "netns.sh: REASON" to an error. */
static enum status refuse(const char *said, struct error *e)
{
    static const char name[] = "netns.sh: ";
    if (strncmp(said, name, sizeof name - 1) == 0)
        said += sizeof name - 1;
    return error_set(e, ERR_UNAVAILABLE, "site: emulated: %s",
                     *said ? said : "ci/netns.sh ended without a message");
}

/* ---- Checks ---- */

static int count_hosts(const struct config *config)
{
    long nodes = config_int(config, OPT_NODES), given = config_int(config, OPT_SITE_HOSTS);
    long most = nodes > given ? nodes : given;
    return most < 2 ? 2 : most > NETNS_HOSTS_MAX ? NETNS_HOSTS_MAX : (int)most;
}

enum status netns_plan(struct netns *n, const struct spec *spec, const char *home, struct error *e)
{
    int length = snprintf(n->script, sizeof n->script, "%s/ci/netns.sh", home);
    if (length < 0 || (size_t)length >= sizeof n->script)
        return error_set(e, ERR_ARGUMENT, "the path %s is too long", home);
    for (size_t i = 0; i < spec->n_points; i++) {
        const struct config *config = &spec->points[i].config;
        int hosts = config_int(config, OPT_SITE) == SITE_emulated ? count_hosts(config) : 0;
        n->hosts = hosts > n->hosts ? hosts : n->hosts;
    }
    return OK;
}

/* Asks the script whether it can make hosts with the point's link. Sets answer->reason to OK, or to
 * the reason why the script cannot make them. Returns an error only if the script could not be
 * started. */
static enum status ask(struct netns_answer *answer, const struct netns *n,
                       const struct config *config, struct error *e)
{
    struct script script;
    char said[512];
    TRY(start_for(&script, n, config, "probe", e));
    read_line(script.line, said, sizeof said);
    answer->reason.status = OK;
    if (end(&script) != 0)
        refuse(said, &answer->reason);
    return OK;
}

static struct netns_answer *find_answer(const struct netns *n, const char *link)
{
    for (size_t i = 0; i < n->n_answers; i++)
        if (strcmp(n->answers[i].link, link) == 0)
            return &n->answers[i];
    return NULL;
}

enum status netns_check(struct netns *n, const struct config *config, struct error *e)
{
    struct netns_answer fresh = {{0}, {0}}, *known;
    config_link(fresh.link, config);
    known = find_answer(n, fresh.link);
    if (known == NULL) {
        TRY(ask(&fresh, n, config, e));
        TRY(MEM_GROW(n->answers, n->n_answers, "the links of a campaign", e));
        known = &n->answers[n->n_answers++];
        *known = fresh;
    }
    if (known->reason.status != OK)
        *e = known->reason;
    return known->reason.status;
}

/* ---- Up and down ---- */

static enum status bring_up(struct netns *n, const struct config *config, struct error *e)
{
    static const char ready[] = "ready ";
    struct script script;
    char said[512];
    TRY(start_for(&script, n, config, "hold", e));
    read_line(script.line, said, sizeof said);
    if (strncmp(said, ready, sizeof ready - 1) != 0) {
        if (WIFSIGNALED(end(&script)))
            netns_sweep(n);
        return refuse(said, e);
    }
    n->holder = script.pid;
    n->line = script.line;
    snprintf(n->id, sizeof n->id, "%.*s", NETNS_ID_BYTES - 1, said + sizeof ready - 1);
    config_link(n->link, config);
    return OK;
}

static enum status reshape(struct netns *n, const struct config *config, struct error *e)
{
    char order[128], said[512];
    int length = snprintf(order, sizeof order, "rate %s delay %s\n",
                          config_text(config, OPT_SITE_RATE), config_text(config, OPT_SITE_DELAY));
    if (send(n->line, order, (size_t)length, MSG_NOSIGNAL) == length)
        read_line(n->line, said, sizeof said);
    else
        said[0] = '\0';
    if (strcmp(said, "ready") != 0) {
        netns_down(n);
        return refuse(said, e);
    }
    config_link(n->link, config);
    return OK;
}

/* Returns whether the process that keeps the hosts (holder) was killed: its socket then reports end
 * of file. No data precede the end of file, since each answer is read at once. */
static bool has_lost_holder(const struct netns *n)
{
    char c;
    return n->holder != 0 && recv(n->line, &c, 1, MSG_PEEK | MSG_DONTWAIT) == 0;
}

enum status netns_ready(struct netns *n, const struct config *config, struct error *e)
{
    char link[LINK_BYTES];
    config_link(link, config);
    if (has_lost_holder(n))
        netns_down(n);
    if (n->holder == 0)
        return bring_up(n, config, e);
    return strcmp(link, n->link) == 0 ? OK : reshape(n, config, e);
}

void netns_down(struct netns *n)
{
    const struct script holder = {n->holder, n->line};
    int status = n->holder != 0 ? end(&holder) : 0;
    n->holder = 0;
    n->id[0] = '\0';
    if (WIFSIGNALED(status)) /* ci/netns.sh was killed before it removed the hosts */
        netns_sweep(n);
}

void netns_sweep(const struct netns *n)
{
    char *const argv[] = {(char *)n->script, "sweep", NULL};
    struct script script = {0};
    struct error e;
    if (start(&script, argv, &e) == OK)
        end(&script);
}

void netns_close(struct netns *n)
{
    netns_down(n);
    free(n->answers);
    *n = (struct netns){0};
}
