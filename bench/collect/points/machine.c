/* Reads facts about the machine and software of a run from manifest.json. */
#include <errno.h>
#include <string.h>

#include "bench/base/file.h"
#include "bench/base/json.h"
#include "bench/collect/summary.h"

static int fact(const json_t *machine, const char *name)
{
    return (int)json_integer_value(json_object_get(machine, name));
}

/* Writes a word quoted for a shell: in single quotes if it has special characters, otherwise in
 * double quotes if it has blanks. */
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

/* Joins the words of a command line. A line that is too long is cut. `text` must be zeroed. */
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

/* Reads the setup of a run from the manifest. Appends to s->undocumented each missing fact that is
 * needed to repeat the run. */
static void take_setup(struct summary *s, const json_t *manifest)
{
    struct run_setup *setup = &s->setup;
    const struct {
        const char *part, *name; /* object of the manifest (NULL: top level), and name of the fact
                                    in this object */
        bool is_needed;
        char *text; /* destination of the fact; NULL: only its presence is checked */
        size_t size;
    } told[] = {
#define TOLD(part, member, is_needed)                                                              \
    {part, #member, is_needed, setup->member, sizeof setup->member}
        {NULL, "command", true, NULL, 0},
        TOLD(NULL, started, false),
        TOLD("machine", host, true),
        TOLD("machine", cpu, false),
        TOLD("machine", caches, false),
        TOLD("machine", architecture, true),
        TOLD("machine", system, false),
        TOLD("machine", kernel, true),
        {"machine", "usable_cores", true, NULL, 0},
        TOLD("build", revision, true),
        TOLD("build", compiler, true),
#undef TOLD
    };
    for (size_t i = 0; i < sizeof told / sizeof *told; i++) {
        const json_t *part =
            told[i].part != NULL ? json_object_get(manifest, told[i].part) : manifest;
        const json_t *value = json_object_get(part, told[i].name);
        if (told[i].text != NULL)
            snprintf(told[i].text, told[i].size, "%s", json_text_of(part, told[i].name));
        if (told[i].is_needed && (value == NULL || json_is_null(value)))
            text_join(s->undocumented, sizeof s->undocumented, ", ", told[i].name);
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
        take_setup(s, NULL);
        return OK;
    }
    if (file == NULL)
        return error_at(e, ERR_SYSTEM, path, 0, 0, "cannot be read: %s", why);
    json_t *manifest = json_loadf(file, 0, &reason);
    fclose(file);
    if (manifest == NULL)
        return error_at(e, ERR_DATA, path, reason.line, reason.column, "%s", reason.text);
    const json_t *machine = json_object_get(manifest, "machine");
    s->usable_cores = fact(machine, "usable_cores");
    s->machine_cores = fact(machine, "machine_cores");
    s->numa_nodes = fact(machine, "numa_nodes");
    snprintf(s->link, sizeof s->link, "%s", json_text_of(machine, "link"));
    take_setup(s, manifest);
    json_decref(manifest);
    return OK;
}
