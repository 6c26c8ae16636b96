/* All reading modes and shard rules give a rank the same bytes in each step, and an epoch uses
 * every sample once.
 * double: 3 */
#include "comm/tests/mpi_test.h"

#include <ftw.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <zlib.h>

#include "bench/workloads/read/reader.h"
#include "bench/workloads/train_cnn/feed.h"
#include "kernels/base/rng.h"

/* Sizes that do not divide each other. The path contains a colon, which is special in MPI-IO. */
enum { IMAGES = 103, TEST_IMAGES = 5, SIDE = 6, BATCH = 25, EPOCHS = 2, PATH_BYTES = 128 };

/* The waiter yields: with more ranks than cores, spinning calls take 100 times as long. Folders are
 * the same on every rank. */
struct fixture {
    struct config config;
    struct waiter waiter;
    char root[PATH_BYTES], plain[PATH_BYTES + 16], packed[PATH_BYTES + 16];
};

static struct fixture fixture;

static void option(enum option_id id, const char *text)
{
    struct error e;
    assert_int_equal(config_set(&fixture.config, option_get(id), text, (struct mark){0}, &e), OK);
}

/* Returns whether `mine` is true on every rank. */
static bool agreed(bool mine)
{
    struct error e;
    int all = mine;
    return wait_allreduce(&fixture.waiter, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD, "agreement",
                          &e) == OK &&
           all;
}

/* ---- A small data set ---- */

static uint8_t pixel(uint32_t image, uint32_t j)
{
    return (uint8_t)rng_word(3, RNG_STREAM(RNG_DIGITS, 2), 0, image, j);
}

static void put_word(gzFile file, uint32_t word)
{
    for (int shift = 24; shift >= 0; shift -= 8)
        gzputc(file, (int)(word >> shift & 255));
}

/* `mode`: of gzopen, "wb" compressed, "wbT" plain. */
static void write_pair(const char *folder, const char *stem, const char *end, const char *mode,
                       uint32_t n)
{
    char path[2 * PATH_BYTES];
    snprintf(path, sizeof path, "%s/%s-images-idx3-ubyte%s", folder, stem, end);
    gzFile images = gzopen(path, mode);
    snprintf(path, sizeof path, "%s/%s-labels-idx1-ubyte%s", folder, stem, end);
    gzFile labels = gzopen(path, mode);
    put_word(images, 0x803);
    put_word(labels, 0x801);
    put_word(images, n);
    put_word(labels, n);
    put_word(images, SIDE);
    put_word(images, SIDE);
    for (uint32_t i = 0; i < n; i++) {
        for (uint32_t j = 0; j < SIDE * SIDE; j++)
            gzputc(images, pixel(i, j));
        gzputc(labels, (int)(i % 10));
    }
    gzclose(images);
    gzclose(labels);
}

static void write_set(const char *folder, uint32_t n, bool packed)
{
    const char *end = packed ? ".gz" : "", *mode = packed ? "wb" : "wbT";
    if (mkdir(folder, 0700) != 0)
        return;
    write_pair(folder, "train", end, mode, n);
    write_pair(folder, "t10k", end, mode, TEST_IMAGES);
}

static int remove_entry(const char *path, const struct stat *s, int type, struct FTW *ftw)
{
    (void)s, (void)type, (void)ftw;
    return remove(path);
}

static bool open_fixture(void)
{
    struct fixture *f = &fixture;
    struct error e;
    const char *temporary = getenv("TMPDIR");
    snprintf(f->root, sizeof f->root, "%s/mpi_data.XXXXXX", temporary != NULL ? temporary : "/tmp");
    if (mpi_world_rank() == 0 && mkdtemp(f->root) == NULL)
        f->root[0] = '\0';
    MPI_Bcast(f->root, sizeof f->root, MPI_BYTE, 0, MPI_COMM_WORLD);
    snprintf(f->plain, sizeof f->plain, "%.*s/a:b", PATH_BYTES - 1, f->root);
    snprintf(f->packed, sizeof f->packed, "%.*s/packed", PATH_BYTES - 1, f->root);
    if (mpi_world_rank() == 0) {
        write_set(f->plain, IMAGES, false);
        write_set(f->packed, IMAGES, true);
    }
    bool open = waiter_open(&f->waiter, WAIT_YIELD, 120, MPI_COMM_WORLD, &e) == OK;
    return agreed(open && f->root[0] != '\0');
}

static void close_fixture(void)
{
    agreed(true);
    waiter_close(&fixture.waiter);
    if (mpi_world_rank() == 0)
        nftw(fixture.root, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
}

static int setup(void **state)
{
    struct error e;
    setenv("SCALEBENCH_CACHE", fixture.root, 1);
    if (config_init(&fixture.config, &e) != OK)
        return -1;
    option(OPT_DATA_SET, "idx");
    option(OPT_DATA_NAME, "tiny");
    option(OPT_DATA_PATH, fixture.plain);
    return 0;
}

static int setup_packed(void **state)
{
    int failed = setup(state);
    option(OPT_DATA_PATH, fixture.packed);
    return failed;
}

static int teardown(void **state)
{
    config_free(&fixture.config);
    return 0;
}

/* ---- Epochs ---- */

static bool sampler_start(struct sampler *s, uint32_t n)
{
    struct error e;
    *s = (struct sampler){.n_samples = n,
                          .global_batch = BATCH,
                          .remainder = (enum remainder)config_int(&fixture.config, OPT_REMAINDER),
                          .shard = (enum shard)config_int(&fixture.config, OPT_DATA_SHARD),
                          .shuffle = config_int(&fixture.config, OPT_SHUFFLE) != 0,
                          .seed = 11,
                          .rank = mpi_world_rank(),
                          .ranks = mpi_world_ranks()};
    return sampler_open(s, &e) == OK;
}

/* Compares every image of a batch with its original. */
static bool batch_is_right(const struct data_set *data, const struct batch *batch)
{
    uint8_t image[SIDE * SIDE], label;
    for (uint32_t i = 0; i < batch->n; i++) {
        data_gather(&data->train, sizeof image, &batch->samples[i], 1, image, &label);
        for (uint32_t j = 0; j < sizeof image; j++)
            if (image[j] != pixel(batch->samples[i], j))
                return false;
        if (label != batch->samples[i] % 10)
            return false;
    }
    return true;
}

/* A rank of a sharing mode holds only the samples that it fetched. */
static bool epochs_are_right(void)
{
    struct feed feed;
    struct sampler sampler;
    struct error e;
    bool good = feed_open(&feed, &fixture.config, &fixture.waiter, MPI_COMM_WORLD, &e) == OK &&
                sampler_start(&sampler, IMAGES);
    if (!agreed(good))
        return false;
    for (uint32_t epoch = 0; epoch < EPOCHS; epoch++) {
        good = feed_epoch(&feed, &sampler, epoch, &e) == OK && good;
        for (uint32_t step = 0; step < sampler.steps; step++) {
            struct batch batch = sampler_get(&sampler, epoch, step);
            good = good && batch_is_right(&feed.reader.data, &batch);
        }
    }
    uint32_t fetches = !reader_shares(&feed.reader)                       ? 0
                       : sampler.shuffle && sampler.shard == SHARD_global ? EPOCHS
                                                                          : 1;
    good = good && feed.fetches == fetches && feed.read_s > 0;
    good = good && feed.reader.data.test.n == TEST_IMAGES;
    sampler_close(&sampler);
    feed_close(&feed);
    return agreed(good);
}

/* MPI-IO calls spin, so ranks without own cores take 100 times as long and test one layout only.
 * The double-precision build would read the same bytes. */
static bool is_left_out(const char *mode, bool all_modes)
{
    bool crowded = mpi_is_crowded();
    return strncmp(mode, "mpiio", 5) == 0 &&
           (sizeof(real) > sizeof(float) || (crowded && !all_modes));
}

static void expect_modes(const char *shard, const char *shuffle, const char *remainder,
                         bool all_modes)
{
    const char *const *modes = names_data_reads->names;
    option(OPT_DATA_SHARD, shard);
    option(OPT_SHUFFLE, shuffle);
    option(OPT_REMAINDER, remainder);
    for (size_t i = 0; i < names_data_reads->n; i++) {
        if (is_left_out(modes[i], all_modes))
            continue;
        option(OPT_DATA_READ, modes[i]);
        if (!epochs_are_right())
            fail_msg("data.read = %s, %s, shuffle %s, %s", modes[i], shard, shuffle, remainder);
    }
}

static void global_order_is_the_same_in_every_mode(void **state)
{
    expect_modes("global", "true", "uneven", true);
}

static void unshuffled_samples_are_fetched_once(void **state)
{
    expect_modes("global", "false", "uneven", false);
}

static void shards_are_the_same_in_every_mode(void **state)
{
    expect_modes("contiguous", "true", "uneven", false);
}

static void padding_is_there_in_every_mode(void **state)
{
    expect_modes("global", "true", "pad", false);
}

static void padded_shards_are_there_in_every_mode(void **state)
{
    expect_modes("contiguous", "false", "pad", false);
}

static void compressed_files_are_read_from_the_cache(void **state)
{
    expect_modes("global", "true", "drop", false);
}

/* If rank 0 has all samples, other ranks still read one with weight 0. */
static void a_rank_without_samples_may_read_one(void **state)
{
    static uint32_t all[IMAGES];
    static const uint32_t any_sample = 0;
    struct feed feed;
    struct error e;
    uint8_t image[SIDE * SIDE], label;
    for (uint32_t i = 0; i < IMAGES; i++)
        all[i] = i;
    option(OPT_DATA_READ, "scatter");
    bool good = feed_open(&feed, &fixture.config, &fixture.waiter, MPI_COMM_WORLD, &e) == OK;
    assert_true(agreed(good));
    struct reader *r = &feed.reader;
    good = reader_fetch(r, all, mpi_world_rank() == 0 ? IMAGES : 0, &e) == OK;
    data_gather(&r->data.train, sizeof image, &any_sample, 1, image, &label);
    good = good && r->data.train.slots[any_sample] < r->store.room;
    good = good && (mpi_world_rank() > 0 || image[1] == pixel(0, 1));
    feed_close(&feed);
    assert_true(agreed(good));
}

/* ---- Shards ---- */

static bool sum_up(uint32_t *counts, size_t n)
{
    struct error e;
    return wait_allreduce(&fixture.waiter, counts, n, MPI_UINT32_T, MPI_SUM, MPI_COMM_WORLD, "sum",
                          &e) == OK;
}

/* Counts the uses of each sample in an epoch; returns false if a step has a wrong batch. */
static bool count_uses(struct sampler *s, uint32_t epoch, uint32_t uses[IMAGES])
{
    memset(uses, 0, IMAGES * sizeof *uses);
    bool good = s->steps == (IMAGES + BATCH - 1) / BATCH;
    for (uint32_t step = 0; step < s->steps; step++) {
        struct batch batch = sampler_get(s, epoch, step);
        uint32_t sum = 0, ranks = (uint32_t)s->ranks;
        for (uint32_t i = 0; i < batch.n; i++) {
            bool counts = batch.weights == NULL || batch.weights[i] > 0;
            uses[batch.samples[i]] += counts;
            sum += counts;
            good = good && batch.samples[i] >= s->first && batch.samples[i] < s->first + s->n_own;
        }
        uint32_t images = step + 1 < s->steps ? BATCH : IMAGES % BATCH;
        good = good && batch.n <= s->n_max && sum >= images / ranks && sum <= images / ranks + 1;
        good = sum_up(&sum, 1) && good;
        good = good && sum == batch.global;
    }
    return sum_up(uses, IMAGES) && good;
}

static bool shard_is_where_it_should_be(const struct sampler *s)
{
    uint32_t rank = (uint32_t)s->rank, ranks = (uint32_t)s->ranks;
    uint32_t begin = IMAGES * rank / ranks, end = IMAGES * (rank + 1) / ranks;
    return s->first == begin && s->n_own == end - begin;
}

static void expect_each_sample_once(const char *remainder)
{
    struct sampler s;
    uint32_t uses[IMAGES];
    option(OPT_DATA_SHARD, "contiguous");
    option(OPT_REMAINDER, remainder);
    assert_true(agreed(sampler_start(&s, IMAGES)));
    bool good = count_uses(&s, 2, uses) && shard_is_where_it_should_be(&s);
    for (int i = 0; i < IMAGES; i++)
        good = good && uses[i] == 1;
    sampler_close(&s);
    assert_true(agreed(good));
}

static void an_epoch_of_shards_uses_every_sample_once(void **state)
{
    expect_each_sample_once("uneven");
    expect_each_sample_once("pad");
}

/* Only the remainder of each batch is dropped. */
static void dropping_takes_as_many_from_each_shard(void **state)
{
    struct sampler s;
    option(OPT_DATA_SHARD, "contiguous");
    option(OPT_REMAINDER, "drop");
    assert_true(agreed(sampler_start(&s, IMAGES)));
    uint32_t ranks = (uint32_t)mpi_world_ranks();
    uint32_t trained = 0;
    bool good = true;
    for (uint32_t step = 0; step < s.steps; step++) {
        struct batch batch = sampler_get(&s, 0, step);
        uint32_t images = step < IMAGES / BATCH ? BATCH : IMAGES % BATCH;
        good = good && batch.n == images / ranks && batch.global == images - images % ranks;
        trained += batch.global;
    }
    good = good && s.epoch_images == trained;
    good = good && s.steps == IMAGES / BATCH + (IMAGES % BATCH >= ranks);
    sampler_close(&s);
    assert_true(agreed(good));
}

/* The order depends on (seed, epoch, step), not on earlier calls. */
static void any_step_can_be_the_first(void **state)
{
    struct sampler walked, jumped;
    option(OPT_DATA_SHARD, "contiguous");
    assert_true(agreed(sampler_start(&walked, IMAGES)));
    assert_true(agreed(sampler_start(&jumped, IMAGES)));
    struct batch a = {0}, first = sampler_get(&walked, 0, 0);
    uint32_t sample = first.samples[0];
    for (uint32_t epoch = 0; epoch < EPOCHS; epoch++)
        for (uint32_t step = 0; step < 3; step++)
            a = sampler_get(&walked, epoch, step);
    struct batch b = sampler_get(&jumped, EPOCHS - 1, 2);
    bool good = a.n == b.n && memcmp(a.samples, b.samples, a.n * sizeof *a.samples) == 0;
    good = good && sampler_get(&jumped, 0, 0).samples[0] == sample;
    sampler_close(&walked);
    sampler_close(&jumped);
    assert_true(agreed(good));
}

static void fewer_samples_than_ranks_are_no_shards(void **state)
{
    struct sampler s = {.n_samples = 2, .global_batch = 2, .shard = SHARD_contiguous, .ranks = 3};
    struct error e;
    assert_int_equal(sampler_open(&s, &e), ERR_ARGUMENT);
    assert_string_equal(e.text, "data.shard = contiguous: 2 samples are too few for 3 ranks");
}

/* ---- Rejected options ---- */

/* Writes the error of feed_open on every rank; "" if it succeeds. */
static void refusal(char *text, size_t size)
{
    struct feed feed;
    struct error e = {0};
    if (feed_open(&feed, &fixture.config, &fixture.waiter, MPI_COMM_WORLD, &e) == OK)
        e.text[0] = '\0';
    feed_close(&feed);
    snprintf(text, size, "%s", e.text);
}

/* Without a writable cache the contents are in memory, which MPI-IO cannot open. */
static void data_in_memory_only_are_refused(void **state)
{
    char text[1024];
    int silent = dup(STDERR_FILENO);
    setenv("SCALEBENCH_CACHE", "/proc/none", 1);
    option(OPT_DATA_READ, "mpiio");
    assert_non_null(freopen("/dev/null", "w", stderr));
    refusal(text, sizeof text);
    fflush(stderr);
    dup2(silent, STDERR_FILENO);
    close(silent);
    assert_true(
        agreed(strcmp(text, "data.read = mpiio reads files, but data set 'tiny' is only in the "
                            "memory of each process. Set "
                            "$SCALEBENCH_CACHE to a writable folder") == 0));
}

/* Rank 0 finds no data: all ranks get its error, even ranks that found theirs. */
static void an_error_of_one_rank_is_told_to_all(void **state)
{
    char text[1024];
    if (mpi_world_rank() == 0)
        option(OPT_DATA_PATH, "/proc/none");
    option(OPT_DATA_READ, "scatter");
    refusal(text, sizeof text);
    assert_true(agreed(strcmp(text, "cannot be opened: No such file or directory; expected a "
                                    "folder with the files of idx") == 0));
}

static void ranks_with_different_data_are_refused(void **state)
{
    char text[1024], own[PATH_BYTES + 16];
    snprintf(own, sizeof own, "%s/other", fixture.root);
    if (mpi_world_rank() == 1) {
        write_set(own, IMAGES - 1, false);
        option(OPT_DATA_PATH, own);
    }
    refusal(text, sizeof text);
    const char *expected =
        mpi_world_ranks() == 1
            ? ""
            : "rank 1 found other data (tiny, 102 + 5 images of 1x6x6) than rank 0 (tiny, 103 + "
              "5 images of 1x6x6). Set data.path to a folder that all nodes have";
    assert_true(agreed(strcmp(text, expected) == 0));
}

#define TEST(function)   cmocka_unit_test_setup_teardown(function, setup, teardown)
#define PACKED(function) cmocka_unit_test_setup_teardown(function, setup_packed, teardown)

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    const struct CMUnitTest tests[] = {
        TEST(global_order_is_the_same_in_every_mode),
        TEST(unshuffled_samples_are_fetched_once),
        TEST(shards_are_the_same_in_every_mode),
        TEST(padding_is_there_in_every_mode),
        TEST(padded_shards_are_there_in_every_mode),
        PACKED(compressed_files_are_read_from_the_cache),
        PACKED(data_in_memory_only_are_refused),
        TEST(an_error_of_one_rank_is_told_to_all),
        TEST(ranks_with_different_data_are_refused),
        TEST(a_rank_without_samples_may_read_one),
        TEST(an_epoch_of_shards_uses_every_sample_once),
        TEST(dropping_takes_as_many_from_each_shard),
        TEST(any_step_can_be_the_first),
        TEST(fewer_samples_than_ranks_are_no_shards),
    };
    int failed = open_fixture() ? mpi_run_tests(tests) : 1;
    close_fixture();
    MPI_Finalize();
    return failed;
}
