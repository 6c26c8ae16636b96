/* Tests the safetensors format. Files match the specification and can be read back; damaged files
 * are rejected with the offset; a writer killed at any byte leaves the previous file. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench/base/safetensors.h"

static char folder[] = "/tmp/scalebench-tensors-XXXXXX";
static char path[64], temporary[72];

static int make_folder(void **state)
{
    if (mkdtemp(folder) == NULL)
        return -1;
    snprintf(path, sizeof path, "%s/c.safetensors", folder);
    snprintf(temporary, sizeof temporary, "%s.tmp", path);
    return 0;
}

static int remove_folder(void **state)
{
    unlink(path);
    unlink(temporary);
    return rmdir(folder);
}

static bool exists(const char *name)
{
    return access(name, F_OK) == 0;
}

/* Three tensors of different types and shapes, filled with `value`. */
struct sample {
    float weight[6];
    double scalar;
    uint8_t bytes[5];
    struct safetensors_tensor tensors[4];
    json_t *metadata;
};

static void sample_make(struct sample *s, int value)
{
    for (int i = 0; i < 6; i++)
        s->weight[i] = (float)value;
    s->scalar = value;
    memset(s->bytes, value, sizeof s->bytes);
    s->tensors[0] = (struct safetensors_tensor){
        .name = "fc.weight", .dtype = "F32", .n_dims = 2, .dims = {2, 3}, .data = s->weight};
    s->tensors[1] =
        (struct safetensors_tensor){.name = "scalar", .dtype = "F64", .data = &s->scalar};
    s->tensors[2] = (struct safetensors_tensor){
        .name = "none", .dtype = "F32", .n_dims = 1, .dims = {0}, .data = s->weight};
    s->tensors[3] = (struct safetensors_tensor){
        .name = "bytes", .dtype = "U8", .n_dims = 1, .dims = {5}, .data = s->bytes};
    s->metadata = json_pack("{s:s}", "seed", "7");
}

static enum status sample_write(int value, struct error *e)
{
    struct sample s;
    sample_make(&s, value);
    enum status status = safetensors_write(path, s.tensors, 4, s.metadata, e);
    json_decref(s.metadata);
    return status;
}

/* Returns whether the file holds the complete sample of this value. */
static bool sample_is(int value)
{
    struct safetensors file;
    struct error e;
    struct sample s;
    sample_make(&s, value);
    bool good = safetensors_open(&file, path, &e) == OK && file.n == 4;
    for (int i = 0; i < 4 && good; i++) {
        const struct safetensors_tensor *found = safetensors_find(&file, s.tensors[i].name);
        good = found != NULL && strcmp(found->dtype, s.tensors[i].dtype) == 0 &&
               found->n_dims == s.tensors[i].n_dims &&
               memcmp(found->dims, s.tensors[i].dims, sizeof found->dims) == 0 &&
               (found->bytes == 0 || memcmp(found->data, s.tensors[i].data, found->bytes) == 0);
    }
    good = good && strcmp(safetensors_text(&file, "seed"), "7") == 0;
    safetensors_close(&file);
    json_decref(s.metadata);
    return good;
}

static void put_file(const char *name, const void *data, size_t bytes)
{
    FILE *out = fopen(name, "w");
    assert_non_null(out);
    assert_int_equal(fwrite(data, 1, bytes, out), bytes);
    assert_int_equal(fclose(out), 0);
}

static char *read_file(const char *name, size_t *bytes)
{
    struct stat info;
    assert_int_equal(stat(name, &info), 0);
    *bytes = (size_t)info.st_size;
    char *data = malloc(*bytes + 1);
    FILE *in = fopen(name, "r");
    assert_non_null(in);
    assert_int_equal(fread(data, 1, *bytes, in), *bytes);
    fclose(in);
    return data;
}

static void what_is_written_reads_back(void **state)
{
    struct error e;
    assert_int_equal(sample_write(3, &e), OK);
    assert_true(sample_is(3));
    assert_int_equal(sample_write(4, &e), OK);
    assert_true(sample_is(4) && !sample_is(3));
    assert_false(exists(temporary));
}

/* Compares bytes without our own reader. */
static void a_file_is_what_the_format_says(void **state)
{
    static const char header[] =
        "{\"__metadata__\":{\"seed\":\"7\"},"
        "\"fc.weight\":{\"dtype\":\"F32\",\"shape\":[2,3],\"data_offsets\":[0,24]},"
        "\"scalar\":{\"dtype\":\"F64\",\"shape\":[],\"data_offsets\":[24,32]},"
        "\"none\":{\"dtype\":\"F32\",\"shape\":[0],\"data_offsets\":[32,32]},"
        "\"bytes\":{\"dtype\":\"U8\",\"shape\":[5],\"data_offsets\":[32,37]}}";
    struct error e;
    size_t bytes, length = sizeof header - 1, padded = (length + 7) / 8 * 8;
    assert_int_equal(sample_write(9, &e), OK);
    char *data = read_file(path, &bytes);
    const uint8_t stated[8] = {(uint8_t)padded, (uint8_t)(padded >> 8)};
    assert_int_equal(bytes, 8 + padded + 37);
    assert_memory_equal(data, stated, 8);
    assert_memory_equal(data + 8, header, length);
    for (size_t i = length; i < padded; i++)
        assert_int_equal(data[8 + i], ' ');
    const float nines[] = {9, 9, 9, 9, 9, 9};
    assert_memory_equal(data + 8 + padded, nines, sizeof nines);
    assert_memory_equal(data + 8 + padded + 32, "\t\t\t\t\t", 5);
    free(data);
}

/* ---- Truncated files ---- */

static void every_cut_is_refused_with_its_offset(void **state)
{
    struct error e;
    struct safetensors empty;
    size_t bytes;
    put_file(path, "", 0);
    assert_int_equal(safetensors_open(&empty, path, &e), ERR_DATA);
    assert_string_equal(e.text, "the file is empty");
    safetensors_close(&empty);
    assert_int_equal(sample_write(5, &e), OK);
    char *data = read_file(path, &bytes);
    for (size_t cut = 1; cut < bytes; cut++) {
        struct safetensors file;
        char offset[32];
        put_file(path, data, cut);
        assert_int_equal(safetensors_open(&file, path, &e), ERR_DATA);
        safetensors_close(&file);
        assert_string_equal(e.file, path);
        snprintf(offset, sizeof offset, "offset %zu: ", cut);
        assert_memory_equal(e.text, offset, strlen(offset));
        assert_non_null(strstr(e.text, "expected "));
        assert_int_equal(error_exit_status(&e), 2);
    }
    free(data);
}

/* The kernel kills the writer at byte `cut`. */
static int write_and_die(size_t cut)
{
    pid_t child = fork();
    if (child == 0) {
        struct error e;
        const struct rlimit none = {0, 0}, limit = {cut, cut};
        setrlimit(RLIMIT_CORE, &none);
        setrlimit(RLIMIT_FSIZE, &limit);
        _exit(sample_write(2, &e) == OK ? 0 : 1);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    return status;
}

static void a_writer_that_dies_at_any_byte_leaves_the_file_of_before(void **state)
{
    struct error e;
    struct stat info;
    assert_int_equal(sample_write(1, &e), OK);
    assert_int_equal(stat(path, &info), 0);
    size_t bytes = (size_t)info.st_size;
    for (size_t cut = 0; cut < bytes; cut++) {
        int status = write_and_die(cut);
        assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGXFSZ);
        assert_int_equal(stat(temporary, &info), 0);
        assert_int_equal(info.st_size, cut);
        assert_true(sample_is(1));
        struct safetensors file;
        assert_int_equal(safetensors_open(&file, temporary, &e), ERR_DATA);
        safetensors_close(&file);
    }
    int status = write_and_die(bytes);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    assert_true(sample_is(2));
    assert_false(exists(temporary));
}

/* On a full disk the writer gets an error and removes its file. */
static void a_write_that_fails_leaves_the_file_of_before(void **state)
{
    struct error e;
    struct rlimit before;
    assert_int_equal(sample_write(1, &e), OK);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    const struct rlimit limit = {100, before.rlim_max};
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
    enum status status = sample_write(2, &e);
    setrlimit(RLIMIT_FSIZE, &before);
    signal(SIGXFSZ, SIG_DFL);
    assert_int_equal(status, ERR_SYSTEM);
    assert_string_equal(e.file, path);
    assert_string_equal(e.text, "cannot be written in full: File too large");
    assert_true(sample_is(1));
    assert_false(exists(temporary));
}

static void folders_that_are_not_there_are_named(void **state)
{
    struct error e;
    struct safetensors file;
    assert_int_equal(safetensors_write("/nowhere/a.safetensors", NULL, 0, NULL, &e), ERR_SYSTEM);
    assert_string_equal(e.file, "/nowhere/a.safetensors");
    assert_string_equal(e.text, "cannot be written: No such file or directory");
    assert_int_equal(safetensors_open(&file, "/nowhere/a.safetensors", &e), ERR_DATA);
    safetensors_close(&file);
    assert_string_equal(e.text, "cannot be opened: No such file or directory");
    assert_int_equal(safetensors_open(&file, folder, &e), ERR_DATA);
    safetensors_close(&file);
    assert_string_equal(e.text, "cannot be opened: expected a regular file, found a folder");
}

static void names_must_differ_and_be_text(void **state)
{
    struct error e;
    struct sample s;
    sample_make(&s, 1);
    s.tensors[1].name = "fc.weight";
    assert_int_equal(safetensors_write(path, s.tensors, 4, NULL, &e), ERR_ARGUMENT);
    assert_string_equal(e.text, "tensor names must differ, found 'fc.weight' twice");
    s.tensors[1].name = "\xff";
    assert_int_equal(safetensors_write(path, s.tensors, 4, NULL, &e), ERR_ARGUMENT);
    json_decref(s.metadata);
}

/* ---- Malformed files ---- */

/* Header, number of data bytes after it, and expected message. A trailing "..." stands for more
 * text. */
static const struct {
    const char *header;
    size_t data;
    const char *expected;
} MALFORMED[] = {
    {"[]", 0, "offset 8: the header does not begin with '{': expected a safetensors file"},
    {" {}", 0, "offset 8: the header does not begin with '{': expected a safetensors file"},
    {"{}", 3, "offset 10: 3 bytes belong to no tensor; expected the end of the file"},
    {"{}}", 0, "offset 11: the header is not JSON: ..."},
    {"{\"a\":", 0, "offset 13: the header is not JSON: ..."},
    {"{\"a\":{\"dtype\":\"F32\",\"shape\":[NaN],\"data_offsets\":[0,4]}}", 4,
     "offset 40: the header is not JSON: invalid token..."},
    {"{\"a\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1]},"
     "\"a\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[1,2]}}",
     2, "offset 64: the header is not JSON: duplicate object key..."},
    {"{\"a\":{\"dtype\":\"U8\",\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1]}}", 1,
     "offset 34: the header is not JSON: duplicate object key..."},
    {"{\"__metadata__\":[]}", 0, "offset 8: __metadata__ must be an object of strings"},
    {"{\"__metadata__\":{\"seed\":7}}", 0,
     "offset 8: __metadata__: the value of 'seed' must be a string"},
    {"{\"a\":7}", 0, "offset 8: tensor 'a' must be an object of dtype, shape and data_offsets"},
    {"{\"a\":{\"dtype\":\"U8\",\"shape\":[1]}}", 1,
     "offset 8: tensor 'a': 'data_offsets' is missing"},
    {"{\"a\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1],\"b\":1}}", 1,
     "offset 8: tensor 'a' has 4 keys; expected dtype, shape and data_offsets"},
    {"{\"a\":{\"dtype\":\"F31\",\"shape\":[1],\"data_offsets\":[0,4]}}", 4,
     "offset 8: tensor 'a': dtype 'F31' is unknown; known: BOOL U8 I8 F8_E5M2 F8_E4M3 "
     "I16 U16 F16 BF16 I32 U32 F32 F64 I64 U64"},
    {"{\"a\":{\"dtype\":4,\"shape\":[1],\"data_offsets\":[0,4]}}", 4,
     "offset 8: tensor 'a': dtype 'not a string' is unknown..."},
    {"{\"a\":{\"dtype\":\"F32\",\"shape\":2,\"data_offsets\":[0,8]}}", 8,
     "offset 8: tensor 'a': 'shape' must be a list of at most 8 whole numbers"},
    {"{\"a\":{\"dtype\":\"U8\",\"shape\":[1,1,1,1,1,1,1,1,1],\"data_offsets\":[0,1]}}", 1,
     "offset 8: tensor 'a': 'shape' must be a list of at most 8 whole numbers"},
    {"{\"a\":{\"dtype\":\"F32\",\"shape\":[1,-2],\"data_offsets\":[0,8]}}", 8,
     "offset 8: tensor 'a': number 2 of 'shape' must be a whole number of 0 or more"},
    {"{\"a\":{\"dtype\":\"F32\",\"shape\":[2.0],\"data_offsets\":[0,8]}}", 8,
     "offset 8: tensor 'a': number 1 of 'shape' must be a whole number of 0 or more"},
    {"{\"a\":{\"dtype\":\"F64\",\"shape\":[4611686018427387904],\"data_offsets\":[0,0]}}", 0,
     "offset 8: tensor 'a' is larger than any memory"},
    {"{\"a\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0]}}", 1,
     "offset 8: tensor 'a': 'data_offsets' must be two ascending whole numbers"},
    {"{\"a\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[1,0]}}", 1,
     "offset 8: tensor 'a': 'data_offsets' must be two ascending whole numbers"},
    {"{\"a\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[-1,0]}}", 1,
     "offset 8: tensor 'a': 'data_offsets' must be two ascending whole numbers"},
    {"{\"a\":{\"dtype\":\"F32\",\"shape\":[2,3],\"data_offsets\":[0,20]}}", 20,
     "offset 8: tensor 'a': F32 [2,3] takes 24 bytes, but data_offsets [0, 20] hold 20"},
    {"{\"a\":{\"dtype\":\"U8\",\"shape\":[9],\"data_offsets\":[0,9]}}", 7,
     "offset 68: the file ends; expected tensor 'a' up to byte 9 of the data, found 7 bytes of "
     "data"},
    {"{\"a\":{\"dtype\":\"U8\",\"shape\":[4],\"data_offsets\":[0,4]},"
     "\"b\":{\"dtype\":\"U8\",\"shape\":[4],\"data_offsets\":[3,7]}}",
     7, "offset 116: tensor 'b' begins inside 'a'; expected at offset 117 or later"},
    {"{\"a\":{\"dtype\":\"U8\",\"shape\":[4],\"data_offsets\":[6,10]},"
     "\"b\":{\"dtype\":\"U8\",\"shape\":[4],\"data_offsets\":[0,4]}}",
     10, "offset 118: 2 bytes belong to no tensor; expected 'a' here"},
};

static void put_malformed(const char *header, size_t data, uint64_t length)
{
    size_t n = strlen(header);
    char *bytes = calloc(1, 8 + n + data);
    memcpy(bytes, &length, 8);
    memcpy(bytes + 8, header, n);
    put_file(path, bytes, 8 + n + data);
    free(bytes);
}

static void expect_refusal(const char *expected)
{
    struct safetensors file;
    struct error e = {.status = OK};
    size_t n = strlen(expected);
    bool open_ended = n > 3 && strcmp(expected + n - 3, "...") == 0;
    assert_int_equal(safetensors_open(&file, path, &e), ERR_DATA);
    safetensors_close(&file);
    assert_int_equal(e.status, ERR_DATA);
    assert_string_equal(e.file, path);
    if (open_ended && strncmp(e.text, expected, n - 3) == 0)
        return;
    assert_string_equal(e.text, expected);
}

static void malformed_files_are_refused(void **state)
{
    for (size_t i = 0; i < sizeof MALFORMED / sizeof *MALFORMED; i++) {
        put_malformed(MALFORMED[i].header, MALFORMED[i].data, strlen(MALFORMED[i].header));
        expect_refusal(MALFORMED[i].expected);
    }
}

static void lengths_of_headers_are_refused(void **state)
{
    put_malformed("{}", 0, 0);
    expect_refusal("offset 8: the header does not begin with '{': expected a safetensors file");
    put_malformed("{}", 0, 3);
    expect_refusal("offset 10: the file ends inside the header; expected 3 bytes of it, found 2");
    put_malformed("{}", 0, 100000001);
    expect_refusal(
        "offset 0: found a header of 100000001 bytes; the format allows at most 100000000");
    put_malformed("{}", 0, UINT64_MAX);
    expect_refusal("offset 0: found a header of 18446744073709551615 bytes; the format allows at "
                   "most 100000000");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_written_reads_back),
        cmocka_unit_test(a_file_is_what_the_format_says),
        cmocka_unit_test(every_cut_is_refused_with_its_offset),
        cmocka_unit_test(a_writer_that_dies_at_any_byte_leaves_the_file_of_before),
        cmocka_unit_test(a_write_that_fails_leaves_the_file_of_before),
        cmocka_unit_test(folders_that_are_not_there_are_named),
        cmocka_unit_test(names_must_differ_and_be_text),
        cmocka_unit_test(malformed_files_are_refused),
        cmocka_unit_test(lengths_of_headers_are_refused),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
