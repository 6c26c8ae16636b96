/* Where configuration files lie: configs/ below the current folder, then below $SCALEBENCH_HOME. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "kernels/base/error.h"
#include "kernels/base/names.h"

/* Sets *path (freed by the caller) to `folder`/`name` where that exists, `folder` being "configs"
 * or a folder in it. ERR_SPEC names the nearest and what is there. */
enum status find_config(char **path, const char *folder, const char *name, struct error *e);

/* Whether a file has this path. What cannot be reached, as through a loop of links, is there too: opening it says why it
 * is of no use. */
bool find_is_there(const char *path);

/* A text that means a file, not one of those in configs/: with a '/' or ending in .yaml. */
bool find_is_path(const char *text);

/* Sets *path (freed by the caller) to the file that `text` is when seen from the first of `folders`
 * (each "" or ending in '/', NULL behind the last) that has it, then from the first of `shared`
 * below the current folder or $SCALEBENCH_HOME. ERR_SPEC says where it was looked for. */
enum status find_file(char **path, const char *const *folders, const char *const *shared,
                      const char *text, struct error *e);

/* The file near a path: "; nearest 'nets/a.yaml'", or "" where none is. */
struct near_file {
    char text[NAME_NEAR_BYTES];
    size_t distance;
};

/* Looks for a nearer one where the path is seen from `folders` below `home` (each "" or ending in '/', NULL behind the
 * last). */
void find_near(struct near_file *near, const char *home, const char *const *folders,
               const char *path);

/* Sets *folder (freed by the caller) to the folder of a file: "" or ending in '/'. */
enum status find_folder(char **folder, const char *path, struct error *e);

/* Sets *to (freed by the caller) to the path, or to the file `below` in that folder, as every folder sees it. */
enum status find_absolute(char **to, const char *path, const char *below, struct error *e);

/* The name of a file without folder and `ending`: *stem points into `path`; returns its length. */
size_t find_stem(const char **stem, const char *path, const char *ending);
