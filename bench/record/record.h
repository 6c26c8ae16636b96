/* Record of a rank, written by every workload: DIR/rank.N.jsonl, one JSON object per line, units in
 * the names:
 *
 *   {"type":"hello","schema":1,"rank":0,"ranks":2,...}    rank, options and libraries
 *   {"type":"step","epoch":0,"step":11,"timed":true,...}
 *   {"type":"span","epoch":0,"step":11,"phase":"forward","name":"conv1 relu1","begin_ns":...,"end_ns":...}
 *                                                     a part of this rank's step; optional
 *   {"type":"epoch","epoch":0,"seconds":1.5,...}    over all ranks
 *   {"type":"eval","epoch":0,"seconds":0.2,...,
 *    "class_samples":[980,1135,...],"class_correct":[973,1120,...]}    over all ranks, by class;
 *                                                     the two lists are optional, but only together
 *   {"type":"end","status":"ok","steps":70,...}
 *
 * metrics.def lists the fields of the lines. A rank creates its file before it starts MPI;
 * measure.start_limit applies until all files exist. Up to 4096 `step` lines are written at a time,
 * between steps or at the end. A launch counts only if every rank has written `end`. Accuracy runs
 * write `step` lines only for the first 200 steps of the last epoch. A resumed run repeats the
 * earlier `epoch` and `eval` lines. */
#pragma once

#include <jansson.h>
#include <stdio.h>

#include "bench/record/fields.h"
#include "kernels/base/error.h"

/* Record of one rank while it is written. */
struct recorder {
    const char *dir; /* folder of the record, borrowed; NULL: nothing is recorded */
    int rank;
    FILE *out; /* the open file DIR/rank.N.jsonl, until recorder_finish */
};

/* Creates DIR/rank.N.jsonl, unless `dir` is NULL. ERR_SYSTEM if the file cannot be written. */
enum status recorder_open(struct recorder *r, const char *dir, int rank, struct error *e);

/* Checks whether DIR/rank.N.jsonl can be written; ERR_ARGUMENT if not. */
enum status recorder_check(const char *dir, int rank, struct error *e);

/* Creates an empty DIR/rank.N.jsonl before MPI starts, so that recorder_count counts this rank as
 * started. Ignores errors; recorder_check reports them. */
void recorder_announce(const char *dir, int rank);

/* Removes the record if it is still empty, so that a run that is refused leaves no file. */
void recorder_withdraw(const char *dir, int rank);

/* Returns how many of `ranks` ranks have a record in `dir`. */
int recorder_count(const char *dir, int ranks);

/* Sets every field of a line's struct to its initial value: reals to unknown (NAN), verdicts to
 * unknown, counts to 0, texts to "". */
void record_clear(enum record_line line, void *values);

/* Converts the struct of a line (struct record_hello for RECORD_hello) to JSON, without optional
 * fields that are unknown. NULL if memory runs out or a text is not UTF-8. */
json_t *record_json(enum record_line line, const void *values);

/* Converts the identity fields of a hello line (first line of a rank's record) to JSON. These
 * fields must be equal in all launches of a point. */
json_t *record_identity_json(const struct record_hello *hello);

/* Lists the fields of each kind of line, for programs in other languages that write records:
 * {"hello":{"schema":true,...},...}. true: the field is required. */
json_t *record_fields_json(void);

/* Writes one line. Takes ownership of `line`. If r->dir is NULL, only frees `line`. Otherwise:
 * ERR_MEMORY if `line` is NULL, so callers need not check the result of record_json; ERR_SYSTEM if
 * the file cannot be written. */
enum status recorder_add(struct recorder *r, json_t *line, struct error *e);

/* Closes the file if it is open. ERR_SYSTEM if not all lines could be written. */
enum status recorder_finish(struct recorder *r, struct error *e);
