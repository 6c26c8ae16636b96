/* What a sweep keeps for the case that it is stopped: in a folder, the rows of each size and
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

#include "bench/workloads/sweeps/comm/sweep.h"

#define PATH_BYTES 4400
#define KEPT       ".kept"

/* Empty, which no file is, where it would be too long. */
static const char *path_of(const struct sweep *s, char path[PATH_BYTES], const char *name,
                           const char *ending)
{
    if (snprintf(path, PATH_BYTES, "%s/%s%s", s->options->keep, name, ending) >= PATH_BYTES)
        path[0] = '\0';
    return path;
}

/* All ranks return what rank 0 found; the others without words. */
static enum status agree(struct sweep *s, enum status status, struct error *e)
{
    int failed = s->rank == 0 && status != OK;
    enum status agreed = wait_allreduce(&s->waiter, &failed, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD,
                                        "agreement on what is kept", e);
    if (agreed != OK || !failed || s->rank == 0)
        return agreed != OK ? agreed : status;
    *e = (struct error){.status = ERR_DATA};
    return ERR_DATA;
}

/* ---- Of what the rows are ---- */

/* Lines "what: value". */
static enum status describe(const struct sweep *s, char **text, struct error *e)
{
    char host[256] = "", program[SHA256_DIGEST_STRING_LENGTH] = "";
    size_t size;
    FILE *out = open_memstream(text, &size);
    if (out == NULL)
        return error_set(e, ERR_MEMORY, "no memory for a sweep's origin");
    gethostname(host, sizeof host - 1);
    fprintf(out, "command:%s\n", s->options->command);
    fprintf(out, "ranks: %d on %d nodes, the first on %s\n", s->ranks, s->nodes, host);
    fprintf(out, "waiting: %s\n", wait_name(s->waiter.kind));
    fprintf(out, "MPI library: %s\n", s->mpi);
    fprintf(out, "program: %s\n", SHA256File("/proc/self/exe", program) ? program : "unknown");
    return fclose(out) == 0 ? OK : error_set(e, ERR_MEMORY, "no memory for a sweep's origin");
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
            return error_at(e, ERR_DATA, s->options->keep, 0, 0,
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
    path_of(s, path, name, KEPT);
    bool written = fflush(file) == 0 && fsync(fileno(file)) == 0 && ferror(file) == 0;
    written = fclose(file) == 0 && written && rename(part, path) == 0;
    return written ? OK : error_at(e, ERR_SYSTEM, path, 0, 0, "cannot be written: %m");
}

static FILE *begin_file(const struct sweep *s, const char *name, struct error *e)
{
    char part[PATH_BYTES];
    FILE *file = fopen(path_of(s, part, name, ".part"), "w");
    if (file == NULL)
        error_at(e, ERR_SYSTEM, part, 0, 0, "cannot be written: %m");
    return file;
}

static enum status check_origin(const struct sweep *s, struct error *e)
{
    char path[PATH_BYTES], *now;
    FILE *in, *out;
    enum status status = describe(s, &now, e);
    if (status != OK)
        return status;
    in = fopen(path_of(s, path, "origin", KEPT), "r");
    if (in != NULL) {
        status = compare(s, path, in, now, e);
        fclose(in);
    } else if ((out = begin_file(s, "origin", e)) == NULL) {
        status = e->status;
    } else {
        fputs(now, out);
        status = finish_file(s, out, "origin", e);
    }
    free(now);
    return status;
}

/* The folder, which is locked as long as this process lives. */
static enum status open_folder(const struct sweep *s, struct error *e)
{
    const char *folder = s->options->keep;
    if (mkdir(folder, 0777) != 0 && errno != EEXIST)
        return error_at(e, ERR_DATA, folder, 0, 0, "cannot be made: %m");
    int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return error_at(e, ERR_DATA, folder, 0, 0, "cannot be opened: %m");
    if (flock(fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
        return error_at(e, ERR_DATA, folder, 0, 0, "another sweep is at work on it");
    return OK;
}

enum status keep_open(struct sweep *s, struct error *e)
{
    enum status status = OK;
    if (s->options->keep == NULL)
        return OK;
    if (s->rank == 0)
        status = open_folder(s, e);
    if (s->rank == 0 && status == OK)
        status = check_origin(s, e);
    return agree(s, status, e);
}

/* ---- Rows ---- */

enum status keep_find(struct sweep *s, const char *name, bool *found, struct error *e)
{
    char path[PATH_BYTES];
    int there =
        s->options->keep != NULL && s->rank == 0 && access(path_of(s, path, name, KEPT), R_OK) == 0;
    *found = false;
    if (s->options->keep == NULL)
        return OK;
    enum status status =
        wait_allreduce(&s->waiter, &there, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD, "what is kept", e);
    *found = there != 0;
    return status;
}

static enum status copy_rows(struct sweep *s, const char *name, struct error *e)
{
    char path[PATH_BYTES], block[65536];
    size_t n;
    FILE *in = fopen(path_of(s, path, name, KEPT), "r");
    if (in == NULL)
        return error_at(e, ERR_SYSTEM, path, 0, 0, "cannot be read: %m");
    FILE *out = rows_begin(s);
    while ((n = fread(block, 1, sizeof block, in)) > 0)
        fwrite(block, 1, n, out);
    fclose(in);
    return fflush(out) == 0 ? OK : error_set(e, ERR_SYSTEM, "standard output cannot be written");
}

enum status keep_begin(struct sweep *s, const char *name, struct error *e)
{
    s->was_ok = s->all_ok;
    if (s->options->keep == NULL || s->rank > 0)
        return OK;
    s->kept = begin_file(s, name, e);
    return s->kept != NULL ? OK : e->status;
}

/* What is wrong is shown and not kept: it is looked at again. */
enum status keep_end(struct sweep *s, const char *name, struct error *e)
{
    char path[PATH_BYTES];
    FILE *kept = s->kept;
    if (kept == NULL)
        return OK;
    s->kept = NULL;
    enum status status = finish_file(s, kept, name, e);
    if (status == OK)
        status = copy_rows(s, name, e);
    if (status == OK && s->was_ok && !s->all_ok && unlink(path_of(s, path, name, KEPT)) != 0)
        status = error_at(e, ERR_SYSTEM, path, 0, 0, "cannot be removed: %m");
    return status;
}

enum status keep_repeat(struct sweep *s, const char *name, struct error *e)
{
    return s->rank == 0 ? copy_rows(s, name, e) : OK;
}

/* ---- Coefficients ---- */

enum status keep_fit(struct sweep *s, struct error *e)
{
    if (s->options->keep == NULL || s->rank > 0)
        return OK;
    FILE *out = begin_file(s, "fit", e);
    if (out == NULL)
        return e->status;
    fwrite(&s->fit, sizeof s->fit, 1, out);
    return finish_file(s, out, "fit", e);
}

enum status keep_read_fit(struct sweep *s, struct error *e)
{
    char path[PATH_BYTES];
    enum status status = OK;
    FILE *in = s->rank == 0 ? fopen(path_of(s, path, "fit", KEPT), "r") : NULL;
    if (s->rank == 0 && (in == NULL || fread(&s->fit, sizeof s->fit, 1, in) != 1))
        status = error_at(e, ERR_DATA, path, 0, 0, "cannot be read; FRESH=1 starts anew");
    if (in != NULL)
        fclose(in);
    status = agree(s, status, e);
    return status != OK ? status
                        : wait_bcast(&s->waiter, &s->fit, sizeof s->fit, MPI_BYTE, 0,
                                     MPI_COMM_WORLD, "coefficients that were kept", e);
}
