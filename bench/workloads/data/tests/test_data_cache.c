/* Tests the cache of decompressed files: reuse, damaged entries, and many processes at once. */
#include "bench/workloads/data/tests/data_files.h"

#include <signal.h>
#include <sys/resource.h>

/* ---- Cache folder ---- */

static char *entry_path(char path[PATH_MAX], const struct world *w, const char *name)
{
    snprintf(path, PATH_MAX, "%s/%s", w->cache, name);
    return path;
}

static struct stat entry_stat(const struct world *w, const char *name)
{
    struct stat s;
    char path[PATH_MAX];
    assert_int_equal(stat(entry_path(path, w, name), &s), 0);
    return s;
}

/* ---- The cache ---- */

static void test_cache_is_reused(void **state)
{
    const struct world *w = *state;
    write_set(w, w->data, true);
    assert_opens(w, w->data);
    struct listing before = list(w->cache);
    struct stat s[FILES];
    assert_int_equal(before.n, FILES);
    for (int i = 0; i < FILES; i++)
        s[i] = entry_stat(w, before.name[i]);
    assert_opens_saying(w, w->data, "");
    assert_int_equal(list(w->cache).n, FILES);
    for (int i = 0; i < FILES; i++) {
        struct stat after = entry_stat(w, before.name[i]);
        assert_int_equal(after.st_ino, s[i].st_ino);
        assert_int_equal(after.st_mtim.tv_sec, s[i].st_mtim.tv_sec);
        assert_int_equal(after.st_mtim.tv_nsec, s[i].st_mtim.tv_nsec);
    }
}

static void test_truncated_entry_is_made_anew(void **state)
{
    const struct world *w = *state;
    char path[PATH_MAX];
    write_set(w, w->data, true);
    assert_opens(w, w->data);
    struct listing l = list(w->cache);
    for (int i = 0; i < l.n; i++) {
        off_t size = entry_stat(w, l.name[i]).st_size;
        assert_int_equal(truncate(entry_path(path, w, l.name[i]), i ? size - 1 : 0), 0);
        assert_opens_saying(w, w->data,
                            "truncated, altered or of another version; creating it again");
        assert_int_equal(entry_stat(w, l.name[i]).st_size, size);
    }
    assert_opens_saying(w, w->data, "");
}

/* Changes the byte at `at` of an entry, from its end if negative. The modification time is kept. */
static void alter(const struct world *w, const char *name, off_t at)
{
    char path[PATH_MAX], byte;
    struct stat s = entry_stat(w, name);
    int fd = open(entry_path(path, w, name), O_RDWR);
    off_t place = at < 0 ? s.st_size + at : at;
    assert_true(fd >= 0);
    assert_int_equal(pread(fd, &byte, 1, place), 1);
    byte ^= 1;
    assert_int_equal(pwrite(fd, &byte, 1, place), 1);
    assert_int_equal(futimens(fd, (struct timespec[]){s.st_atim, s.st_mtim}), 0);
    close(fd);
}

/* Alters the header, the first and the last byte of the contents. */
static void test_altered_entry_is_made_anew(void **state)
{
    static const off_t places[] = {40, 4096, -1};
    const struct world *w = *state;
    char path[PATH_MAX];
    write_set(w, w->data, true);
    assert_opens(w, w->data);
    struct listing l = list(w->cache);
    for (int i = 0; i < l.n; i++)
        for (size_t k = 0; k < sizeof places / sizeof *places; k++) {
            alter(w, l.name[i], places[k]);
            assert_opens_saying(w, w->data, entry_path(path, w, l.name[i]));
            assert_opens_saying(w, w->data, "");
        }
}

/* An open data set does not change with its source. */
static void test_changed_source_makes_a_new_entry(void **state)
{
    struct world *w = *state;
    struct data_set old;
    write_set(w, w->data, true);
    assert_int_equal(data_open(&old, "idx", w->data, NULL), OK);
    uint8_t *last = &w->file[TRAIN_IMAGES].at[w->file[TRAIN_IMAGES].n - 1], before = *last;
    *last ^= 255;
    write_packed(w->data, file_names[TRAIN_IMAGES], w->file[TRAIN_IMAGES].at,
                 w->file[TRAIN_IMAGES].n);
    assert_opens(w, w->data);
    assert_int_equal(list(w->cache).n, FILES + 1);
    assert_int_equal(old.train.images[N_TRAIN * IMAGE - 1], before);
    data_close(&old);
}

/* Opens the set and sends the sum of the entries' inode numbers to the parent. */
static bool opens_and_tells(const struct world *w)
{
    struct data_set d;
    if (data_open(&d, "idx", w->data, NULL) != OK)
        return false;
    bool same =
        memcmp(d.train.images, w->file[TRAIN_IMAGES].at + IMAGE_HEADER, N_TRAIN * IMAGE) == 0 &&
        memcmp(d.test.labels, w->file[TEST_LABELS].at + LABEL_HEADER, N_TEST) == 0;
    struct listing l = list(w->cache);
    uint64_t sum = 0;
    for (int i = 0; i < l.n; i++)
        sum += entry_stat(w, l.name[i]).st_ino;
    data_close(&d);
    return same && write(w->told[1], &sum, sizeof sum) == sizeof sum;
}

/* An entry made twice would have two inode numbers. */
static void test_four_processes_make_one_copy(void **state)
{
    struct world *w = *state;
    int child[4];
    uint64_t sum[4];
    write_set(w, w->data, true);
    assert_int_equal(pipe(w->told), 0);
    for (int i = 0; i < 4; i++)
        child[i] = start(opens_and_tells, w);
    for (int i = 0; i < 4; i++)
        assert_ends_well(child[i]);
    assert_int_equal(read(w->told[0], sum, sizeof sum), sizeof sum);
    for (int i = 1; i < 4; i++)
        assert_int_equal(sum[i], sum[0]);
    close(w->told[0]);
    close(w->told[1]);
    assert_int_equal(list(w->cache).n, FILES);
    assert_opens_saying(w, w->data, "");
}

/* A file size limit kills the process in the middle of the first entry. */
static bool is_killed_while_writing(const struct world *w)
{
    struct data_set d;
    const struct rlimit limit = {N_TRAIN * IMAGE / 2, N_TRAIN * IMAGE / 2}, no_core = {0, 0};
    if (setrlimit(RLIMIT_CORE, &no_core) != 0 || setrlimit(RLIMIT_FSIZE, &limit) != 0)
        return false;
    return data_open(&d, "idx", w->data, NULL) == OK;
}

static void test_killed_process_leaves_nothing_in_the_way(void **state)
{
    const struct world *w = *state;
    int status, child;
    write_set(w, w->data, true);
    child = start(is_killed_while_writing, w);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status));
    assert_int_equal(WTERMSIG(status), SIGXFSZ);
    struct listing l = list(w->cache);
    assert_int_equal(l.n, 1);
    assert_contains(l.name[0], ".tmp");
    assert_opens_saying(w, w->data, "");
    assert_int_equal(list(w->cache).n, FILES);
}

enum { BIG = 4 << 20 };

static enum status fill_big(void *arg, int sink, struct error *e)
{
    static const char zeros[BIG];
    ++*(int *)arg;
    return cache_write(sink, zeros, sizeof zeros, e);
}

/* Tries to map an entry of BIG bytes with memory for a quarter of it. */
static bool reports_want_of_memory(const struct world *w)
{
    struct file_map map;
    struct error e = {0};
    int fills = 0;
    long pages;
    FILE *f = fopen("/proc/self/statm", "r");
    if (f == NULL || fscanf(f, "%ld", &pages) != 1)
        return false;
    fclose(f);
    rlim_t room = (rlim_t)pages * (rlim_t)getpagesize() + BIG / 4;
    const struct rlimit limit = {room, room};
    if (setrlimit(RLIMIT_AS, &limit) != 0)
        return false;
    enum status status = cache_open(&map, "big", "key", fill_big, &fills, &e);
    return w != NULL && status == ERR_MEMORY && fills == 0 &&
           strstr(e.text, "cannot be mapped: no memory for ") != NULL &&
           strstr(e.text, "ulimit -v") != NULL;
}

static void test_entry_that_finds_no_memory_stays(void **state)
{
    const struct world *w = *state;
    struct file_map map;
    int fills = 0;
    assert_int_equal(cache_open(&map, "big", "key", fill_big, &fills, NULL), OK);
    file_map_close(&map);
    assert_int_equal(fills, 1);
    assert_ends_well(start(reports_want_of_memory, w));
    assert_int_equal(cache_open(&map, "big", "key", fill_big, &fills, NULL), OK);
    file_map_close(&map);
    assert_int_equal(fills, 1);
}

/* Root may write anywhere, so the folder is placed below a regular file. */
static void test_cache_that_cannot_be_made(void **state)
{
    const struct world *w = *state;
    char cache[PATH_MAX], said[PATH_MAX + 80];
    write_set(w, w->data, true);
    write_file(w->root, "file", (const uint8_t *)"", 0);
    snprintf(cache, sizeof cache, "%s/file/cache", w->root);
    snprintf(said, sizeof said,
             "warning: %s: cannot be created: Not a directory; creating 'idx-train-", cache);
    setenv("SCALEBENCH_CACHE", cache, 1);
    assert_opens_saying(w, w->data, said);
}

static void test_no_cache_folder_named(void **state)
{
    const struct world *w = *state;
    write_set(w, w->data, true);
    unsetenv("SCALEBENCH_CACHE");
    unsetenv("XDG_CACHE_HOME");
    unsetenv("HOME");
    assert_opens_saying(w, w->data,
                        "no cache folder: SCALEBENCH_CACHE, XDG_CACHE_HOME and HOME are not set. "
                        "Set one of them to a writable folder");
}

static void test_cache_folders_of_the_desktop(void **state)
{
    const struct world *w = *state;
    char folder[PATH_MAX];
    write_set(w, w->data, true);
    unsetenv("SCALEBENCH_CACHE");
    setenv("XDG_CACHE_HOME", "", 1);
    setenv("HOME", w->root, 1);
    assert_opens(w, w->data);
    snprintf(folder, sizeof folder, "%s/.cache/scalebench", w->root);
    assert_int_equal(list(folder).n, FILES);
    setenv("XDG_CACHE_HOME", w->root, 1);
    assert_opens(w, w->data);
    snprintf(folder, sizeof folder, "%s/scalebench", w->root);
    assert_int_equal(list(folder).n, FILES);
}

/* Temporary files link to /dev/full, so writing fails as on a full disk. */
static void test_full_disk(void **state)
{
    const struct world *w = *state;
    char host[HOST_NAME_MAX + 1] = "", path[PATH_MAX], temporary[PATH_MAX + HOST_NAME_MAX + 8];
    write_set(w, w->data, true);
    assert_opens(w, w->data);
    struct listing l = list(w->cache);
    assert_int_equal(gethostname(host, sizeof host - 1), 0);
    for (int i = 0; i < l.n; i++) {
        assert_int_equal(unlink(entry_path(path, w, l.name[i])), 0);
        snprintf(temporary, sizeof temporary, "%s.%s.tmp", path, host);
        assert_int_equal(symlink("/dev/full", temporary), 0);
    }
    assert_opens_saying(w, w->data,
                        "tmp: the file cannot be written: No space left on device; creating 'idx-");
    assert_int_equal(list(w->cache).n, 0);
}

/* The hash does not depend on compression, nor on whether it is computed or cached. */
static void test_hash_follows_the_contents(void **state)
{
    struct world *w = *state;
    char plain[DATA_HASH_BYTES], again[DATA_HASH_BYTES];
    for (int writable = 1; writable >= 0; writable--) {
        setenv("SCALEBENCH_CACHE", writable ? w->cache : "/proc/nowhere", 1);
        write_set(w, w->data, false);
        hash_set(w, plain);
        assert_int_equal(strlen(plain), DATA_HASH_BYTES - 1);
        for (int i = 0; i < 2; i++) {
            hash_set(w, again);
            assert_string_equal(again, plain);
        }
        w->file[TEST_LABELS].at[LABEL_HEADER] = (w->file[TEST_LABELS].at[LABEL_HEADER] + 1) % 10;
        write_set(w, w->data, false);
        hash_set(w, again);
        assert_string_not_equal(again, plain);
    }
    for (int i = 0; i < FILES; i++) {
        char path[PATH_MAX];
        snprintf(path, sizeof path, "%s/%s", w->data, file_names[i]);
        assert_int_equal(unlink(path), 0);
    }
    setenv("SCALEBENCH_CACHE", w->cache, 1);
    write_set(w, w->data, true);
    hash_set(w, plain);
    assert_string_equal(plain, again);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_cache_is_reused),
        TEST(test_truncated_entry_is_made_anew),
        TEST(test_altered_entry_is_made_anew),
        TEST(test_changed_source_makes_a_new_entry),
        TEST(test_four_processes_make_one_copy),
        TEST(test_killed_process_leaves_nothing_in_the_way),
        TEST(test_entry_that_finds_no_memory_stays),
        TEST(test_cache_that_cannot_be_made),
        TEST(test_no_cache_folder_named),
        TEST(test_cache_folders_of_the_desktop),
        TEST(test_full_disk),
        TEST(test_hash_follows_the_contents),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
