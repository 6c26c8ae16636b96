/* Where a run was made, and how it is made again: manifest.json, the command, the spec. */
#include <string.h>

#include "bench/page/html.h"
#include "bench/page/page_run.h"

/* ---- Provenance ---- */

static void print_value(FILE *out, const json_t *value)
{
    if (json_is_string(value))
        html_text(out, json_string_value(value));
    else if (json_is_integer(value))
        fprintf(out, "%lld", (long long)json_integer_value(value));
    else if (json_is_real(value))
        fprintf(out, "%g", json_real_value(value));
    else
        fputs(json_is_true(value) ? "yes" : json_is_false(value) ? "no" : "not known", out);
}

static void write_fact(FILE *out, const char *name, const json_t *value)
{
    fputs("<tr><th scope=\"row\">", out);
    html_text(out, name);
    fputs("</th><td>", out);
    print_value(out, value);
    fputs("</td></tr>\n", out);
}

/* One part of the manifest; lists in it are not told. */
static void write_part(FILE *out, const json_t *part, const char *title)
{
    const char *name;
    json_t *value;
    if (json_object_size(part) == 0)
        return;
    fprintf(out, "<tr><th class=\"part\" colspan=\"2\" scope=\"colgroup\">%s</th></tr>\n", title);
    json_object_foreach((json_t *)part, name, value)
    {
        if (!json_is_array(value) && !json_is_object(value))
            write_fact(out, name, value);
    }
}

void page_provenance_write(FILE *out, const json_t *manifest)
{
    static const struct {
        const char *name, *title;
    } parts[] = {{"machine", "Machine"},
                 {"build", "Program"},
                 {"facts", "What all launches share"},
                 {"preflight", "State of the machine when it began"}};
    fputs("<details><summary>Provenance: machine, versions, date</summary>\n", out);
    if (manifest == NULL)
        fputs("<p>There is no manifest.json in the run's folder.</p>\n", out);
    else
        fputs("<div class=\"scroll\"><table class=\"facts\"><tbody>\n", out);
    for (size_t i = 0; manifest != NULL && i < sizeof parts / sizeof *parts; i++) {
        if (i == 0)
            write_part(out, manifest, "Run");
        write_part(out, json_object_get(manifest, parts[i].name), parts[i].title);
    }
    fputs(manifest != NULL ? "</tbody></table></div>\n</details>\n" : "</details>\n", out);
}

/* ---- Again ---- */

/* As a shell takes it. */
static void write_word(FILE *out, const char *before, const char *word)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                "_-./=+:,@%";
    fputs(before, out);
    bool quoted = word[strspn(word, plain)] != '\0' || *word == '\0';
    fputs(quoted ? "'" : "", out);
    for (const char *c = word; *c; c++) {
        const char letter[] = {*c, '\0'};
        html_text(out, *c == '\'' ? "'\\''" : letter);
    }
    fputs(quoted ? "'" : "", out);
}

static void write_make(FILE *out, const json_t *manifest)
{
    const char *spec = json_string_value(json_object_get(manifest, "spec"));
    const char *set = json_string_value(json_object_get(manifest, "set"));
    if (spec == NULL)
        return;
    write_word(out, "make bench CONFIG=", spec);
    if (set != NULL)
        write_word(out, " SET=", set);
    fputc('\n', out);
}

static void write_typed(FILE *out, const json_t *command)
{
    size_t i;
    json_t *word;
    json_array_foreach((json_t *)command, i, word) if (json_is_string(word))
        write_word(out, i > 0 ? " " : "# as it was typed:\n", json_string_value(word));
    if (json_array_size(command) > 0)
        fputc('\n', out);
}

static void write_commands(FILE *out, const json_t *manifest, const char *path)
{
    fputs("<details><summary>How to run it again</summary>\n<pre><code>", out);
    write_make(out, manifest);
    write_typed(out, json_object_get(manifest, "command"));
    write_word(out, "# its figures again, nothing run:\nmake figures CONFIG=", path);
    fputs("\n</code></pre>\n", out);
}

void page_again_write_sweep(FILE *out, const json_t *manifest, const char *table)
{
    write_commands(out, manifest, table);
    fputs("</details>\n", out);
}

enum status page_again_write(FILE *out, const struct page_run *run, struct error *e)
{
    char path[PATH_BYTES];
    write_commands(out, run->manifest, run->path);
    fputs("<p>The spec, every option as it was:</p>\n<pre><code>", out);
    TRY(path_format(path, e, "%s/spec.yaml", run->path));
    TRY(html_file(out, path, true, e));
    fputs("</code></pre>\n</details>\n", out);
    return OK;
}
