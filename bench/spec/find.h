/* Finds configuration files: in configs/ below the current folder, then below $SCALEBENCH_HOME
 * (default: the parent of the program's folder). */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "kernels/base/error.h"
#include "kernels/base/names.h"

/* Finds the file `folder`/`name` below the current folder, else below the folder that contains
 * configs/ ($SCALEBENCH_HOME or the parent of the program's folder). `folder` is "configs" or a
 * folder in it. `name` may lack ".yaml". The caller frees *path. ERR_SPEC if the file does not
 * exist; the message lists similar names, or all names if there are few. */
enum status find_config(char **path, const char *folder, const char *name, struct error *e);

/* Returns whether a file has this path. An unreachable path, such as a loop of links, counts as
 * existing: opening it reports the reason. */
bool find_is_there(const char *path);

/* Returns whether both paths exist and lead to the same file or folder. */
bool find_is_same(const char *a, const char *b);

/* Returns whether a text is a path, not a name in configs/: it contains '/' or ends in .yaml. */
bool find_is_path(const char *text);

/* Finds the file `text`. An absolute path is tried as it is. A relative path is searched for in
 * `folders`, then in `shared`. Each folder of `shared` is tried below the current folder, then
 * below $SCALEBENCH_HOME, before the next one. Each folder is "" or ends in '/'; both lists end in
 * NULL. The caller frees *path. ERR_SPEC if the file is not found; the message lists the folders
 * that were searched. */
enum status find_file(char **path, const char *const *folders, const char *const *shared,
                      const char *text, struct error *e);

/* Suggestion for a missing file: "; nearest 'nets/a.yaml'", or "" if none is similar. */
struct near_file {
    char text[NAME_NEAR_BYTES];
    size_t distance;
};

/* Replaces the suggestion *near if a file in `folders` below `home` is more similar to `path`. An
 * absolute folder ignores `home`. Each folder is "" or ends in '/'; the list ends in NULL. */
void find_near(struct near_file *near, const char *home, const char *const *folders,
               const char *path);

/* Sets *folder to the folder of a path: "" or ending in '/'. Freed by the caller. */
enum status find_folder(char **folder, const char *path, struct error *e);

/* Sets *to to the absolute path of `path` if `below` is "", otherwise of file `below` in folder
 * `path`. The caller frees *to. */
enum status find_absolute(char **to, const char *path, const char *below, struct error *e);

/* Sets *stem to the file name at the end of `path`; borrowed. Returns the name's length without
 * `ending`. */
size_t find_stem(const char **stem, const char *path, const char *ending);
