/* Starter, linked statically, of the programs in a bundle (ci/bundle.sh). For each program NAME,
 * the bundle's file NAME is this starter. It runs NAME.program with the bundle's dynamic loader and
 * libraries, so that a bundle works in any folder whose path contains neither ':' nor ';'. ps and
 * top show the loader's file name, so each program has its own link to the loader, lib/as/NAME. */
#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench/base/executable.h"

/* Prints errno's message and exits with 127, as a shell does if it cannot run a program. */
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

/* Returns the loader's argv: the n elements of `first` (options of the loader, and the program),
 * then argv[1] to argv[argc - 1] (the program's arguments). */
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

/* Exits with 127 if the path `folder` contains ':' or ';', which separate folders in the loader's
 * --library-path. */
static void refuse_separators(const char *folder)
{
    if (strpbrk(folder, ":;") == NULL)
        return;
    fprintf(stderr, "%s: the path of a bundle must not contain ':' or ';'. Move the bundle\n",
            folder);
    exit(127);
}

int main(int argc, char **argv)
{
    static char self[PATH_MAX], folder[PATH_MAX], libraries[PATH_MAX], plugins[PATH_MAX],
        loader[PATH_MAX], program[PATH_MAX];
    ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    if (n <= 0)
        fail("cannot read the path of this program from /proc/self/exe");
    const char *name = strrchr(self, '/') + 1;
    format(folder, "%.*s", (int)(name - self), self);
    refuse_separators(folder);
    format(libraries, "%s../lib", folder);
    format(loader, "%s/as/%s", libraries, name);
    format(program, "%s" EXECUTABLE_BUNDLED, self);
    format(plugins, "%s/hwloc", libraries);
    /* hwloc plugins installed on the machine do not fit the bundle's hwloc */
    setenv("HWLOC_PLUGINS_PATH", plugins, 0);
    char *const first[] = {self,      "--argv0", self, "--inhibit-cache", "--library-path",
                           libraries, program};
    char **all = make_arguments(first, (int)(sizeof first / sizeof *first), argc, argv);
    execv(loader, all);
    fail(loader);
}
