/* Gives a harness every file in its folder of seeds: `seeds_spec` reads seeds/spec/. */
#include "bench/tests/fuzz/fuzz.h"

#include <dirent.h>
#include <ftw.h>
#include <sys/stat.h>

static void replay(const char *path)
{
    FILE *in = fopen(path, "r");
    char *data = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&data, &size);
    FUZZ_ASSERT(in && out);
    for (int c = fgetc(in); c != EOF; c = fgetc(in))
        fputc(c, out);
    fclose(in);
    fclose(out);
    /* A copy of exactly this size: sanitizers see a byte too far. */
    uint8_t *copy = malloc(size + !size);
    FUZZ_ASSERT(copy);
    memcpy(copy, data, size);
    free(data);
    LLVMFuzzerTestOneInput(copy, size);
    free(copy);
}

static int is_seed(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

static int remove_entry(const char *path, const struct stat *s, int type, struct FTW *at)
{
    (void)s, (void)type, (void)at;
    return remove(path);
}

int main(int argc, char **argv)
{
    char work[512];
    snprintf(work, sizeof work, "%s", fuzz_folder());
    setenv("TMPDIR", work, 1); /* the harness's own folder lies in this one */
    const char *name = argc > 0 ? strstr(argv[0], "seeds_") : NULL;
    char folder[256], path[512];
    struct dirent **seeds;
    FUZZ_ASSERT(name);
    snprintf(folder, sizeof folder, "bench/tests/fuzz/seeds/%s", name + strlen("seeds_"));
    int n = scandir(folder, &seeds, is_seed, alphasort);
    FUZZ_ASSERT(n > 0);
    for (int i = 0; i < n; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, seeds[i]->d_name);
        replay(path);
        printf("ok %d - %s\n", i + 1, path);
        fflush(stdout);
        free(seeds[i]);
    }
    free(seeds);
    nftw(work, remove_entry, 8, FTW_DEPTH | FTW_PHYS);
    printf("1..%d\n", n);
    return 0;
}
