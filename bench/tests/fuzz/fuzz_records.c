/* Records of a launch, one rank after the other between lines "----". */
#include "bench/tests/fuzz/fuzz.h"

#include "bench/collect/collect.h"

enum { RANKS_MAX = 4 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct launch_result result;
    struct error e = {.status = OK};
    const uint8_t *part;
    size_t part_size;
    char name[32];
    int ranks = 0;
    while (ranks < RANKS_MAX && fuzz_part(&data, &size, &part, &part_size)) {
        snprintf(name, sizeof name, "rank.%d.jsonl", ranks++);
        fuzz_file(name, part, part_size);
    }
    if (ranks > 0)
        fuzz_said(launch_read(fuzz_folder(), ranks, &result, &e), &e);
    return 0;
}
