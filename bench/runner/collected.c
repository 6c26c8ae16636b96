#include "bench/runner/collected.h"

#include <ctype.h>
#include <errno.h>
#include <sha2.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "bench/base/scratch.h"
#include "bench/runner/joined.h"
#include "bench/runner/run_spec.h"
#include "bench/runner/runs.h"
#include "bench/spec/find.h"
#include "kernels/base/mem.h"
#include "kernels/base/text.h"

/* ---- Names ---- */

/* Writes the short name of a class of hardware (hardware.h): "AMD EPYC, 2 cores". `caches`: whether
 * to append the sizes of caches. A class in another format is copied unchanged. */
static void name_class(char *name, size_t size, const char *class, bool caches)
{
    const char *at = strstr(class, ", caches "),
               *cores = at != NULL ? strstr(at, ", cores ") : NULL;
    int usable;
    if (cores != NULL && sscanf(cores, ", cores %*d (usable %d", &usable) == 1)
        snprintf(name, size, "%.*s, %d cores%.*s", (int)(at - class), class, usable,
                 caches ? (int)(cores - at) : 0, at);
    else
        snprintf(name, size, "%s", class);
}

/* Appends the letters and digits of a text to a file name. Each sequence of other characters
 * becomes one hyphen, but a file name never begins with a hyphen. */
static void append_word(char *name, size_t size, const char *text)
{
    size_t n = strlen(name);
    for (; *text && n + 1 < size; text++)
        if (isalnum((unsigned char)*text))
            name[n++] = *text;
        else if (n > 0 && name[n - 1] != '-')
            name[n++] = '-';
    name[n] = '\0';
}

static void class_folder(char *folder, size_t size, const char *class)
{
    char name[96], hash[SHA256_DIGEST_STRING_LENGTH];
    name_class(name, sizeof name, class, false);
    SHA256Data((const uint8_t *)class, strlen(class), hash);
    hash[RUN_ID_DIGITS] = '\0';
    folder[0] = '\0';
    append_word(folder, size, name);
    append_word(folder, size, "-");
    append_word(folder, size, hash);
}

/* Writes the name of a run's folder: "20261122T080000Z-1a2b3c4d". */
static void run_folder_name(char name[64], const struct run *run)
{
    char digits[RUN_ID_DIGITS + 1];
    size_t n = 0;
    for (const char *c = run->started; *c && n < 31; c++)
        if (isalnum((unsigned char)*c))
            name[n++] = *c;
    name[n] = '\0';
    snprintf(digits, sizeof digits, "%.*s", RUN_ID_DIGITS, run->identity);
    append_word(name, 64, "-");
    append_word(name, 64, digits);
}

/* Returns the class of hardware in a run's manifest; NULL: unknown. */
static const char *class_of(const struct run *run)
{
    return json_string_value(json_object_get(run->facts, "machine"));
}

/* ---- Copies ---- */

struct copying {
    const char *from, *to;
};

static enum status copy_file(const char *path, void *arg, struct error *e)
{
    const struct copying *c = arg;
    char to[PATH_BYTES];
    struct stat file;
    if (lstat(path, &file) != 0 || !S_ISREG(file.st_mode))
        return OK;
    TRY(path_format(to, e, "%s%s", c->to, path + strlen(c->from)));
    return file_copy(to, path, e);
}

/* Copies the files of a run that its tables and figures need. The copy gets its final name only
 * when it is complete. */
static enum status copy_run(const char *to, const char *from, struct error *e)
{
    static const char *const files[] = {"*.csv", "*.yaml", "*.json",   "*.md",       "*.txt",
                                        "*.svg", "*.gp",   "models/*", "published/*"};
    char part[PATH_BYTES];
    TRY(path_format(part, e, "%s.part", to));
    scratch_close(part);
    struct copying c = {from, part};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        TRY(files_visit(from, files[i], copy_file, &c, NULL, e));
    if (rename(part, to) != 0)
        return error_at(e, ERR_SYSTEM, to, 0, 0, "cannot be written: %s", strerror(errno));
    return OK;
}

/* ---- Runs ---- */

struct adding {
    struct collected *collected;
    const char *source;  /* folder that is searched */
    const char *archive; /* archive from which the folder was extracted; NULL: none */
    const char *out;
    FILE *report;
    size_t found;
};

static enum status note_campaign(struct collected *c, const char *campaign, struct error *e)
{
    static const char what[] = "the names of campaigns";
    for (size_t i = 0; i < c->n; i++)
        if (strcmp(c->campaigns[i], campaign) == 0)
            return OK;
    TRY(MEM_GROW(c->campaigns, c->n, what, e));
    c->campaigns[c->n] = strdup(campaign);
    return c->campaigns[c->n++] != NULL ? OK : error_no_memory(e, what);
}

static void print_source(const struct adding *a, const char *folder)
{
    if (a->archive != NULL)
        fprintf(a->report, "%s:%s: ", a->archive, folder + strlen(a->source));
    else
        fprintf(a->report, "%s: ", folder);
}

static enum status file_run(struct adding *a, const char *folder, const char *campaign,
                            const struct run *run, struct error *e)
{
    char class[160], name[64], to[PATH_BYTES];
    class_folder(class, sizeof class, class_of(run));
    run_folder_name(name, run);
    TRY(path_format(to, e, "%s/collected/%s/%s/%s", a->out, campaign, class, name));
    bool filed = path_exists(to);
    if (!filed)
        TRY(copy_run(to, folder, e));
    print_source(a, folder);
    fprintf(a->report, "%s %s\n", filed ? "already filed as" : "filed as", to);
    return note_campaign(a->collected, campaign, e);
}

/* Reads the spec and the manifest of a run. Returns the reason why the run cannot be filed among
 * the collected runs; NULL: it can be filed. */
static const char *read_run(struct spec *spec, struct run *run, const char *folder,
                            struct error *why)
{
    if (!folder_has(folder, "summary.csv"))
        return "summary.csv not found";
    if (!run_read(run, folder) || class_of(run) == NULL)
        return "manifest.json with a class of hardware not found";
    return run_spec_load(spec, folder, NULL, why) == OK ? NULL : why->text;
}

/* Adds the run of the spec.yaml at `path` to the collected runs, or prints why the run is left
 * out. */
static enum status take_run(const char *path, void *arg, struct error *e)
{
    struct adding *a = arg;
    char folder[PATH_BYTES];
    struct spec spec = {0};
    struct run run = {.facts = NULL};
    struct error why = {.status = OK};
    enum status status = OK;
    TRY(path_format(folder, e, "%.*s", (int)(strrchr(path, '/') - path), path));
    /* skip a link `latest` below the source, because the search also finds the linked run */
    if (strcmp(file_name(folder), "latest") == 0 && strcmp(folder, a->source) != 0)
        return OK;
    const char *lack = read_run(&spec, &run, folder, &why);
    if (lack == NULL) {
        a->found++;
        status = file_run(a, folder, config_text(&spec.config, OPT_NAME), &run, e);
    } else {
        print_source(a, folder);
        fprintf(a->report, "left out: %s\n", lack);
    }
    spec_free(&spec);
    run_free(&run);
    return status;
}

static enum status take_runs(struct adding *a, struct error *e)
{
    static const char *const depths[] = {"spec.yaml", "*/spec.yaml", "*/*/spec.yaml",
                                         "*/*/*/spec.yaml"};
    for (size_t i = 0; i < sizeof depths / sizeof *depths; i++)
        TRY(files_visit(a->source, depths[i], take_run, a, NULL, e));
    return OK;
}

/* ---- Archives ---- */

static enum status extract(const char *archive, const char *folder, struct error *e)
{
    char line[256], file[PATH_BYTES], to[PATH_BYTES];
    TRY(path_format(file, e, "--file=%s", archive));
    TRY(path_format(to, e, "--directory=%s", folder));
    char *const command[] = {"tar", "--extract", "--force-local", file, to, NULL};
    return program_ask(command, true, line, sizeof line) == 0
               ? OK
               : error_at(
                     e, ERR_DATA, archive, 0, 0,
                     "tar cannot extract this file. Expected a folder of runs, or an archive of "
                     "`make artifact`");
}

static enum status take_archive(const char *path, void *arg, struct error *e)
{
    struct adding *whole = arg, a = *whole;
    char folder[PATH_BYTES];
    TRY(scratch_open(folder, PATH_BYTES, e));
    a.source = folder;
    a.archive = path;
    a.found = 0;
    enum status status = extract(path, folder, e);
    THEN(status, take_runs(&a, e));
    scratch_close(folder);
    whole->found += a.found;
    return status;
}

static enum status take_archives(struct adding *a, struct error *e)
{
    static const char *const depths[] = {"*.tar.gz", "*.tgz", "*/*.tar.gz", "*/*.tgz"};
    for (size_t i = 0; i < sizeof depths / sizeof *depths; i++)
        TRY(files_visit(a->source, depths[i], take_archive, a, NULL, e));
    return OK;
}

enum status collected_add(struct collected *c, const char *source, const char *out, FILE *report,
                          struct error *e)
{
    char folder[PATH_BYTES];
    struct adding a = {.collected = c, .source = folder, .out = out, .report = report};
    TRY(path_format(folder, e, "%s", source));
    while (strlen(folder) > 1 && text_ends(folder, "/"))
        folder[strlen(folder) - 1] = '\0';
    if (!path_exists(folder))
        return error_at(e, ERR_ARGUMENT, folder, 0, 0, "no such folder or archive");
    if (path_is_folder(folder)) {
        TRY(take_runs(&a, e));
        TRY(take_archives(&a, e));
    } else {
        TRY(take_archive(folder, &a, e));
    }
    return a.found > 0 ? OK
                       : error_at(e, ERR_ARGUMENT, folder, 0, 0,
                                  "collect: no run found; expected folders with spec.yaml, "
                                  "summary.csv and manifest.json, or archives of `make artifact`");
}

void collected_free(struct collected *c)
{
    for (size_t i = 0; i < c->n; i++)
        free(c->campaigns[i]);
    free(c->campaigns);
    *c = (struct collected){.n = 0};
}

/* ---- Figures ---- */

struct classes {
    struct joined_run *runs; /* [n] newest run of each class of hardware */
    size_t n;
};

static enum status take_class(const char *path, void *arg, struct error *e)
{
    struct classes *classes = arg;
    struct runs runs;
    enum status status = runs_read(&runs, path, e);
    if (status == OK && runs.n > 0) {
        status = MEM_GROW(classes->runs, classes->n, "the runs of figures", e);
        if (status == OK) {
            struct joined_run *run = &classes->runs[classes->n++];
            *run = (struct joined_run){.path = ""};
            status = path_format(run->path, e, "%s", runs.all[runs.n - 1].path);
        }
    }
    runs_free(&runs);
    return status;
}

static void name_by_class(struct joined_run *runs, size_t n, bool caches)
{
    for (size_t i = 0; i < n; i++) {
        struct run run;
        const char *class = run_read(&run, runs[i].path) ? class_of(&run) : NULL;
        name_class(runs[i].name, sizeof runs[i].name, class != NULL ? class : "", caches);
        run_free(&run);
    }
}

static enum status read_classes(struct classes *classes, struct error *e)
{
    for (size_t i = 0; i < classes->n; i++) {
        struct joined_run *run = &classes->runs[i];
        TRY(run_spec_load(&run->spec, run->path, NULL, e));
        TRY(summary_read(&run->s, &run->spec, run->path, e));
    }
    name_by_class(classes->runs, classes->n, false);
    if (joined_share_name(classes->runs, classes->n))
        name_by_class(classes->runs, classes->n, true);
    joined_number(classes->runs, classes->n);
    return OK;
}

static enum status draw(const struct classes *classes, const char *campaign, const char *folder,
                        const struct tools *tools, FILE *report, struct error *e)
{
    size_t n = classes->n;
    if (classes->runs[0].spec.config.values[OPT_FIGURES].n == 0) {
        fprintf(report, "%s: %zu classes of hardware; its spec has no figures\n", campaign, n);
        return OK;
    }
    TRY(joined_draw(classes->runs, n, folder, tools, e));
    fprintf(report, "%s: %zu classes of hardware, drawn in %s\n", campaign, n, folder);
    return OK;
}

enum status collected_draw(const char *campaign, const char *out, const struct tools *tools,
                           FILE *report, struct error *e)
{
    char folder[PATH_BYTES], figures[PATH_BYTES];
    struct classes classes = {.n = 0};
    TRY(path_format(folder, e, "%s/collected/%s", out, campaign));
    TRY(path_format(figures, e, "%s/figures", folder));
    enum status status = files_visit(folder, "*", take_class, &classes, NULL, e);
    if (status == OK && classes.n == 1)
        fprintf(report, "%s: one class of hardware; figures need two\n", campaign);
    if (classes.n > 1) {
        THEN(status, read_classes(&classes, e));
        THEN(status, draw(&classes, campaign, figures, tools, report, e));
    }
    for (size_t i = 0; i < classes.n; i++) {
        summary_free(&classes.runs[i].s);
        spec_free(&classes.runs[i].spec);
    }
    free(classes.runs);
    return status;
}
