/* Samples of a node. */
#include "bench/tests/fuzz/fuzz.h"

#include "bench/resources/node_samples.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct node_samples samples;
    struct sample at;
    struct error e = {.status = OK};
    fuzz_said(node_samples_read(&samples, fuzz_file("node.0.jsonl", data, size), &e), &e);
    if (samples.n > 1)
        node_samples_at(&at, &samples, samples.items[1].t_ns - 1);
    node_samples_free(&samples);
    return 0;
}
