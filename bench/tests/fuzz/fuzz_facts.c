/* The manifests of two runs, with a line "----" between them. Reads the facts of both runs and
 * explains the facts that differ. */
#include "bench/tests/fuzz/fuzz.h"

#include <sys/stat.h>

#include "bench/runner/runs.h"

static bool read_part(struct run *run, const char *name, const uint8_t **data, size_t *size)
{
    const uint8_t *part = *data;
    size_t part_size = 0;
    char folder[600], file[64];
    fuzz_part(data, size, &part, &part_size);
    snprintf(file, sizeof file, "%s/manifest.json", name);
    snprintf(folder, sizeof folder, "%s/%s", fuzz_folder(), name);
    mkdir(folder, 0777);
    fuzz_file(file, part, part_size);
    return run_read(run, folder);
}

static void tell(const json_t *facts, const char *name)
{
    char text[200], value[200];
    const char *fact = json_string_value(json_object_get(facts, name));
    FUZZ_ASSERT(fact != NULL);
    fact_explain(text, sizeof text, name);
    fact_shorten(value, sizeof value, fact);
    FUZZ_ASSERT(fact_way_back(name)[0] && value[0]);
}

/* Each differing fact is found once, in order. A run does not differ from itself. */
static void compare(const json_t *was, const json_t *is)
{
    size_t told = 0;
    char hex[65];
    struct error e = {.status = OK};
    for (const char *last = NULL; (last = facts_differ(was, is, last)) != NULL; told++) {
        tell(was, last);
        tell(is, last);
    }
    FUZZ_ASSERT(told <= json_object_size(was) && facts_differ(was, was, NULL) == NULL);
    fuzz_said(facts_digest(hex, was, &e), &e);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct run was, is;
    bool both = read_part(&was, "was", &data, &size);
    both = read_part(&is, "is", &data, &size) && both;
    if (both && was.facts != NULL && is.facts != NULL)
        compare(was.facts, is.facts);
    run_free(&was);
    run_free(&is);
    return 0;
}
