#include "bench/base/interrupt.h"

#include <errno.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

/* Adds a signal to the set unless this process ignores the signal, for example SIGHUP under nohup.
 * A signalfd delivers a blocked signal even if the signal is ignored. */
static void add_unless_ignored(sigset_t *signals, int signal)
{
    struct sigaction action;
    if (sigaction(signal, NULL, &action) == 0 && action.sa_handler != SIG_IGN)
        sigaddset(signals, signal);
}

enum status interrupt_begin(struct interrupt *interrupt, struct error *e)
{
    sigset_t signals;
    sigemptyset(&signals);
    add_unless_ignored(&signals, SIGINT);
    add_unless_ignored(&signals, SIGTERM);
    add_unless_ignored(&signals, SIGHUP);
    *interrupt = (struct interrupt){.fd = signalfd(-1, &signals, SFD_NONBLOCK | SFD_CLOEXEC)};
    if (interrupt->fd < 0)
        return error_set(e, ERR_SYSTEM, "cannot watch for signals: signalfd: %s", strerror(errno));
    sigprocmask(SIG_BLOCK, &signals, &interrupt->before);
    return OK;
}

bool interrupt_look(struct interrupt *interrupt)
{
    struct signalfd_siginfo info;
    bool came = false;
    while (read(interrupt->fd, &info, sizeof info) == (ssize_t)sizeof info) {
        came = true;
        if (interrupt->signal == 0)
            interrupt->signal = (int)info.ssi_signo;
    }
    return came;
}

bool interrupt_came(struct interrupt *interrupt)
{
    return interrupt_look(interrupt) || interrupt->signal != 0;
}

void interrupt_end(struct interrupt *interrupt)
{
    sigprocmask(SIG_SETMASK, &interrupt->before, NULL);
    close(interrupt->fd);
    interrupt->fd = -1;
}

void interrupt_forget(void)
{
    static const int changed[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE, SIGCHLD, SIGXFSZ};
    for (size_t i = 0; i < sizeof changed / sizeof *changed; i++)
        signal(changed[i], SIG_DFL);
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
}
