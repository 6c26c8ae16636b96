/* What stands in a bundle (ci/bundle.sh) under the name of every program, linked statically: it starts the
 * program itself, NAME.program beside it, by the dynamic loader and with the libraries of the bundle, wherever
 * that was unpacked and whatever the machine has. The path of a loader inside a program cannot do that, being
 * absolute. The loader has a name for each program, lib/as/NAME, because ps and top show that name. */
#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench/base/executable.h"

/* As a shell ends that cannot run a program. */
static _Noreturn void fail(const char *what)
{
    fprintf(stderr, "%s: %s\n", what, strerror(errno));
    exit(127);
}

static void format(char path[PATH_MAX], const char *pattern, ...)
    __attribute__((format(printf, 2, 3)));
static void format(char path[PATH_MAX], const char *pattern, ...)
{
    va_list arguments;
    va_start(arguments, pattern);
    int n = vsnprintf(path, PATH_MAX, pattern, arguments);
    va_end(arguments);
    errno = ENAMETOOLONG;
    if (n < 0 || n >= PATH_MAX)
        fail(path);
}

/* argv of the loader: its own options, the program, and what follows its name here. */
static char **make_arguments(char *const first[], int n, int argc, char **argv)
{
    char **all = calloc((size_t)(n + argc) + 1, sizeof *all);
    if (all == NULL)
        fail(argv[0]);
    memcpy(all, first, (size_t)n * sizeof *all);
    for (int i = 1; i < argc; i++)
        all[n++] = argv[i];
    return all;
}

/* The loader's list of folders has these between them. */
static void refuse_separators(const char *folder)
{
    if (strpbrk(folder, ":;") == NULL)
        return;
    fprintf(stderr,
            "%s: a bundle does not run where ':' or ';' is in its path, which its loader would cut "
            "there: "
            "move it\n",
            folder);
    exit(127);
}

int main(int argc, char **argv)
{
    static char self[PATH_MAX], folder[PATH_MAX], libraries[PATH_MAX], plugins[PATH_MAX],
        loader[PATH_MAX], program[PATH_MAX];
    ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    if (n <= 0)
        fail("/proc/self/exe, which says where a bundle was unpacked");
    const char *name = strrchr(self, '/') + 1;
    format(folder, "%.*s", (int)(name - self), self);
    refuse_separators(folder);
    format(libraries, "%s../lib", folder);
    format(loader, "%s/as/%s", libraries, name);
    format(program, "%s" EXECUTABLE_BUNDLED, self);
    format(plugins, "%s/hwloc", libraries);
    /* Plugins of the machine's own hwloc, if it has one, are for another. */
    setenv("HWLOC_PLUGINS_PATH", plugins, 0);
    char *const first[] = {self,      "--argv0", self, "--inhibit-cache", "--library-path",
                           libraries, program};
    char **all = make_arguments(first, (int)(sizeof first / sizeof *first), argc, argv);
    execv(loader, all);
    fail(loader);
}
