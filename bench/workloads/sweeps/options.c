#include "bench/workloads/sweeps/options.h"

#include <stdlib.h>

#include "kernels/base/names.h"

enum status options_walk(int argc, char **argv, const struct option *known,
                         enum status (*take)(void *arg, int letter, const char *value,
                                             struct error *e),
                         void *arg, struct error *e)
{
    enum status status = OK;
    opterr = 0;
    optind = 1;
    while (status == OK) {
        const char *word = argv[optind];
        int letter = getopt_long(argc, argv, "h", known, NULL);
        if (letter == -1)
            break;
        status = letter != '?'
                     ? take(arg, letter, optarg, e)
                     : error_set(e, ERR_ARGUMENT,
                                 "%s: unknown option, or its value is missing; see --help", word);
    }
    if (status == OK && optind < argc)
        status = error_set(e, ERR_ARGUMENT, "'%s' is not an option; see --help", argv[optind]);
    return status;
}

enum status option_count(const char *option, const char *text, int most, int *value,
                         struct error *e)
{
    char *end;
    long n = strtol(text, &end, 10);
    if (*text == '\0' || *end != '\0' || n < 1 || n > most)
        return error_set(e, ERR_ARGUMENT, "--%s: '%s' is no whole number of 1..%d", option, text,
                         most);
    *value = (int)n;
    return OK;
}

enum status option_name(const char *option, const char *text, const char *const *names, size_t n,
                        int *index, struct error *e)
{
    char words[1024];
    *index = name_index(text, names, n);
    if (*index >= 0)
        return OK;
    return error_set(e, ERR_ARGUMENT, "--%s: %s", option,
                     name_explain(words, sizeof words, text, names, n));
}
