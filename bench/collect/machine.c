/* What a run's manifest says of the machine. */
#include <errno.h>
#include <string.h>

#include "bench/base/file.h"
#include "bench/base/json.h"
#include "bench/collect/summary.h"

static int fact(const json_t *machine, const char *name)
{
    return (int)json_integer_value(json_object_get(machine, name));
}

/* What a reader would need to do it again. */
static const struct {
    const char *part, *name; /* part NULL: of the manifest itself */
} wanted[] = {{NULL, "command"},     {"machine", "host"},         {"machine", "architecture"},
              {"machine", "kernel"}, {"machine", "usable_cores"}, {"build", "revision"},
              {"build", "compiler"}};

static const json_t *part_of(const json_t *manifest, const char *part)
{
    return part != NULL ? json_object_get(manifest, part) : manifest;
}

static void take_gaps(struct summary *s, const json_t *manifest)
{
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        const json_t *value = json_object_get(part_of(manifest, wanted[i].part), wanted[i].name);
        if (value == NULL || json_is_null(value))
            text_join(s->undocumented, sizeof s->undocumented, ", ", wanted[i].name);
    }
}

/* As a shell takes it: with blanks in double quotes, with what it makes something of in single ones. */
static void quote_word(FILE *out, const char *word)
{
    const char *quote = strchr(word, ' ') != NULL ? "\"" : "";
    if (strpbrk(word, "\"$`\\!;&|<>()*?'#~\n\t") == NULL) {
        fprintf(out, "%s%s%s", quote, word, quote);
        return;
    }
    fputc('\'', out);
    for (; *word; word++)
        fprintf(out, *word == '\'' ? "'\\''" : "%c", *word);
    fputc('\'', out);
}

/* Cut to fit into `text`, which is all 0. */
static void take_command(char *text, size_t size, const json_t *command)
{
    FILE *out = fmemopen(text, size - 1, "w");
    for (size_t i = 0; out != NULL && i < json_array_size(command); i++) {
        const char *word = json_string_value(json_array_get(command, i));
        fputs(i > 0 ? " " : "", out);
        quote_word(out, word != NULL ? word : "");
    }
    if (out != NULL)
        fclose(out);
}

static void take_setup(struct run_setup *setup, const json_t *manifest)
{
    const struct {
        const char *part, *name;
        char *text;
        size_t size;
    } told[] = {
#define TOLD(part, member) {part, #member, setup->member, sizeof setup->member}
        TOLD(NULL, started),     TOLD("machine", host),         TOLD("machine", cpu),
        TOLD("machine", caches), TOLD("machine", architecture), TOLD("machine", system),
        TOLD("machine", kernel), TOLD("build", revision),       TOLD("build", compiler),
#undef TOLD
    };
    for (size_t i = 0; i < sizeof told / sizeof *told; i++) {
        const json_t *part = part_of(manifest, told[i].part);
        snprintf(told[i].text, told[i].size, "%s", json_text_of(part, told[i].name));
    }
    take_command(setup->command, sizeof setup->command, json_object_get(manifest, "command"));
}

enum status machine_read(struct summary *s, const char *run_dir, struct error *e)
{
    char path[4096];
    json_error_t reason;
    snprintf(path, sizeof path, "%s/manifest.json", run_dir);
    const char *why;
    FILE *file = file_open_stream(path, &why);
    if (file == NULL && errno == ENOENT) {
        take_gaps(s, NULL);
        return OK;
    }
    if (file == NULL)
        return error_at(e, ERR_SYSTEM, path, 0, 0, "cannot read: %s", why);
    json_t *manifest = json_loadf(file, 0, &reason);
    fclose(file);
    if (manifest == NULL)
        return error_at(e, ERR_DATA, path, reason.line, reason.column, "%s", reason.text);
    const json_t *machine = json_object_get(manifest, "machine");
    s->usable_cores = fact(machine, "usable_cores");
    s->machine_cores = fact(machine, "machine_cores");
    s->numa_nodes = fact(machine, "numa_nodes");
    snprintf(s->link, sizeof s->link, "%s", json_text_of(machine, "link"));
    take_setup(&s->setup, manifest);
    take_gaps(s, manifest);
    json_decref(manifest);
    return OK;
}
