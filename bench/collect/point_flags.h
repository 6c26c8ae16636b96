/* Flags that mark points as imprecise or disturbed, in column `flags` of summary.csv. A flag does
 * not change the point's status.
 *
 *   FLAG(name, meaning)
 *
 * To add a flag: a row here, and in summary.c, noise.c or ratio.c the condition under which a point
 * gets it. */
#pragma once

#define POINT_FLAGS(FLAG)                                                                          \
    FLAG(ci_not_met, "an interval is wider than measure.time.precision allows")                    \
    FLAG(oversubscribed, "more computing threads than usable cores")                               \
    FLAG(replayed, "ranks slept for calibrated times instead of computing in timed launches")      \
    FLAG(short_replay, "the computation of a step is shorter than smallest_step_ms")               \
    FLAG(late_replay, "late_ms is more than 5 % of step_ms")                                       \
    FLAG(compute_only, "strategy none at several ranks: ranks train alone and send nothing")       \
    FLAG(by_design,                                                                                \
         "weights differ between ranks because an option reproduces a flaw of published programs") \
    FLAG(shares_cores, "no lock kept other campaigns off the same cores")                          \
    FLAG(memory_off,                                                                               \
         "model_states_mib under ZeRO differs from its forecast by more than 5 % and 8 pages")     \
    FLAG(mixed, "nodes have different processors, see cpus: the slowest decides")                  \
    FLAG(shared_machine, "several nodes are one machine and may share cores, see machines")        \
    FLAG(busy, "others used more than 10 % of the point's processor time, see foreign_pct")        \
    FLAG(seeds_missing, "fewer accuracy runs count than there are seeds")                          \
    FLAG(disturbed, "a launch that counts was disturbed, see disturbed_by")                        \
    FLAG(outliers, "step_ms of a launch is an outlier")                                            \
    FLAG(modes, "step_ms of the launches falls into two groups")                                   \
    FLAG(warming, "steps get shorter during the timed part: trend_tau differs from 0 at 5 %, "     \
                  "corrected for the points, and trend_pct is beyond 1")                           \
    FLAG(slowing, "steps get longer during the timed part, by the same test as warming")           \
    FLAG(base_incomplete, "launches of a point that a ratio of this row needs failed")

#define FLAG_ID(name, meaning) FLAG_##name,
enum point_flag { POINT_FLAGS(FLAG_ID) FLAGS };
#undef FLAG_ID

#define FLAG_TEXT(name, meaning) #name " (" meaning "), "
