/* `scalebench claims`: judges claims of published reports by measured numbers. */
#include "bench/claims/claims.h"

#include <string.h>

#include "bench/runner/commands/commands.h"

/* Formats the path of the claims file with another file extension, such as "results/claims.csv". */
static enum status beside(char path[PATH_BYTES], const char *claims, const char *ending,
                          struct error *e)
{
    const char *name = strrchr(claims, '/'), *dot = strrchr(name != NULL ? name : claims, '.');
    int stem = (int)(dot != NULL ? (size_t)(dot - claims) : strlen(claims));
    return path_format(path, e, "%.*s.%s", stem, claims, ending);
}

struct written {
    claims_writer *writer;
    const struct claims *claims;
};

static enum status write_output(FILE *out, const void *arg, struct error *e)
{
    const struct written *w = arg;
    w->writer(out, w->claims);
    return OK;
}

static enum status update(const struct claims *c, struct error *e)
{
    const struct {
        const char *ending;
        claims_writer *writer;
    } files[] = {{"csv", claims_write_csv}, {"md", claims_write_markdown}};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        char path[PATH_BYTES];
        TRY(beside(path, c->path, files[i].ending, e));
        TRY(file_write(path, write_output, &(struct written){files[i].writer, c}, e));
    }
    return OK;
}

/* Prints the verdicts or, with --plan, the launches that would decide undecided claims. Warns of
 * verdicts that differ from the .csv file, and of wrong links in README.md (claims_check_story).
 * With --update, rewrites the .csv and .md files. */
static enum status print_verdicts(const struct claims *c, const struct arguments *a, FILE *out,
                                  int *exit_status, struct error *e)
{
    struct written w = {.claims = c};
    char before[PATH_BYTES];
    size_t differing, wrong;
    TRY(claims_find_writer(&w.writer, a->format != NULL ? a->format : "text", a->plan, e));
    TRY(beside(before, c->path, "csv", e));
    TRY(a->output != NULL ? file_write(a->output, write_output, &w, e) : write_output(out, &w, e));
    TRY(claims_compare(stderr, c, before, &differing, e));
    TRY(claims_check_story(stderr, c, &wrong, e));
    *exit_status = wrong > 0 || (differing > 0 && !a->update);
    return a->update ? update(c, e) : OK;
}

static enum status find_file(char path[PATH_BYTES], const struct arguments *a, struct error *e)
{
    static const char standard[] = "results/claims.yaml";
    if (a->operand != NULL)
        return path_format(path, e, "%s", a->operand);
    TRY(path_format(path, e, "%s", standard));
    return path_exists(path) ? OK : path_format(path, e, "%s/%s", a->tools->home, standard);
}

enum status command_claims(const struct arguments *a, FILE *out, int *exit_status, struct error *e)
{
    struct claims c;
    char path[PATH_BYTES];
    TRY(find_file(path, a, e));
    if (a->plan && a->update)
        return error_set(e, ERR_ARGUMENT,
                         "claims: --plan prints a plan of launches, but --update writes verdicts. "
                         "Leave one of the two out");
    if (a->of != NULL && (a->format != NULL || a->plan || a->update))
        return error_set(
            e, ERR_ARGUMENT,
            "claims: --of works only with text output; leave out --format, --plan and --update");
    enum status status = claims_judge(&c, path, e);
    if (a->of != NULL)
        THEN(status, claims_select(&c, a->of, e));
    THEN(status, print_verdicts(&c, a, out, exit_status, e));
    claims_free(&c);
    return status;
}
