/* Ctrl-C, SIGTERM and a terminal that is gone as something to look at rather than something that happens: between begin and
 * end the signals are blocked and arrive on a file descriptor. */
#pragma once

#include <signal.h>
#include <stdbool.h>

#include "kernels/base/error.h"

struct interrupt {
    int fd; /* readable when a signal came */
    sigset_t before;
    int signal; /* the first that came; 0: none */
};

enum status interrupt_begin(struct interrupt *interrupt, struct error *e);
/* Takes what has come since the last look; true when there was something. */
bool interrupt_look(struct interrupt *interrupt);
/* Whether one has come since begin, also where somebody has taken it. */
bool interrupt_came(struct interrupt *interrupt);
void interrupt_end(struct interrupt *interrupt);

/* For a child that becomes another program: no signal is ignored or blocked. */
void interrupt_forget(void);
