/* What a sweep stores for the case that it is stopped: in a folder, the rows of each size and
 * network that is whole, each a file that appears as a whole, and what they are rows of, so that
 * nothing is mixed. Rank 0 does it, and tells the others. */
#include <errno.h>
#include <fcntl.h>
#include <sha2.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bench/base/executable.h"
#include "bench/workloads/sweeps/comm/sweep.h"

#define PATH_BYTES 4400
#define STORED     ".kept"

/* Empty, which no file is, where it would be too long. */
static const char *path_of(const struct sweep *s, char path[PATH_BYTES], const char *name,
                           const char *ending)
{
    if (snprintf(path, PATH_BYTES, "%s/%s%s", s->options->store, name, ending) >= PATH_BYTES)
        path[0] = '\0';
    return path;
}

/* All ranks return what rank 0 found, the others without a text. */
static enum status agree(struct sweep *s, enum status status, struct error *e)
{
    int failed = s->rank == 0 && status != OK;
    TRY(wait_allreduce(&s->waiter, &failed, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD,
                       "agreement on what is stored", e));
    if (s->rank > 0 && failed) {
        *e = (struct error){.status = ERR_DATA};
        return ERR_DATA;
    }
    return status;
}

/* ---- Of what the rows are ---- */

static bool hash_program(char hex[SHA256_DIGEST_STRING_LENGTH])
{
    char path[4096];
    return executable_path(path, sizeof path) && SHA256File(path, hex) != NULL;
}

/* Lines "what: value". */
static enum status describe(const struct sweep *s, char **text, struct error *e)
{
    char host[256] = "", program[SHA256_DIGEST_STRING_LENGTH] = "";
    size_t size;
    FILE *out = open_memstream(text, &size);
    if (out == NULL)
        return error_no_memory(e, "a sweep's origin");
    gethostname(host, sizeof host - 1);
    fprintf(out, "command:%s\n", s->options->command);
    fprintf(out, "ranks: %d on %d nodes, the first on %s\n", s->ranks, s->nodes, host);
    fprintf(out, "waiting: %s\n", wait_names()[s->waiter.kind]);
    fprintf(out, "MPI library: %s\n", s->mpi);
    fprintf(out, "program: %s\n", hash_program(program) ? program : "unknown");
    return fclose(out) == 0 ? OK : error_no_memory(e, "a sweep's origin");
}

/* The first line that differs, if one does. */
static enum status compare(const struct sweep *s, const char *path, FILE *in, char *now,
                           struct error *e)
{
    char line[8192];
    for (char *mine; (mine = strsep(&now, "\n")) != NULL && *mine != '\0';) {
        if (fgets(line, sizeof line, in) == NULL)
            return error_at(e, ERR_DATA, path, 0, 0, "cut short; FRESH=1 starts anew");
        line[strcspn(line, "\n")] = '\0';
        if (strcmp(line, mine) != 0)
            return error_at(e, ERR_DATA, s->options->store, 0, 0,
                            "holds rows of an interrupted sweep that was another: '%s', not '%s'; "
                            "FRESH=1 starts anew",
                            line, mine);
    }
    return OK;
}

/* Appears as a whole at `name`. */
static enum status finish_file(const struct sweep *s, FILE *file, const char *name, struct error *e)
{
    char part[PATH_BYTES], path[PATH_BYTES];
    path_of(s, part, name, ".part");
    path_of(s, path, name, STORED);
    bool written = fflush(file) == 0 && fsync(fileno(file)) == 0 && ferror(file) == 0;
    written = fclose(file) == 0 && written && rename(part, path) == 0;
    return written ? OK : error_at(e, ERR_SYSTEM, path, 0, 0, "cannot be written: %m");
}

static enum status begin_file(const struct sweep *s, const char *name, FILE **file, struct error *e)
{
    char part[PATH_BYTES];
    *file = fopen(path_of(s, part, name, ".part"), "w");
    return *file != NULL ? OK : error_at(e, ERR_SYSTEM, part, 0, 0, "cannot be written: %m");
}

static enum status write_origin(const struct sweep *s, const char *now, struct error *e)
{
    FILE *out;
    TRY(begin_file(s, "origin", &out, e));
    fputs(now, out);
    return finish_file(s, out, "origin", e);
}

static enum status check_origin(const struct sweep *s, struct error *e)
{
    char path[PATH_BYTES], *now;
    TRY(describe(s, &now, e));
    FILE *in = fopen(path_of(s, path, "origin", STORED), "r");
    enum status status = in != NULL ? compare(s, path, in, now, e) : write_origin(s, now, e);
    if (in != NULL)
        fclose(in);
    free(now);
    return status;
}

/* The folder, which is locked as long as this process lives. */
static enum status open_folder(const struct sweep *s, struct error *e)
{
    const char *folder = s->options->store;
    if (mkdir(folder, 0777) != 0 && errno != EEXIST)
        return error_at(e, ERR_DATA, folder, 0, 0, "cannot be made: %m");
    int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return error_at(e, ERR_DATA, folder, 0, 0, "cannot be opened: %m");
    if (flock(fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
        return error_at(e, ERR_DATA, folder, 0, 0, "another sweep is at work on it");
    return OK;
}

static enum status open_here(const struct sweep *s, struct error *e)
{
    TRY(open_folder(s, e));
    return check_origin(s, e);
}

enum status store_open(struct sweep *s, struct error *e)
{
    if (s->options->store == NULL)
        return OK;
    return agree(s, s->rank == 0 ? open_here(s, e) : OK, e);
}

/* ---- Rows ---- */

enum status store_find(struct sweep *s, const char *name, bool *found, struct error *e)
{
    char path[PATH_BYTES];
    *found = false;
    if (s->options->store == NULL)
        return OK;
    int there = s->rank == 0 && access(path_of(s, path, name, STORED), R_OK) == 0;
    TRY(wait_allreduce(&s->waiter, &there, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD, "what is stored",
                       e));
    *found = there != 0;
    return OK;
}

static enum status copy_rows(struct sweep *s, const char *name, struct error *e)
{
    char path[PATH_BYTES], block[65536];
    size_t n;
    FILE *in = fopen(path_of(s, path, name, STORED), "r");
    if (in == NULL)
        return error_at(e, ERR_SYSTEM, path, 0, 0, "cannot be read: %m");
    FILE *out = rows_begin(s);
    while ((n = fread(block, 1, sizeof block, in)) > 0)
        fwrite(block, 1, n, out);
    fclose(in);
    return fflush(out) == 0 ? OK : error_set(e, ERR_SYSTEM, "standard output cannot be written");
}

enum status store_begin(struct sweep *s, const char *name, struct error *e)
{
    s->was_ok = s->all_ok;
    if (s->options->store == NULL || s->rank > 0)
        return OK;
    return begin_file(s, name, &s->stored, e);
}

/* What is wrong is shown and not stored: it is looked at again. */
enum status store_end(struct sweep *s, const char *name, struct error *e)
{
    char path[PATH_BYTES];
    FILE *file = s->stored;
    if (file == NULL)
        return OK;
    s->stored = NULL;
    TRY(finish_file(s, file, name, e));
    TRY(copy_rows(s, name, e));
    if (s->was_ok && !s->all_ok && unlink(path_of(s, path, name, STORED)) != 0)
        return error_at(e, ERR_SYSTEM, path, 0, 0, "cannot be removed: %m");
    return OK;
}

enum status store_repeat(struct sweep *s, const char *name, struct error *e)
{
    return s->rank == 0 ? copy_rows(s, name, e) : OK;
}

/* ---- Coefficients ---- */

enum status store_fit(struct sweep *s, struct error *e)
{
    FILE *out;
    if (s->options->store == NULL || s->rank > 0)
        return OK;
    TRY(begin_file(s, "fit", &out, e));
    fwrite(&s->fit, sizeof s->fit, 1, out);
    return finish_file(s, out, "fit", e);
}

static enum status read_fit(struct sweep *s, struct error *e)
{
    char path[PATH_BYTES];
    FILE *in = fopen(path_of(s, path, "fit", STORED), "r");
    bool whole = in != NULL && fread(&s->fit, sizeof s->fit, 1, in) == 1;
    if (in != NULL)
        fclose(in);
    return whole ? OK : error_at(e, ERR_DATA, path, 0, 0, "cannot be read; FRESH=1 starts anew");
}

enum status store_read_fit(struct sweep *s, struct error *e)
{
    TRY(agree(s, s->rank == 0 ? read_fit(s, e) : OK, e));
    return wait_bcast(&s->waiter, &s->fit, sizeof s->fit, MPI_BYTE, 0, MPI_COMM_WORLD,
                      "coefficients that were stored", e);
}
