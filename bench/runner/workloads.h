/* Finds the programs that a campaign measures, and asks them for the versions and data on which
 * their results depend. */
#pragma once

#include <jansson.h>

#include "bench/collect/collect.h"
#include "bench/runner/foreign.h"
#include "bench/runner/tools.h"
#include "bench/spec/spec.h"

/* Programs that a campaign measures. `programs`, `helpers`: paths by workload; "": not needed. A
 * peer is a program by other authors. The helper of a peer makes the peer's inputs, or is the peer
 * itself. */
struct workloads {
    const struct spec *spec;   /* borrowed */
    const struct tools *tools; /* folders of scalebench's own files; borrowed */
    char programs[WORKLOADS][PATH_BYTES], helpers[WORKLOADS][PATH_BYTES];
    json_t *foreign; /* paths of users' programs, by name in the spec; foreign_find adds them */
    /* Answers of the programs, keyed by workload_about. Each answer is a JSON object with members
     * such as dataset and data_images; JSON null: the program did not answer. */
    json_t *identities;
};

#define WORKLOAD_PROGRAMS_MAX (2 * WORKLOADS + FOREIGN_PROGRAMS_MAX)

/* Finds the programs of all points. ERR_UNAVAILABLE if a program is not built; a missing program of
 * the user (workload.command) is no error here. Call workloads_free afterwards, also after an
 * error. */
enum status workloads_find(struct workloads *w, const struct spec *spec, const struct tools *tools,
                           struct error *e);
void workloads_free(struct workloads *w);

const char *workloads_program(const struct workloads *w, const struct point *point);

/* Returns the program's name and the non-default options that affect its answer: "train_cnn
 * data.set=digits". Points with equal texts share one answer. Free the text; NULL: no memory. */
char *workload_about(const struct point *point);

/* Asks the point's program and stores the answer. A peer program (by other authors) reports whether
 * it can run here. The trainer reports the properties that all its launches share (launch_common of
 * bench/collect). A user's program (workload: command) is only looked up. ERR_UNAVAILABLE with the
 * reason if the program is missing or cannot run the point, or the image shape does not fit the
 * network. ERR_SPEC at the option if the data cannot be read, a label has no class, or there are
 * too few images. Other problems are left to the launches. */
enum status workloads_ask(struct workloads *w, const struct point *point, struct error *e);

/* Returns ERR_DATA if a property that a launch reports differs from the value that workloads_ask
 * stored. The message has both values. */
enum status workloads_check(const struct workloads *w, const struct point *point,
                            const struct launch_result *result, struct error *e);

/* Returns the number of training images in the point's data set, as reported by the trainer; NAN if
 * unknown. */
double workloads_train_images(const struct workloads *w, const struct point *point);

/* Lists the paths of all programs and helpers in use. Returns their number. */
size_t workloads_list(const struct workloads *w, const char *programs[WORKLOAD_PROGRAMS_MAX]);
