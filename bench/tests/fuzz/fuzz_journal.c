/* A campaign's journal: read, then opened for writing, which cuts off a torn last line. The
 * remaining lines read the same. */
#include "bench/tests/fuzz/fuzz.h"

#include "bench/record/journal.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct journal first, second;
    struct error e = {.status = OK};
    fuzz_file("journal.jsonl", data, size);
    enum status status = journal_open(&first, fuzz_folder(), false, &e);
    fuzz_said(status, &e);
    if (status != OK)
        return 0;
    FUZZ_ASSERT(journal_open(&second, fuzz_folder(), true, &e) == OK);
    FUZZ_ASSERT(first.n_launches == second.n_launches && first.n_skips == second.n_skips &&
                first.n_blocks == second.n_blocks && first.finished == second.finished);
    journal_close(&first);
    journal_close(&second);
    return 0;
}
