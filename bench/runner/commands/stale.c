#include "bench/runner/commands/stale.h"

#include <fts.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "kernels/base/text.h"

struct search {
    const struct tools *tools;
    char *text;
    size_t size;
};

static bool is_later(const struct timespec *a, const struct timespec *b)
{
    return a->tv_sec != b->tv_sec ? a->tv_sec > b->tv_sec : a->tv_nsec > b->tv_nsec;
}

/* Returns whether a source is newer than its object file. `word`: path of the source in make's
 * dependency file; it can be relative to scalebench's home. */
static bool is_newer(const struct search *s, const char *word, const struct stat *made)
{
    char path[PATH_BYTES];
    struct stat source;
    int n = word[0] == '/' ? snprintf(path, sizeof path, "%s", word)
                           : snprintf(path, sizeof path, "%s/%s", s->tools->home, word);
    return n < (int)sizeof path && stat(path, &source) == 0 &&
           is_later(&source.st_mtim, &made->st_mtim);
}

/* Reads the dependency file x.d, and returns whether a source of x.o is newer than x.o. */
static bool has_newer_source(const struct search *s, const char *path)
{
    char object[PATH_BYTES], word[1024];
    struct stat made;
    bool found = false;
    FILE *in;
    snprintf(object, sizeof object, "%s", path);
    object[strlen(object) - 1] = 'o';
    if (stat(object, &made) != 0 || (in = fopen(path, "re")) == NULL)
        return false;
    /* Skips targets of rules, which end in ':'. Besides the object file's rule, make's dependency
     * file has an empty rule for each header. */
    while (!found && fscanf(in, "%1023s", word) == 1) {
        size_t length = strlen(word);
        if (word[0] == '\\' || word[length - 1] == ':')
            continue;
        found = is_newer(s, word, &made);
        if (found)
            snprintf(s->text, s->size, "%.80s is newer than %.120s: the programs are stale", word,
                     object + strlen(s->tools->folder) + 1);
    }
    fclose(in);
    return found;
}

/* Returns whether to skip a file or folder of build/obj: hidden ones, and everything named `tests`,
 * since tests measure nothing. */
static bool is_passed_over(const char *name)
{
    return name[0] == '.' || strcmp(name, "tests") == 0;
}

bool stale_find(char *text, size_t size, const struct tools *tools)
{
    char path[PATH_BYTES], *const paths[] = {path, NULL};
    const struct search s = {tools, text, size};
    bool found = false;
    FTS *tree = path_format(path, NULL, "%s/obj", tools->folder) == OK
                    ? fts_open(paths, FTS_LOGICAL | FTS_NOCHDIR, NULL)
                    : NULL;
    for (FTSENT *entry; tree != NULL && !found && (entry = fts_read(tree)) != NULL;)
        if (entry->fts_level > 0 && is_passed_over(entry->fts_name))
            fts_set(tree, entry, FTS_SKIP);
        else
            found = entry->fts_info == FTS_F && text_ends(entry->fts_name, ".d") &&
                    has_newer_source(&s, entry->fts_path);
    if (tree != NULL)
        fts_close(tree);
    return found;
}
