/* Facts of a run (facts.def): a JSON object of texts by name, kept in the run's manifest. The spec,
 * the number of launches and host names are not facts. Launches of one point under equal facts
 * measure the same thing.
 *
 * Facts of the measured programs and of the machine identify a run. If one of them changes, a
 * new run begins, and the old one can still be shown and compared. A peer is only a reference: a
 * new version of it concerns its own points alone. The run is then resumed. Launches of the old
 * version are kept but do not count, until that version is back. Ratios stay valid, since they
 * pair launches of one block. */
#pragma once

#include <jansson.h>
#include <stdbool.h>

#include "bench/spec/spec.h"
#include "kernels/base/error.h"

struct campaign;

/* Collects the facts of a campaign, after its workloads and machines have been asked. Free
 * *facts with json_decref. */
enum status facts_find(json_t **facts, const struct campaign *c, struct error *e);

/* Hashes a point and the facts that concern it. Launches of a point with equal keys measure the
 * same thing. */
enum { FACTS_KEY_BYTES = 17 };
enum status facts_key(char key[FACTS_KEY_BYTES], const json_t *facts, const struct point *point,
                      struct error *e);

/* Writes the SHA-256 of all facts, in hexadecimal. */
enum status facts_digest(char hex[65], const json_t *facts, struct error *e);

/* Returns the name of the next fact after `last` (NULL: the first) that is in both objects with
 * different values. NULL if there is no other. */
const char *facts_differ(const json_t *was, const json_t *is, const char *last);

/* Returns whether a run with the facts `was` can be resumed under the facts `is`. It can if the
 * changed facts concern only points of peers, and at least one point of the spec is unchanged. */
bool facts_allow_resume(const json_t *was, const json_t *is, const struct spec *spec);

/* Writes a fact's name for messages: "the program train_cnn". fact_way_back returns how to
 * restore its earlier value. */
void fact_explain(char *text, size_t size, const char *name);
const char *fact_way_back(const char *name);

/* Writes a fact's value for messages: "SHA-256 0123456789ab" for a digest, other texts in
 * quotes. */
void fact_shorten(char *text, size_t size, const char *value);

/* Returns the row of a fact's kind in facts.def. If a later version wrote an unknown kind,
 * returns the number of rows. *of: the part of the name after the colon. */
size_t fact_kind(const char *name, const char **of);
