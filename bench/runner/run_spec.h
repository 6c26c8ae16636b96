/* Loads specs, such as the one stored in the folder of a run. */
#pragma once

#include "bench/spec/spec.h"
#include "kernels/base/error.h"

/* Finds the properties of this machine, and of the batch job if there is one, that affect values of
 * a spec, such as the number of cores. */
enum status machine_here(struct spec_machine *machine, struct error *e);

/* Loads a spec for this machine, whose number of cores determines `ranks: auto`. `set`: values of
 * all --set options, one per line; NULL: none. */
enum status spec_load_here(struct spec *spec, const char *path, const char *set, struct error *e);

/* Loads <run_dir>/spec.yaml; ERR_ARGUMENT if there is none. Free with spec_free, also after an
 * error. */
enum status run_spec_load(struct spec *spec, const char *run_dir, const char *set, struct error *e);

/* run_spec_change writes the first option that differs between the first points of two specs: "
 * (lr: 0.1 then, 0.2 now)"; "" if there is none. It ignores options of the whole campaign and
 * derived options. */
enum { RUN_CHANGE = 300 };
void run_spec_change(char text[RUN_CHANGE], const struct spec *then, const struct spec *now);

/* Prints a note if the accuracy run of a point would be the same for each of several seeds. */
void run_spec_note_seeds(const struct spec *spec);

/* run_spec_find_missing returns the number of points of `now` that the run's spec lacks; 0 if that
 * spec cannot be read. If points are missing, it writes a message to `text`. The message names the
 * first option that differs between the first points of both specs, if any. */
enum { RUN_MISSING = 1400 };
size_t run_spec_find_missing(char text[RUN_MISSING], const struct spec *now, const char *run_dir);

/* Prints a note if the run's spec contains none of the points of `now`. The run's results then
 * belong to another spec. No note if the run's spec cannot be read. */
void run_spec_note_change(const struct spec *now, const char *run_dir);
