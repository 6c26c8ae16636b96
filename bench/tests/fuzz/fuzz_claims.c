/* A file of claims: read, judged by a table of published numbers and one of a run, and told in
 * every format. */
#include "bench/tests/fuzz/fuzz.h"

#include <sys/stat.h>

#include "bench/claims/claims.h"

static void write_table(const char *folder, const char *name, const char *text)
{
    char path[128];
    snprintf(path, sizeof path, "%s", folder);
    for (char *slash = strchr(path, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        mkdir(fuzz_path(path), 0700);
        *slash = '/';
    }
    mkdir(fuzz_path(path), 0700);
    snprintf(path, sizeof path, "%s/%s", folder, name);
    fuzz_file(path, text, strlen(text));
}

static void write_tables(void)
{
    static bool written;
    if (written)
        return;
    written = true;
    write_table("published", "t.csv", "ranks,s,how\n1,10,slow\n2,6,\n4,,fast\n");
    write_table("reference/run", "steps.csv", "n,ms,ms_lo,ms_hi\n1,10,9,11\n2,6,4,8\n");
}

static void tell(const struct claims *c)
{
    static claims_writer *const writers[] = {claims_write_text, claims_write_csv,
                                             claims_write_markdown};
    for (size_t i = 0; i < sizeof writers / sizeof *writers; i++) {
        char *text = NULL;
        size_t size = 0;
        FILE *out = open_memstream(&text, &size);
        FUZZ_ASSERT(out);
        writers[i](out, c);
        FUZZ_ASSERT(fclose(out) == 0 && size > 0);
        free(text);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct claims c;
    struct error e = {.status = OK};
    write_tables();
    const char *path = fuzz_file("claims.yaml", data, size);
    enum status status = claims_judge(&c, path, &e);
    fuzz_said(status, &e);
    if (status == OK) {
        size_t judged = 0;
        for (size_t i = 0; i < CLAIM_VERDICTS; i++)
            judged += c.verdicts[i];
        FUZZ_ASSERT(judged == c.n);
        tell(&c);
    }
    claims_free(&c);
    return 0;
}
