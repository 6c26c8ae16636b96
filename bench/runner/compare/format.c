#include "bench/runner/compare/format.h"

#include "kernels/base/names.h"

static const struct {
    const char *name;
    format_writer *writer;
} formats[] = {
#define FORMAT(name, writer, meaning) {#name, writer},
#include "bench/runner/compare/formats.def"
};
#define N_FORMATS (sizeof formats / sizeof *formats)

enum status format_find(format_writer **writer, const char *name, struct error *e)
{
    const char *names[N_FORMATS];
    int index;
    for (size_t i = 0; i < N_FORMATS; i++)
        names[i] = formats[i].name;
    TRY(option_name("format", name, names, N_FORMATS, &index, e));
    *writer = formats[index].writer;
    return OK;
}
