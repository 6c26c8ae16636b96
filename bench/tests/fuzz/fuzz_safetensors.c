/* A file in the safetensors format, every tensor touched at both ends and every weight converted;
 * or its header and its data, with a line "----" between them, to which the length is given here
 * that chance would have wrong. */
#include "bench/tests/fuzz/fuzz.h"

#include "bench/base/safetensors.h"
#include "bench/workloads/checkpoint/checkpoint_numbers.h"

static const char *write_whole(const uint8_t *data, size_t size)
{
    const uint8_t *header, *numbers = NULL;
    size_t length, n = 0;
    fuzz_part(&data, &size, &header, &length);
    fuzz_part(&data, &size, &numbers, &n);
    const uint64_t stated = length;
    uint8_t *file = malloc(sizeof stated + length + n);
    FUZZ_ASSERT(file);
    memcpy(file, &stated, sizeof stated);
    memcpy(file + sizeof stated, header, length);
    if (n > 0)
        memcpy(file + sizeof stated + length, numbers, n);
    const char *path = fuzz_file("tensors", file, sizeof stated + length + n);
    free(file);
    return path;
}

/* Bytes of a length are no text. */
static bool is_header(const uint8_t *data, size_t size)
{
    return size > 1 && data[0] == '{' && data[1] != 0;
}

static void convert(const struct safetensors_tensor *t)
{
    size_t n = t->bytes / safetensors_type_bytes(t->dtype);
    real *numbers = malloc(n * sizeof *numbers + 1);
    uint16_t *codes = malloc(n * sizeof *codes + 1);
    FUZZ_ASSERT(numbers && codes && numbers_first_beyond(t) <= n);
    numbers_read(numbers, t);
    FUZZ_ASSERT(numbers_narrow(codes, numbers, n, CHECKPOINT_DTYPE_f16) <= n);
    free(numbers);
    free(codes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct safetensors file;
    struct error e = {.status = OK};
    char text[128];
    const char *path =
        is_header(data, size) ? write_whole(data, size) : fuzz_file("tensors", data, size);
    enum status status = safetensors_open(&file, path, &e);
    fuzz_said(status, &e);
    for (size_t i = 0; i < file.n && status == OK; i++) {
        const struct safetensors_tensor *t = &file.tensors[i];
        const volatile uint8_t *bytes = t->data;
        FUZZ_ASSERT(safetensors_find(&file, t->name) && safetensors_type_text(text, t)[0]);
        if (t->bytes > 0)
            FUZZ_ASSERT(bytes[0] + bytes[t->bytes - 1] >= 0);
        if (numbers_known(t->dtype))
            convert(t);
    }
    safetensors_text(&file, "format");
    safetensors_close(&file);
    return 0;
}
