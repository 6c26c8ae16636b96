/* What a workload tells: DIR/rank.N.jsonl, one JSON object a line, units in the names:
 *
 *   {"type":"hello","schema":1,"rank":0,"ranks":2,...}    who runs what, with which libraries
 *   {"type":"step","epoch":0,"step":11,"timed":true,...}
 *   {"type":"span","epoch":0,"step":11,"phase":"forward","name":"conv1 relu1","begin_ns":...,"end_ns":...}
 *                                                     what this rank did when in a step; may be left out
 *   {"type":"epoch","epoch":0,"seconds":1.5,...}    over all ranks
 *   {"type":"eval","epoch":0,"seconds":0.2,...,
 *    "class_samples":[980,1135,...],"class_correct":[973,1120,...]}    over all ranks, in order of
 *                                                     classes; may be left out, both or none
 *   {"type":"end","status":"ok","steps":70,...}
 *
 * A rank makes the file before it starts MPI: measure.start_limit counts these files. Lines have the fields of
 * metrics.def. They are made between timed steps, some thousand steps at a time, and after them. A launch counts only when every rank has written `end`. In accuracy runs
 * steps are summed up in `epoch` lines and only the last epoch's first 200 steps are written out. A
 * resumed run repeats the `epoch` and `eval` lines of before. */
#pragma once

#include <jansson.h>
#include <stdio.h>

#include "bench/record/fields.h"
#include "kernels/base/error.h"

/* The record of one rank, being written. */
struct recorder {
    const char *dir; /* borrowed; NULL: nothing is kept */
    int rank;
    FILE *out; /* DIR/rank.N.jsonl until recorder_finish */
};

/* Begins DIR/rank.N.jsonl. ERR_SYSTEM when that cannot be written. */
enum status recorder_open(struct recorder *r, const char *dir, int rank, struct error *e);

/* Whether recorder_write will find DIR/rank.N.jsonl writable. ERR_ARGUMENT when not. */
enum status recorder_check(const char *dir, int rank, struct error *e);

/* Leaves an empty DIR/rank.N.jsonl before MPI starts, if it is missing: this rank has started. A failure is left to
 * recorder_check, which reports it. */
void recorder_announce(const char *dir, int rank);

/* Removes that file if it is still empty: a run that is refused leaves nothing. */
void recorder_withdraw(const char *dir, int rank);

/* Returns how many of `ranks` have a file in `dir`. */
int recorder_count(const char *dir, int ranks);

/* Every field of a line's struct as nobody has told it: numbers are unknown, counts 0, texts empty. */
void record_clear(enum record_line line, void *values);

/* A line of the record from its struct (struct record_hello for RECORD_hello), without the fields
 * that are optional and unknown; NULL when there is no memory or JSON cannot hold a text. */
json_t *record_json(enum record_line line, const void *values);

/* Only the fields of a hello that launches that are compared must have in common. */
json_t *record_identity_json(const struct record_hello *hello);

/* The fields of each line, for peers in other languages: {"hello":{"schema":true,...},...}, true
 * where they must not be left out. */
json_t *record_fields_json(void);

/* Writes one line; takes over `line`, which may be NULL when there was no memory for it. ERR_SYSTEM
 * when the file cannot be written. */
enum status recorder_add(struct recorder *r, json_t *line, struct error *e);

/* Ends the file, if it has not ended. ERR_SYSTEM when it could not be written in full. */
enum status recorder_finish(struct recorder *r, struct error *e);
