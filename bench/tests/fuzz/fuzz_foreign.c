/* A user's program: the words of its command line, one per line, then a line "----" and its output.
 * Patterns are fixed here; fuzz_metrics.c draws others. */
#include "bench/tests/fuzz/fuzz.h"

#include "bench/collect/collect.h"
#include "bench/spec/foreign.h"

static const char head[] = "name: f\nscaling: strong\nmatrix: {ranks: [1, 2]}\nworkload:\n"
                           "  arg1: first\n"
                           "  arg8: '{arg1} {seed}'\n"
                           "  metrics:\n"
                           "    - 'pi = ^pi = ([0-9.]+) '\n"
                           "    - 'rate = ([-+0-9.eEinfa]*) *MB/s'\n"
                           "    - 'time_ms = in (.*) ms'\n"
                           "  time: time_ms\n"
                           "  command:\n";

/* Words as a list in single quotes. */
static char *write_spec(const uint8_t *words, size_t size, size_t *length)
{
    char *text = NULL;
    FILE *out = open_memstream(&text, length);
    FUZZ_ASSERT(out);
    fprintf(out, "%s    - '", head);
    size -= size > 0 && words[size - 1] == '\n';
    for (size_t i = 0; i < size; i++)
        if (words[i] == '\n')
            fputs("'\n    - '", out);
        else
            fprintf(out, "%.*s%c", words[i] == '\'', "'", words[i]);
    fputs("'\n", out);
    FUZZ_ASSERT(fclose(out) == 0);
    return text;
}

static void look_at(const struct point *point)
{
    const struct foreign_launch launch = {.seed = 1, .record = "records"};
    const struct config *config = &point->config;
    struct launch_result *result = malloc(sizeof *result);
    struct error e = {.status = OK};
    FUZZ_ASSERT(result);
    for (size_t i = 0; i < config->values[OPT_COMMAND].n; i++) {
        char *word;
        FUZZ_ASSERT(foreign_word(&word, config, i, &launch, &e) == OK);
        free(word);
    }
    enum status status = launch_take(fuzz_folder(), point, 1, result, &e);
    fuzz_said(status, &e);
    FUZZ_ASSERT(status == ERR_DATA || (status == OK && result->step_ms > 0));
    free(result);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct spec_machine machine = {.usable_cores = 8};
    const uint8_t *words = data;
    size_t words_size = 0, length = 0;
    struct spec spec;
    struct error e = {.status = OK};
    fuzz_part(&data, &size, &words, &words_size);
    fuzz_file("log.txt", data, size);
    char *text = write_spec(words, words_size, &length);
    enum status status = spec_load(&spec, fuzz_file("spec.yaml", text, length), NULL, &machine, &e);
    fuzz_said(status, &e);
    if (status == OK && config_is_foreign(&spec.points[0].config))
        look_at(&spec.points[0]);
    spec_free(&spec);
    free(text);
    return 0;
}
