/* A file in the safetensors format, every tensor touched at both ends. */
#include "bench/tests/fuzz/fuzz.h"

#include "bench/workloads/checkpoint/safetensors.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct safetensors file;
    struct error e = {.status = OK};
    char text[128];
    enum status status = safetensors_open(&file, fuzz_file("tensors", data, size), &e);
    fuzz_said(status, &e);
    for (size_t i = 0; i < file.n && status == OK; i++) {
        const struct safetensors_tensor *t = &file.tensors[i];
        const volatile uint8_t *bytes = t->data;
        FUZZ_ASSERT(safetensors_find(&file, t->name) && safetensors_type_text(text, t)[0]);
        if (t->bytes > 0)
            FUZZ_ASSERT(bytes[0] + bytes[t->bytes - 1] >= 0);
    }
    safetensors_text(&file, "format");
    safetensors_close(&file);
    return 0;
}
