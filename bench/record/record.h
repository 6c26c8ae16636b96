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
 * A rank makes the file before it starts MPI, and measure.start_limit counts these files.
 * metrics.def lists the fields of the lines. Lines are written between timed steps, some
 * thousand steps at a time, and at the end. A launch counts only if every rank has written
 * `end`. Accuracy runs summarise steps in `epoch` lines and write only the first 200 steps of
 * the last epoch. A resumed run repeats the earlier `epoch` and `eval` lines. */
#pragma once

#include <jansson.h>
#include <stdio.h>

#include "bench/record/fields.h"
#include "kernels/base/error.h"

/* Record of one rank while it is written. */
struct recorder {
    const char *dir; /* borrowed; NULL: no record is kept */
    int rank;
    FILE *out; /* DIR/rank.N.jsonl until recorder_finish */
};

/* Begins DIR/rank.N.jsonl. ERR_SYSTEM if it cannot be written. */
enum status recorder_open(struct recorder *r, const char *dir, int rank, struct error *e);

/* Checks that DIR/rank.N.jsonl can be written; ERR_ARGUMENT if not. */
enum status recorder_check(const char *dir, int rank, struct error *e);

/* Makes an empty DIR/rank.N.jsonl before MPI starts, as a sign that this rank has started.
 * Errors are left to recorder_check. */
void recorder_announce(const char *dir, int rank);

/* Removes the record if it is still empty, so that a refused run leaves no file. */
void recorder_withdraw(const char *dir, int rank);

/* Returns how many of `ranks` ranks have a record in `dir`. */
int recorder_count(const char *dir, int ranks);

/* Sets every field of a line's struct to its initial value: numbers unknown, counts 0, texts
 * empty. */
void record_clear(enum record_line line, void *values);

/* Converts the struct of a line (struct record_hello for RECORD_hello) to JSON, without optional
 * fields that are unknown. NULL if there is no memory or a text is not UTF-8. */
json_t *record_json(enum record_line line, const void *values);

/* Converts only the fields of a hello that all compared launches must share. */
json_t *record_identity_json(const struct record_hello *hello);

/* Lists the fields of each line for peers in other languages: {"hello":{"schema":true,...},...}.
 * true: required. */
json_t *record_fields_json(void);

/* Writes one line. Takes ownership of `line`, which may be NULL if there was no memory for it.
 * ERR_SYSTEM if the file cannot be written. */
enum status recorder_add(struct recorder *r, json_t *line, struct error *e);

/* Closes the file, unless it is closed already. ERR_SYSTEM if it could not be written in full. */
enum status recorder_finish(struct recorder *r, struct error *e);
