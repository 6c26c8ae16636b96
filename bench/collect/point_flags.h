/* Flags of points, such as simulated or disturbed, in column `flags` of summary.csv. A flag does
 * not change the point's status.
 *
 *   FLAG(name, meaning)
 *
 * To add a flag: a row here, and the condition under which a point gets the flag, in set_flags of
 * summary.c. */
#pragma once

#define POINT_FLAGS(FLAG)                                                                          \
    FLAG(ci_not_met,                                                                               \
         "an interval is wider than measure.time.precision allows, or has too few launches")       \
    FLAG(oversubscribed, "more computing threads than usable cores")                               \
    FLAG(simulated, "a model predicted the launches; no rank ran")                                 \
    FLAG(replayed, "ranks slept for calibrated times instead of computing in timed launches")      \
    FLAG(short_replay, "the computation of a step is shorter than smallest_step_ms")               \
    FLAG(late_replay, "late_ms is more than 5 % of step_ms")                                       \
    FLAG(compute_only, "strategy none at several ranks: ranks train alone and send nothing")       \
    FLAG(by_design,                                                                                \
         "weights differ between ranks because an option reproduces a flaw of published programs") \
    FLAG(shares_cores, "no lock kept other campaigns off the cores of this campaign")              \
    FLAG(memory_off,                                                                               \
         "model_states_mib under ZeRO differs from its forecast by more than 5 % and 8 pages")     \
    FLAG(mixed,                                                                                    \
         "nodes have different processors, listed in cpus, and the slowest determines the time")   \
    FLAG(shared_machine, "several nodes are one machine and may share cores, see machines")        \
    FLAG(busy,                                                                                     \
         "other programs, interrupts or a hypervisor took more than 10 % of processor time, see "  \
         "foreign_pct")                                                                            \
    FLAG(seeds_missing, "accuracy runs of some seeds failed or are missing")                       \
    FLAG(disturbed, "a launch was disturbed but counts, see disturbed_by")                         \
    FLAG(outliers, "step_ms of a launch is an outlier")                                            \
    FLAG(modes, "step_ms of the launches falls into two groups")                                   \
    FLAG(warming, "step times fall by more than 1 % during the timed steps, statistically "        \
                  "significant, see trend_pct")                                                    \
    FLAG(slowing, "step times rise by more than 1 % during the timed steps, statistically "        \
                  "significant, see trend_pct")                                                    \
    FLAG(base_incomplete, "launches of the base or peer failed, and a ratio of this row needs "    \
                          "them")

#define FLAG_ID(name, meaning) FLAG_##name,
enum point_flag { POINT_FLAGS(FLAG_ID) FLAGS };
#undef FLAG_ID

#define FLAG_TEXT(name, meaning) #name " (" meaning "), "
