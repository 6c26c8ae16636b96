/* Remarks of points that do not change their status, as column `flags` of summary.csv has them:
 *
 *   FLAG(name, meaning)
 *
 * To add a flag: a row here and the points that get it in summary.c, noise.c or ratio.c. */
#pragma once

#define POINT_FLAGS(FLAG)                                                                          \
    FLAG(ci_not_met,                                                                               \
         "a number with an interval is known less precisely than measure.time.precision asks")     \
    FLAG(oversubscribed, "there are more computing threads than usable cores")                     \
    FLAG(replayed, "ranks did not compute in timed launches: see compute")                         \
    FLAG(short_replay, "computing of a step takes less than smallest_step_ms")                     \
    FLAG(late_replay, "late_ms is more than 5 % of step_ms")                                       \
    FLAG(compute_only, "strategy none at several ranks: ranks train apart and send nothing")       \
    FLAG(by_design,                                                                                \
         "weights differ between ranks, as an option that is a flaw of published programs has it") \
    FLAG(shares_cores, "no lock kept other campaigns off the same cores")                          \
    FLAG(                                                                                          \
        memory_off,                                                                                \
        "model_states_error_pct of a point under a stage of ZeRO is beyond 5 either way, by more " \
        "than 8 pages of memory")                                                                  \
    FLAG(mixed, "its nodes have processors of several kinds, see cpus: the slower one decides")    \
    FLAG(shared_machine,                                                                           \
         "several of its nodes are one machine, and may share cores: see machines")                \
    FLAG(busy, "others took more than 10 % of its processors' time: see foreign_pct")              \
    FLAG(seeds_missing, "fewer accuracy runs count than seeds were asked for")                     \
    FLAG(disturbed, "a launch that counts was disturbed: see disturbed_by")                        \
    FLAG(outliers, "step_ms of a launch does not belong to the others")                            \
    FLAG(modes, "step_ms of the launches falls into two groups")                                   \
    FLAG(warming, "steps get shorter while they are timed: trend_tau differs from 0 over the "     \
                  "launches at 5 %, corrected for the points, and trend_pct is more than 1")       \
    FLAG(slowing, "steps get longer while they are timed, by the same test as warming")            \
    FLAG(base_incomplete, "launches of a point that a ratio of this row rests on failed")

#define FLAG_ID(name, meaning) FLAG_##name,
enum point_flag { POINT_FLAGS(FLAG_ID) FLAGS };
#undef FLAG_ID

#define FLAG_TEXT(name, meaning) #name " (" meaning "), "
