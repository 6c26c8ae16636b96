#include "bench/compare/format.h"

#include "kernels/base/names.h"

static const struct {
    const char *name;
    format_writer *writer;
} formats[] = {
#define FORMAT(name, compare, check, meaning)  {#name, compare},
#define COMPARE_FORMAT(name, compare, meaning) {#name, compare},
#include "bench/compare/formats.def"
};

static const struct {
    const char *name;
    check_writer *writer;
} check_formats[] = {
#define FORMAT(name, compare, check, meaning) {#name, check},
#define COMPARE_FORMAT(name, compare, meaning)
#include "bench/compare/formats.def"
};

enum status format_find(format_writer **writer, const char *name, struct error *e)
{
    int index;
    TRY(option_row("format", name, formats, sizeof formats / sizeof *formats, sizeof *formats,
                   &index, e));
    *writer = formats[index].writer;
    return OK;
}

enum status format_find_check(check_writer **writer, const char *name, struct error *e)
{
    int index;
    TRY(option_row("format", name, check_formats, sizeof check_formats / sizeof *check_formats,
                   sizeof *check_formats, &index, e));
    *writer = check_formats[index].writer;
    return OK;
}
