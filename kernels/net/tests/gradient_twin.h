/* The double-precision twin of a test program, the file beside it, run through its command line. */
#pragma once

#include "kernels/tests/support.h"

#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

static inline FILE *ask_twin(const char *question)
{
    char self[400], command[700];
    ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    assert_true(length > 0);
    self[length] = '\0';
    snprintf(command, sizeof command, "'%s_f64' %s", self, question);
    return popen(command, "r");
}

/* Returns whether the twin can run. The shell returns 126 or 127 for programs it cannot run. */
static inline bool twin_runs(void)
{
    FILE *twin = ask_twin("--here");
    int status = twin ? pclose(twin) : -1;
    return !(WIFEXITED(status) && WEXITSTATUS(status) >= 126);
}
