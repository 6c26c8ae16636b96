#include "bench/runner/compare/format.h"

#include "kernels/base/names.h"

static const struct {
    const char *name;
    format_writer *compare;
    check_writer *check; /* NULL: check does not tell so */
} formats[] = {
#define FORMAT(name, compare, check, meaning)  {#name, compare, check},
#define COMPARE_FORMAT(name, compare, meaning) {#name, compare, NULL},
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
    *writer = formats[index].compare;
    return OK;
}

enum status format_find_check(check_writer **writer, const char *name, struct error *e)
{
    const char *names[N_FORMATS];
    check_writer *writers[N_FORMATS];
    size_t n = 0;
    int index;
    for (size_t i = 0; i < N_FORMATS; i++)
        if (formats[i].check != NULL) {
            names[n] = formats[i].name;
            writers[n++] = formats[i].check;
        }
    TRY(option_name("format", name, names, n, &index, e));
    *writer = writers[index];
    return OK;
}
