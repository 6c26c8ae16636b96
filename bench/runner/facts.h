/* What a run is known by: facts.def, as a JSON object of texts by name, which its manifest keeps.
 * The spec is none of them, nor how many launches are asked for, nor a host's name: launches of one
 * point that ran under the same facts are launches of the same thing.
 *
 * Facts of what is measured and of the machine identify the run: where one of them changes, a new
 * run begins, so that the old one can still be shown and compared with. A peer is what that is held
 * against: another version of it concerns its own points alone. The run goes on, launches of the
 * earlier version are kept without counting, and count again once that version is back. Ratios
 * lose nothing by it, as they pair launches of one block. */
#pragma once

#include <jansson.h>
#include <stdbool.h>

#include "bench/spec/spec.h"
#include "kernels/base/error.h"

struct campaign;

/* *facts: all that is known of what a campaign's points run on, once its workloads and machines have been asked about
 * them; json_decref frees it. */
enum status facts_find(json_t **facts, const struct campaign *c, struct error *e);

/* What a launch belongs to: digits over the point and the facts that concern it. */
enum { FACTS_KEY_BYTES = 17 };
enum status facts_key(char key[FACTS_KEY_BYTES], const json_t *facts, const struct point *point,
                      struct error *e);

/* SHA-256 over all of them, in hexadecimal. */
enum status facts_digest(char hex[65], const json_t *facts, struct error *e);

/* Names of a fact that both know and that differs, in order, from the one after `last` (NULL: from
 * the first) on; NULL when there is none. */
const char *facts_differ(const json_t *was, const json_t *is, const char *last);

/* Whether a run that knew `was` is gone on with: facts that differ concern none but points that a peer
 * computes, and not all that the spec has. */
bool facts_go_on(const json_t *was, const json_t *is, const struct spec *spec);

/* "the program train_cnn" of the fact of that name; what a run that knew another takes. */
void fact_explain(char *text, size_t size, const char *name);
const char *fact_way_back(const char *name);

/* "SHA-256 0123456789ab" of a long digest, other texts cut to fit. */
void fact_shorten(char *text, size_t size, const char *value);

/* The row of a fact's kind in facts.def; their number where a later version made it. *of: of what. */
size_t fact_kind(const char *name, const char **of);
