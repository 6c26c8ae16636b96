/* The tables that are left of a run: summary.csv and, after a line "----", manifest.json. */
#include "bench/tests/fuzz/fuzz.h"

#include "bench/collect/collect.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char text[] =
        "name: s\nscaling: strong\nmodel: softmax_784\ntrain: {global_batch: 64}\n"
        "matrix: {ranks: [1, 2], sync.strategy: [none]}\n";
    static struct spec spec;
    const struct spec_machine machine = {.usable_cores = 8};
    const uint8_t *part = data;
    size_t part_size = 0;
    struct summary s;
    struct error e = {.status = OK};
    if (!spec.path)
        FUZZ_ASSERT(spec_load(&spec, fuzz_file("spec.yaml", text, sizeof text - 1), NULL, &machine,
                              &e) == OK);
    fuzz_part(&data, &size, &part, &part_size);
    fuzz_file("summary.csv", part, part_size);
    fuzz_file("manifest.json", data, size);
    fuzz_said(summary_read(&s, &spec, fuzz_folder(), &e), &e);
    summary_free(&s);
    return 0;
}
