#include "bench/place/cgroup.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/base/file.h"

#define PATH_BYTES 4096
#define LINE_BYTES 8192

/* A mounted cgroup hierarchy: its version, the mount point, the cgroup mounted there, and the
 * cgroup of this process. */
struct hierarchy {
    int version;
    char mount[PATH_BYTES];
    char root[PATH_BYTES];
    char own[PATH_BYTES];
};

static bool has_word(const char *list, const char *word)
{
    size_t n = strlen(word);
    for (const char *at = list; (at = strstr(at, word)) != NULL; at += n) {
        bool starts = at == list || at[-1] == ',';
        if (starts && (at[n] == ',' || at[n] == '\0'))
            return true;
    }
    return false;
}

/* Parses a line of mountinfo, "36 25 0:30 ROOT MOUNT options [tags] - TYPE source super-options".
 * Returns false unless the line mounts cgroup version 2, or the controller's hierarchy of version
 * 1. */
static bool parse_mount(char *line, const char *controller, struct hierarchy *h)
{
    char type[64], super[LINE_BYTES];
    char *tail = strstr(line, " - ");
    if (tail == NULL || sscanf(tail, " - %63s %*s %8191s", type, super) != 2 ||
        sscanf(line, "%*d %*d %*s %4095s %4095s", h->root, h->mount) != 2)
        return false;
    if (strcmp(type, "cgroup2") == 0)
        h->version = 2;
    else if (strcmp(type, "cgroup") == 0 && has_word(super, controller))
        h->version = 1;
    else
        return false;
    return true;
}

/* Sets h->own to this process's cgroup: PATH in the line ID:CONTROLLERS:PATH of self_cgroup that
 * lists `controller` (0::PATH in version 2). Returns false if no line matches. */
static bool find_own(const char *self_cgroup, const char *controller, struct hierarchy *h)
{
    FILE *f = fopen(self_cgroup, "r");
    if (f == NULL)
        return false;
    char line[LINE_BYTES];
    bool found = false;
    while (!found && fgets(line, sizeof line, f) != NULL) {
        line[strcspn(line, "\n")] = '\0';
        char *controllers = strchr(line, ':');
        char *path = controllers != NULL ? strchr(controllers + 1, ':') : NULL;
        if (path == NULL || strlen(path + 1) >= sizeof h->own)
            continue;
        *path++ = '\0';
        controllers++;
        found = h->version == 2 ? *controllers == '\0' : has_word(controllers, controller);
        if (found)
            strcpy(h->own, path);
    }
    fclose(f);
    return found;
}

/* Returns the CPU quota of a cgroup, in cores, from the files in its folder; 0 if no quota is set,
 * as with "max 100000" in cpu.max. */
static double folder_quota(const struct hierarchy *h, const char *folder)
{
    char path[2 * PATH_BYTES + 64], line[64];
    double quota = 0, period = 0;
    snprintf(path, sizeof path, "%s/%s", folder, h->version == 2 ? "cpu.max" : "cpu.cfs_quota_us");
    file_first_line(path, line, sizeof line);
    int read = sscanf(line, "%lf %lf", &quota, &period);
    if (h->version == 1 && read == 1) {
        snprintf(path, sizeof path, "%s/cpu.cfs_period_us", folder);
        period = file_number(path);
    }
    return quota > 0 && period > 0 ? quota / period : 0;
}

static double smaller_quota(double a, double b)
{
    if (a <= 0 || b <= 0)
        return a > b ? a : b;
    return a < b ? a : b;
}

/* Returns this process's cgroup as a path below h->mount. Returns "" or "/" if it is h->mount
 * itself, as in a container. Also "" if it lies outside: only h->mount can be read then. */
static const char *visible_path(const struct hierarchy *h)
{
    if (strcmp(h->root, "/") == 0)
        return h->own;
    size_t n = strlen(h->root);
    bool below = strncmp(h->own, h->root, n) == 0 && (h->own[n] == '/' || h->own[n] == '\0');
    return below ? h->own + n : "";
}

/* Sets `folder` to the path of this process's cgroup. */
static void name_folder(char folder[2 * PATH_BYTES], const struct hierarchy *h)
{
    snprintf(folder, 2 * PATH_BYTES, "%s%s", h->mount, visible_path(h));
}

static void take_quota(const struct hierarchy *h, double *quota)
{
    char folder[2 * PATH_BYTES];
    size_t mount = strlen(h->mount);
    name_folder(folder, h);
    for (;;) {
        *quota = smaller_quota(*quota, folder_quota(h, folder));
        char *slash = strrchr(folder, '/');
        if (strlen(folder) <= mount || slash == NULL || slash < folder + mount)
            return;
        *slash = '\0';
    }
}

/* Sets *kills to N of the line "oom_kill N" in the file memory.events (cgroup version 2) or
 * memory.oom_control (version 1). Leaves *kills unchanged if there is no such line. */
static void take_oom_kills(const struct hierarchy *h, double *kills)
{
    char folder[2 * PATH_BYTES], path[2 * PATH_BYTES + 64], line[LINE_BYTES];
    double value;
    name_folder(folder, h);
    snprintf(path, sizeof path, "%s/%s", folder,
             h->version == 2 ? "memory.events" : "memory.oom_control");
    FILE *f = fopen(path, "re");
    while (f != NULL && fgets(line, sizeof line, f) != NULL)
        if (sscanf(line, "oom_kill %lf", &value) == 1)
            *kills = value;
    if (f != NULL)
        fclose(f);
}

typedef void take_function(const struct hierarchy *h, double *value);

/* Calls take(h, &value) for each mounted hierarchy h of `controller` in which this process has a
 * cgroup. Returns the final `value`. */
static double look_through(const char *self_cgroup, const char *mountinfo, const char *controller,
                           take_function *take, double value)
{
    FILE *f = fopen(mountinfo, "r");
    struct hierarchy *h = malloc(sizeof *h);
    char line[LINE_BYTES];
    while (f != NULL && h != NULL && fgets(line, sizeof line, f) != NULL)
        if (parse_mount(line, controller, h) && find_own(self_cgroup, controller, h))
            take(h, &value);
    free(h);
    if (f != NULL)
        fclose(f);
    return value;
}

double cgroup_quota_cores(const char *self_cgroup, const char *mountinfo)
{
    return look_through(self_cgroup, mountinfo, "cpu", take_quota, 0);
}

double cgroup_oom_kills(const char *self_cgroup, const char *mountinfo)
{
    return look_through(self_cgroup, mountinfo, "memory", take_oom_kills, NAN);
}
