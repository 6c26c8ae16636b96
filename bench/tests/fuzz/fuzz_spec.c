/* A spec, up to its points and written out again. */
#include "bench/tests/fuzz/fuzz.h"

#include "bench/spec/spec.h"

static void write_out(const struct spec *spec)
{
    struct error e = {.status = OK};
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    FUZZ_ASSERT(out);
    fuzz_said(spec_write(out, spec, &e), &e);
    fclose(out);
    free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct spec_machine machine = {.usable_cores = 8};
    struct spec spec;
    struct error e = {.status = OK};
    enum status status = spec_load(&spec, fuzz_file("spec.yaml", data, size), NULL, &machine, &e);
    fuzz_said(status, &e);
    if (status == OK)
        write_out(&spec);
    spec_free(&spec);
    return 0;
}
