/* The facts of a run are the properties of programs and machine on which its results depend
 * (facts.def). The manifest stores them as a JSON object of strings. The spec, the number of
 * launches and host names are not facts.
 *
 * If a fact changes, a new run begins. Exception: a new version of a peer program (by other
 * authors) that not all points use. Launches of the old version are kept, but results use them only
 * if the old version is installed again. */
#pragma once

#include <jansson.h>
#include <stdbool.h>

#include "bench/spec/spec.h"
#include "kernels/base/error.h"

struct campaign;

/* Collects the facts of a campaign. Call after workloads and machines have been queried, as
 * campaign_prepare does. Free *facts with json_decref. */
enum status facts_find(json_t **facts, const struct campaign *c, struct error *e);

/* Size (bytes) of a key: a hash of a point and of the facts that concern it. Launches with equal
 * keys measure the same thing. */
enum { FACTS_KEY_BYTES = 17 };
enum status facts_key(char key[FACTS_KEY_BYTES], const json_t *facts, const struct point *point,
                      struct error *e);

/* Writes the SHA-256 of all facts, in hexadecimal. */
enum status facts_digest(char hex[65], const json_t *facts, struct error *e);

/* Returns the name of the next fact after `last` (NULL: from the first fact) that differs; NULL if
 * there is none. Skips facts missing from `was` or `is`. */
const char *facts_differ(const json_t *was, const json_t *is, const char *last);

/* Returns whether a run that began with facts `was` can be resumed with facts `is`. Changes may
 * affect only points of peer programs, and must leave at least one point unaffected. */
bool facts_allow_resume(const json_t *was, const json_t *is, const struct spec *spec);

/* Writes a fact's name for messages, such as "the program train_cnn". fact_way_back returns the
 * condition for reuse of earlier launches, such as "with the earlier program". */
void fact_explain(char *text, size_t size, const char *name);
const char *fact_way_back(const char *name);

/* Writes a fact's value for messages: "SHA-256 0123456789ab" for a digest, any other text in
 * quotes. */
void fact_shorten(char *text, size_t size, const char *value);

/* Returns the index of a fact's kind in facts.def; the number of kinds if unknown. *of: part of the
 * name after the colon. */
size_t fact_kind(const char *name, const char **of);
