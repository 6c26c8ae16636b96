/* The figures of a spec, a list of them, and, after a line "----", the table of published values
 * that they may name as theirs.csv: looked through as `plan` does, before anything is run. */
#include "bench/tests/fuzz/fuzz.h"

#include "bench/figures/figures.h"

static const char head[] =
    "name: f\nscaling: strong\nmodel: softmax_784\ndata: {set: digits}\ntrain: {global_batch: 64}\n"
    "cases:\n  - {label: one, sync.strategy: shm}\n  - {label: two, train.lr: 0.1}\n"
    "matrix: {ranks: [1, 2]}\nmeasure: {accuracy: {seeds: [1]}, steps_csv: true}\nfigures:\n";

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct spec_machine machine = {.usable_cores = 8};
    const uint8_t *figures = data;
    size_t figures_size = 0, length = 0;
    char *text = NULL;
    struct spec spec;
    struct error e = {.status = OK};
    fuzz_part(&data, &size, &figures, &figures_size);
    fuzz_file("theirs.csv", data, size);
    FILE *out = open_memstream(&text, &length);
    FUZZ_ASSERT(out && fputs(head, out) >= 0 &&
                fwrite(figures, 1, figures_size, out) == figures_size && fclose(out) == 0);
    enum status status = spec_load(&spec, fuzz_file("spec.yaml", text, length), NULL, &machine, &e);
    THEN(status, figures_check(&spec, &e));
    fuzz_said(status, &e);
    spec_free(&spec);
    free(text);
    return 0;
}
