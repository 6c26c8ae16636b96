#include "bench/compare/format.h"

#include "kernels/base/names.h"

static const struct {
    const char *name;
    format_writer *writer;
} formats[] = {
#define FORMAT(name, compare, check, exact, meaning) {#name, compare},
#define COMPARE_FORMAT(name, compare, meaning)       {#name, compare},
#include "bench/compare/formats.def"
};

static const struct {
    const char *name;
    check_writer *check;
    exact_writer *exact;
} check_formats[] = {
#define FORMAT(name, compare, check, exact, meaning) {#name, check, exact},
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

static enum status find_check_format(int *index, const char *name, struct error *e)
{
    return option_row("format", name, check_formats, sizeof check_formats / sizeof *check_formats,
                      sizeof *check_formats, index, e);
}

enum status format_find_check(check_writer **writer, const char *name, struct error *e)
{
    int index;
    TRY(find_check_format(&index, name, e));
    *writer = check_formats[index].check;
    return OK;
}

enum status format_find_exact(exact_writer **writer, const char *name, struct error *e)
{
    int index;
    TRY(find_check_format(&index, name, e));
    *writer = check_formats[index].exact;
    return OK;
}
