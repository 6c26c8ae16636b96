/* Patterns of a user's own, "name = pattern" a line, matched against lines over which a
 * backtracking matcher may go on without end: (a+)+$ does. */
#include "bench/tests/fuzz/fuzz.h"

#include <math.h>

#include "bench/collect/collect.h"

enum { PATTERNS_MOST = 48 };

static const char lines[] = "1x\n2\n\xff\xc2\xb5 3\n"
                            "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab\n";
static const char head[] = "name: f\nscaling: strong\nmatrix: {ranks: [1, 2]}\nworkload:\n"
                           "  command: [echo]\n  metrics:\n    - '";

/* Lines as a list in single quotes. */
static char *write_spec(const uint8_t *data, size_t size, size_t *length)
{
    char *text = NULL;
    FILE *out = open_memstream(&text, length);
    FUZZ_ASSERT(out && fputs(head, out) >= 0);
    size -= size > 0 && data[size - 1] == '\n';
    for (size_t i = 0; i < size; i++)
        if (data[i] == '\n')
            fputs("'\n    - '", out);
        else
            fprintf(out, "%s%c", data[i] == '\'' ? "'" : "", data[i]);
    fputs("'\n", out);
    FUZZ_ASSERT(fclose(out) == 0);
    return text;
}

/* Where none is missed there are numbers. */
static void look_at(const struct config *config)
{
    double values[PATTERNS_MOST];
    struct error e = {.status = OK};
    size_t n = config->values[OPT_METRICS].n;
    FUZZ_ASSERT(n > 0 && n <= PATTERNS_MOST);
    enum status status = launch_metrics(fuzz_folder(), config, values, &e);
    fuzz_said(status, &e);
    FUZZ_ASSERT(status == OK || status == ERR_DATA);
    for (size_t i = 0; i < n && status == OK; i++)
        FUZZ_ASSERT(!isnan(values[i]));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct spec_machine machine = {.usable_cores = 8};
    size_t length = 0;
    struct spec spec;
    struct error e = {.status = OK};
    if (size > PATTERNS_MOST)
        return 0;
    fuzz_file("log.txt", lines, sizeof lines - 1);
    char *text = write_spec(data, size, &length);
    enum status status = spec_load(&spec, fuzz_file("spec.yaml", text, length), NULL, &machine, &e);
    fuzz_said(status, &e);
    if (status == OK && config_is_foreign(&spec.points[0].config))
        look_at(&spec.points[0].config);
    spec_free(&spec);
    free(text);
    return 0;
}
