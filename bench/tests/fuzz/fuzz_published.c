/* A table of published numbers beside a spec that compares with it. */
#include "bench/tests/fuzz/fuzz.h"

#include "bench/collect/published.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char text[] =
        "name: p\nscaling: strong\nmodel: softmax_784\ntrain: {global_batch: 64}\n"
        "matrix: {ranks: [1, 2, 4], sync.strategy: [none, allreduce]}\n"
        "published: {file: table.csv, keys: [ranks = nodes, sync.strategy = how],\n"
        "  values: [step_ms_median = ms, speedup = times * 2]}\n";
    static struct spec spec;
    const struct spec_machine machine = {.usable_cores = 8};
    struct published p;
    struct error e = {.status = OK};
    if (!spec.path) {
        fuzz_file("table.csv", "nodes,how,ms,times\n", 19);
        FUZZ_ASSERT(spec_load(&spec, fuzz_file("spec.yaml", text, sizeof text - 1), NULL, &machine,
                              &e) == OK);
    }
    fuzz_file("table.csv", data, size);
    fuzz_said(published_read(&p, &spec, &e), &e);
    published_free(&p);
    return 0;
}
