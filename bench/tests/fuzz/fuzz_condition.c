/* A condition and a sum: parsed, checked against names, judged at values and over intervals of
 * them. Where it is true or false throughout, it is that at each value, too. */
#include "bench/tests/fuzz/fuzz.h"

#include <math.h>

#include "bench/spec/condition.h"

static const struct {
    const char *name, *text;
    double lo, number, hi;
} known[] = {
    {"ranks", "2", NAN, 2, NAN},
    {"step_ms", NULL, 4, 5, 7},
    {"speedup", NULL, 1.5, 1.8, INFINITY},
    {"test_acc_pct", NULL, 96.5, 96.5, 96.5},
    {"sync.strategy", "shm", NAN, NAN, NAN},
    {"sync.deadline", "90s", NAN, 90, NAN},
    {"sync.size", "64KiB", NAN, 65536, NAN},
    {"empty", "", NAN, NAN, NAN},
};

static bool look_up(struct condition_value *value, const char *name, const void *arg)
{
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strcmp(known[i].name, name) == 0) {
            *value = (struct condition_value){known[i].number, known[i].text, !isnan(known[i].lo),
                                              known[i].lo, known[i].hi};
            return true;
        }
    return false;
}

static void look_at(const struct condition *c, const char *text)
{
    size_t n;
    const struct condition_term *terms = condition_terms(c, &n);
    int length = (int)strlen(text);
    FUZZ_ASSERT(strcmp(condition_text(c), text) == 0 && n > 0);
    for (size_t i = 0; i < n; i++)
        FUZZ_ASSERT(terms[i].name_column >= 1 && terms[i].name_column <= length &&
                    (terms[i].text == NULL || (terms[i].name_column < terms[i].text_column &&
                                               terms[i].text_column <= length)));
    const char *unknown = condition_unknown(c, look_up, NULL);
    struct condition_value value = {.number = NAN};
    FUZZ_ASSERT(unknown == NULL || !look_up(&value, unknown, NULL));
    enum condition_truth truth = condition_holds_throughout(c, look_up, NULL);
    FUZZ_ASSERT(truth == CONDITION_OPEN ||
                condition_holds(c, look_up, NULL) == (truth == CONDITION_TRUE));
}

static void look_at_sum(const char *text)
{
    struct condition *c;
    struct error e = {.status = OK};
    fuzz_said(condition_parse_sum(&c, text, &e), &e);
    if (c != NULL)
        condition_sum(c, look_up, NULL);
    condition_free(c);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct condition *c;
    struct error e = {.status = OK};
    char *text = strndup((const char *)data, size);
    FUZZ_ASSERT(text);
    enum status status = condition_parse(&c, text, &e);
    fuzz_said(status, &e);
    FUZZ_ASSERT((status == OK) == (c != NULL));
    if (status == OK)
        look_at(c, text);
    condition_free(c);
    look_at_sum(text);
    free(text);
    return 0;
}
