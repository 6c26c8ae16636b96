#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/workloads/data/array_file.h"

#define MAGIC       "\x93NUMPY"
#define MAGIC_BYTES (sizeof MAGIC - 1)
#define TYPE_MAX    16

/* Contents of a header's Python dictionary. */
struct npy_header {
    /* numpy type string: byte order, kind and size of a number, such as "<i8" */
    char type[TYPE_MAX];
    bool fortran;
    int n_dims; /* number of dimensions in the file, possibly more than `dims` holds */
    uint64_t dims[ARRAY_DIMS_MAX];
};

/* ---- Text: a Python dict of three keys ---- */

struct text {
    const char *at, *end;
};

static void skip_spaces(struct text *t)
{
    while (t->at < t->end && (*t->at == ' ' || *t->at == '\n'))
        t->at++;
}

/* Skips spaces, then `word` if it comes next. Returns whether `word` was found. */
static bool take(struct text *t, const char *word)
{
    size_t n = strlen(word);
    skip_spaces(t);
    bool found = (size_t)(t->end - t->at) >= n && memcmp(t->at, word, n) == 0;
    t->at += found ? n : 0;
    return found;
}

/* Reads a string in single or double quotes. */
static bool take_quoted(struct text *t, char quoted[TYPE_MAX])
{
    char quote = take(t, "'") ? '\'' : take(t, "\"") ? '"' : '\0';
    const char *end = quote ? memchr(t->at, quote, (size_t)(t->end - t->at)) : NULL;
    if (end == NULL || end - t->at >= TYPE_MAX)
        return false;
    snprintf(quoted, TYPE_MAX, "%.*s", (int)(end - t->at), t->at);
    t->at = end + 1;
    return true;
}

/* Skips spaces and reads a decimal number of 1 to 18 digits, which fits in 64 bits. Returns false
 * if there are fewer or more digits. */
static bool take_number(struct text *t, uint64_t *number)
{
    skip_spaces(t);
    const char *start = t->at;
    for (*number = 0; t->at < t->end && *t->at >= '0' && *t->at <= '9'; t->at++)
        if (t->at - start < 18)
            *number = 10 * *number + (uint64_t)(*t->at - '0');
    return t->at > start && t->at - start <= 18;
}

static bool take_type(struct text *t, struct npy_header *header)
{
    return take_quoted(t, header->type);
}

static bool take_order(struct text *t, struct npy_header *header)
{
    header->fortran = take(t, "True");
    return header->fortran || take(t, "False");
}

static bool take_shape(struct text *t, struct npy_header *header)
{
    bool more = take(t, "(");
    for (header->n_dims = 0; more && !take(t, ")"); header->n_dims++) {
        uint64_t number;
        if (!take_number(t, &number))
            return false;
        if (header->n_dims < ARRAY_DIMS_MAX)
            header->dims[header->n_dims] = number;
        take(t, "L"); /* Python 2 writes long integers with a trailing L, such as 28L */
        more = take(t, ",");
    }
    return more || take(t, ")");
}

static const struct {
    const char *name;
    bool (*take)(struct text *, struct npy_header *);
} keys[] = {{"descr", take_type}, {"fortran_order", take_order}, {"shape", take_shape}};
enum { KEYS = sizeof keys / sizeof *keys };

static bool take_pair(struct text *t, struct npy_header *header, unsigned *found)
{
    char name[TYPE_MAX];
    if (!take_quoted(t, name) || !take(t, ":"))
        return false;
    for (int i = 0; i < KEYS; i++)
        if (strcmp(name, keys[i].name) == 0) {
            *found |= 1u << i;
            return keys[i].take(t, header);
        }
    return false;
}

static bool take_header(struct text *t, struct npy_header *header)
{
    unsigned found = 0;
    bool more = take(t, "{");
    while (more && !take(t, "}")) {
        if (!take_pair(t, header, &found))
            return false;
        more = take(t, ",");
    }
    bool closed = more || take(t, "}");
    skip_spaces(t);
    return closed && found == (1u << KEYS) - 1 && t->at == t->end;
}

/* ---- Checks of images and labels ---- */

static enum status check_shape(const struct array_file *file, const struct npy_header *header,
                               struct error *e)
{
    bool images = header->n_dims == 3 || header->n_dims == 4;
    if (file->is_images ? images : header->n_dims == 1)
        return OK;
    if (file->is_images && header->type[0] != '\0' && header->type[1] == 'O')
        return error_at(e, ERR_DATA, file->path, 0, 0,
                        "found dtype '%s', an array of objects; expected one array of uint8. Give "
                        "all images the same size",
                        header->type);
    if (images || header->n_dims == 1)
        return array_error_swapped(file, "shape", e);
    return error_at(
        e, ERR_DATA, file->path, 0, 0, "found an array of %d dimension%s, expected %s",
        header->n_dims, header->n_dims == 1 ? "" : "s",
        file->is_images
            ? "images of the shape [N, H, W], [N, H, W, 3], [N, 3, H, W] or [N, 1, H, W]"
            : "one label per image. Save y.argmax(axis=1) if the labels y are one-hot, "
              "otherwise y.reshape(-1)");
}

static enum status check_order(const struct array_file *file, const struct npy_header *header,
                               struct error *e)
{
    if (!header->fortran || header->n_dims == 1)
        return OK;
    return error_at(e, ERR_DATA, file->path, 0, 0,
                    "expected C order, found Fortran order. Save numpy.ascontiguousarray(x)");
}

static bool is_one_of(char c, const char *several)
{
    return c != '\0' && strchr(several, c) != NULL;
}

static enum status error_type(const struct array_file *file, const char *type, struct error *e)
{
    bool images = file->is_images, real = is_one_of(type[1], "fc");
    return error_at(e, ERR_DATA, file->path, 0, 0, "found dtype '%s'%s, expected %s: write %s",
                    type, real ? " (floating point)" : "",
                    images ? "uint8, a byte for each colour of a pixel" : "integers of 0 to 255",
                    !images ? "y.astype('uint8')"
                    : real  ? "(x * 255).astype('uint8') if x is from 0 to 1"
                            : "x.astype('uint8')");
}

static enum status find_items(struct array_file *file, const char type[TYPE_MAX], struct error *e)
{
    static const char *const sizes[] = {"1", "2", "4", "8"};
    struct array_items items = {.big_endian = type[0] == '>', .is_signed = type[1] == 'i'};
    for (int i = 0; i < 4; i++)
        if (is_one_of(type[0], "<>|") && is_one_of(type[1], "ui") &&
            strcmp(type + 2, sizes[i]) == 0)
            items.bytes = 1 << i;
    file->items = items;
    bool taken = file->is_images ? items.bytes == 1 && !items.is_signed : items.bytes > 0;
    return taken ? OK : error_type(file, type, e);
}

/* ---- Header ---- */

/* Returns the offset of the header's text. The length field before it has two bytes in version 1,
 * four in versions 2 and 3. */
static size_t text_at(const uint8_t *bytes)
{
    return MAGIC_BYTES + 2 + (bytes[MAGIC_BYTES] == 1 ? 2 : 4);
}

static enum status find_text(struct array_file *file, const uint8_t *bytes, size_t n,
                             struct error *e)
{
    enum { SHORTEST = MAGIC_BYTES + 6 };
    if (n < MAGIC_BYTES || memcmp(bytes, MAGIC, MAGIC_BYTES) != 0)
        return error_at(
            e, ERR_DATA, file->path, 0, 0,
            "byte 0: expected \\x93NUMPY, the first bytes of an NPY file. Write the array "
            "with numpy.save");
    if (n < SHORTEST)
        return array_error_header_cut(file, SHORTEST, n, e);
    if (bytes[MAGIC_BYTES] < 1 || bytes[MAGIC_BYTES] > 3)
        return error_at(e, ERR_DATA, file->path, 0, 0,
                        "byte 6: found NPY version %d, expected 1, 2 or 3. Write the array with "
                        "numpy.save",
                        bytes[MAGIC_BYTES]);
    size_t start = text_at(bytes);
    file->header_bytes =
        start + array_number(bytes + MAGIC_BYTES + 2, start == SHORTEST ? 4 : 2, false);
    if (file->header_bytes > ARRAY_HEADER_MAX)
        return error_at(e, ERR_DATA, file->path, 0, 0,
                        "byte 8: found a header of %zu bytes, expected at most %d. Write the array "
                        "with numpy.save",
                        file->header_bytes, ARRAY_HEADER_MAX);
    return n < file->header_bytes ? array_error_header_cut(file, file->header_bytes, n, e) : OK;
}

/* Makes the error for header text that is invalid at byte `at` of the file. The error quotes the
 * beginning of the header text: at most 80 bytes from `start` on. */
static enum status error_text(const struct array_file *file, struct text text, ptrdiff_t at,
                              const char *start, struct error *e)
{
    enum { SHOWN = 80 };
    ptrdiff_t n = text.end - start;
    while (n > 0 && (start[n - 1] == ' ' || start[n - 1] == '\n'))
        n--;
    return error_at(e, ERR_DATA, file->path, 0, 0,
                    "byte %td: expected a header such as {'descr': '|u1', 'fortran_order': False, "
                    "'shape': (N, ...)}, found '%.*s'. Write a uint8 array with numpy.save",
                    at, (int)(n < SHOWN ? n : SHOWN), start);
}

static enum status read_header(struct array_file *file, const uint8_t *bytes, size_t n,
                               struct error *e)
{
    struct npy_header header = {0};
    TRY(find_text(file, bytes, n, e));
    const char *start = (const char *)bytes + text_at(bytes);
    struct text text = {start, (const char *)bytes + file->header_bytes};
    if (!take_header(&text, &header))
        return error_text(file, text, text.at - (const char *)bytes, start, e);
    TRY(check_shape(file, &header, e));
    TRY(check_order(file, &header, e));
    TRY(find_items(file, header.type, e));
    file->n_dims = header.n_dims;
    memcpy(file->dims, header.dims, sizeof file->dims);
    return OK;
}

const struct array_format array_format_npy = {.name = "NPY", .read_header = read_header};
