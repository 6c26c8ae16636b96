/* Writes specs and expects them to load or to be rejected. */
#pragma once

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bench/spec/matrix.h"
#include "bench/spec/spec.h"
#include "bench/spec/tests/corpus.h"

static const struct spec_machine eight = {.usable_cores = 8};

#define HEAD "name: test\nmodel: softmax_784\n"
#define BODY HEAD "train: {global_batch: 64}\n"

/* ---- Files written by the test ---- */

static char file[] = "/tmp/scalebench-spec-XXXXXX.yaml";

static inline int make_file(void **state)
{
    int fd = mkstemps(file, 5);
    return fd < 0 ? -1 : close(fd);
}

static inline int remove_file(void **state)
{
    return unlink(file);
}

static inline void write_file(const char *text, size_t size)
{
    FILE *out = fopen(file, "w");
    assert_non_null(out);
    assert_int_equal(fwrite(text, 1, size, out), size);
    assert_int_equal(fclose(out), 0);
}

/* Copies a spec's inputs into `folder`, as a run keeps them; removes them if `keep` is false. */
static inline void keep_copies(const struct spec *spec, const char *folder, bool keep)
{
    for (size_t i = 0; i < spec->n_inputs; i++) {
        char command[2048];
        const struct spec_input *input = &spec->inputs[i];
        snprintf(command, sizeof command,
                 keep ? "mkdir -p '%s/%.*s' && cp '%s' '%s/%s'" : "rm -rf '%s/%.*s'", folder,
                 (int)strcspn(input->copy, "/"), input->copy, input->path, folder, input->copy);
        assert_int_equal(system(command), 0);
    }
}

/* Loads a text that must be valid. */
static inline void load_on(struct spec *spec, const char *text, const char *set,
                           const struct spec_machine *machine)
{
    struct error e = {.status = OK};
    write_file(text, strlen(text));
    if (spec_load(spec, file, set, machine, &e) != OK) {
        char line[2048];
        error_line(line, &e);
        fail_msg("%s", line);
    }
}

static inline void load(struct spec *spec, const char *text, const char *set)
{
    load_on(spec, text, set, &eight);
}

/* Expects a text to be rejected with `expected`: "line:column: text" or "SET:...". Three dots at
 * the end match any rest. */
static inline void refuse(const char *text, const char *set, const char *expected)
{
    struct spec spec;
    struct error e = {.status = OK};
    char line[2048], wanted[2048];
    write_file(text, strlen(text));
    assert_int_equal(spec_load(&spec, file, set, &eight, &e), ERR_SPEC);
    spec_free(&spec);
    error_line(line, &e);
    bool of_set = strncmp(expected, "SET:", 4) == 0;
    snprintf(wanted, sizeof wanted, "%s%s%s", of_set ? "" : file, of_set ? "" : ":", expected);
    char *rest = strstr(wanted, "...");
    if (rest != NULL && rest[3] == '\0')
        line[rest - wanted] = *rest = '\0';
    assert_string_equal(line, wanted);
}

/* Compares labels, joined as "ranks=1 none|ranks=2 allreduce". */
static inline void assert_labels(const struct spec *spec, const char *expected)
{
    char labels[4096] = "";
    for (size_t i = 0; i < spec->n_points; i++) {
        strcat(labels, i > 0 ? "|" : "");
        strcat(labels, spec->points[i].label);
    }
    assert_string_equal(labels, expected);
}
