/* A network: its shapes, and the JSON that its hash is of. */
#include "bench/tests/fuzz/fuzz.h"

#include "bench/spec/spec.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct net_desc net;
    struct error e = {.status = OK};
    char digest[SHA256_TEXT_BYTES];
    enum status status = model_load(&net, fuzz_file("net.yaml", data, size), &e);
    fuzz_said(status, &e);
    if (status != OK)
        return 0;
    fuzz_said(model_sha256(&net, digest, &e), &e);
    net_desc_free(&net);
    return 0;
}
