/* Lists the terms that tables, captions and flags use, with their meanings, for `scalebench
 * explain`. */
#include "bench/collect/collect.h"
#include "bench/collect/point_flags.h"
#include "kernels/base/timeline.h"

static const struct word words[] = {
#define WORD_FLAG(name, meaning) {"a flag of points", #name, meaning},
    POINT_FLAGS(WORD_FLAG)
#define POINT_STATUS(id, fails, meaning) {"a status of points", #id, meaning},
#include "bench/collect/point_status.def"
#define SAVING(name, counts, summary) {"work that is saved", #name, summary},
#include "kernels/desc/savings.def"
#define LAW(name, strong, weak, title, meaning) {"a law of fits.csv", #name, meaning},
#include "bench/base/scaling_laws.def"
#define WORD_PHASE(name, meaning) {"a phase of timelines", #name, meaning},
        TIMELINE_PHASES(WORD_PHASE)
#define WORD(name, meaning) {"a word of tables and captions", name, meaning},
#include "bench/collect/table/words.def"
};

const struct word *words_all(size_t *n)
{
    *n = sizeof words / sizeof *words;
    return words;
}
