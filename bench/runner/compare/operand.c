#include "bench/runner/compare/operand.h"

static bool is_run(const char *path)
{
    char file[PATH_BYTES];
    return (path_format(file, NULL, "%s/summary.csv", path) == OK && path_exists(file)) ||
           (path_format(file, NULL, "%s/manifest.json", path) == OK && path_exists(file));
}

enum status operand_find(char path[PATH_BYTES], const char *name, const char *out, const char *home,
                         struct error *e)
{
    const struct {
        const char *before, *between, *after;
    } places[] = {
        {"", "", ""},
        {"", "", "/latest"},
        {out, "/", "/latest"},
        {"results/reference", "/", ""},
        {home, "/results/reference/", ""},
    };
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        TRY(path_format(path, e, "%s%s%s%s", places[i].before, places[i].between, name,
                        places[i].after));
        if (is_run(path))
            return OK;
    }
    return error_set(e, ERR_ARGUMENT,
                     "'%s' is no run: neither a folder with summary.csv, nor a campaign's with "
                     "latest/, nor a name in %s or results/reference",
                     name, out);
}

bool operand_find_sweep(char path[PATH_BYTES], const char *name, const char *table, const char *out,
                        const char *home)
{
    const char *const places[][2] = {
        {"", ""}, {out, "/"}, {"results/reference", "/"}, {home, "/results/reference/"}};
    char file[PATH_BYTES];
    for (size_t i = 0; i < sizeof places / sizeof *places; i++)
        if (path_format(path, NULL, "%s%s%s", places[i][0], places[i][1], name) == OK &&
            path_format(file, NULL, "%s/%s", path, table) == OK && path_exists(file))
            return true;
    return false;
}
