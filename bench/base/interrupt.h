/* Receives SIGINT (Ctrl-C), SIGTERM and SIGHUP through a file descriptor. From interrupt_begin to
 * interrupt_end these signals are blocked, unless this process ignores them. */
#pragma once

#include <signal.h>
#include <stdbool.h>

#include "kernels/base/error.h"

struct interrupt {
    int fd;          /* signalfd, readable after a signal */
    sigset_t before; /* signal mask to restore */
    int signal;      /* first signal since interrupt_begin; 0: none */
};

/* Blocks SIGINT, SIGTERM and SIGHUP, unless ignored, and opens a descriptor for them. Errors:
 * ERR_SYSTEM. */
enum status interrupt_begin(struct interrupt *interrupt, struct error *e);
/* Reads the signals that came since the last call; returns true if any came. */
bool interrupt_look(struct interrupt *interrupt);
/* Returns true if a signal has come at any time since interrupt_begin. */
bool interrupt_came(struct interrupt *interrupt);
/* Restores the signal mask and closes the descriptor. */
void interrupt_end(struct interrupt *interrupt);

/* Resets SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE, SIGCHLD and SIGXFSZ to their default actions
 * and unblocks all signals. Call this in a child before exec, which keeps ignored and blocked
 * signals. */
void interrupt_forget(void);
