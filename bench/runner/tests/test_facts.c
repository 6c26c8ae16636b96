/* Tests facts of runs: which differ, how messages name them, and which runs of a folder repeat
 * one another. */
#include "bench/runner/facts.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bench/runner/runs.h"
#include "bench/spec/tests/spec_file.h"

static json_t *facts_of(const char *text)
{
    json_t *facts = json_loads(text, 0, NULL);
    assert_non_null(facts);
    return facts;
}

static void facts_that_one_does_not_know_do_not_differ(void **state)
{
    (void)state;
    json_t *was = facts_of("{\"machine\":\"m\",\"program:train_cnn\":\"1\"}");
    json_t *is = facts_of("{\"machine\":\"m\",\"program:peer_torch\":\"2\"}");
    assert_null(facts_differ(was, is, NULL));
    assert_null(facts_differ(is, was, NULL));
    json_decref(was);
    json_decref(is);
}

static void every_fact_that_differs_is_named(void **state)
{
    (void)state;
    json_t *was = facts_of("{\"machine\":\"m\",\"program:pin\":\"1\",\"program:train_cnn\":\"1\"}");
    json_t *is = facts_of("{\"program:pin\":\"2\",\"machine\":\"m\",\"program:train_cnn\":\"3\"}");
    const char *name = facts_differ(was, is, NULL);
    assert_string_equal(name, "program:pin");
    name = facts_differ(was, is, name);
    assert_string_equal(name, "program:train_cnn");
    assert_null(facts_differ(was, is, name));
    json_decref(was);
    json_decref(is);
}

static void facts_are_named_to_people(void **state)
{
    (void)state;
    char text[200];
    fact_explain(text, sizeof text, "program:train_cnn");
    assert_string_equal(text, "the program train_cnn");
    fact_explain(text, sizeof text, "machine");
    assert_string_equal(text, "the class of machine");
    fact_explain(text, sizeof text, "programme:x");
    assert_string_equal(text, "programme:x");
    fact_shorten(text, sizeof text,
                 "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef");
    assert_string_equal(text, "SHA-256 0123456789ab");
}

/* Returns the key of the first point of a spec. */
static void key_of(char key[FACTS_KEY_BYTES], const char *facts, const char *options)
{
    char text[1000];
    struct spec spec;
    struct error e;
    json_t *json = facts_of(facts);
    snprintf(text, sizeof text, BODY "%s", options);
    load(&spec, text, NULL);
    assert_int_equal(facts_key(key, json, &spec.points[0], &e), OK);
    spec_free(&spec);
    json_decref(json);
}

#define OWN "\"machine\":\"m\",\"program:pin\":\"1\",\"program:train_cnn\":\"2\""

static void only_facts_of_the_point_make_its_key(void **state)
{
    (void)state;
    char key[FACTS_KEY_BYTES], other[FACTS_KEY_BYTES];
    const char *same[] = {"{\"program:peer_torch\":\"3\"," OWN "}",
                          "{" OWN ",\"link:emulated\":\"1gbit\"}",
                          "{" OWN ",\"workload:data_hash of train_cnn data.set=cifar10\":\"4\"}"};
    const char *differ[] = {"{\"machine\":\"n\",\"program:pin\":\"1\",\"program:train_cnn\":\"2\"}",
                            "{\"machine\":\"m\",\"program:pin\":\"1\",\"program:train_cnn\":\"3\"}",
                            "{" OWN ",\"workload:data_hash of train_cnn\":\"4\"}"};
    key_of(key, "{" OWN "}", "");
    for (size_t i = 0; i < 3; i++) {
        key_of(other, same[i], "");
        assert_string_equal(other, key);
        key_of(other, differ[i], "");
        assert_string_not_equal(other, key);
    }
    key_of(other, "{" OWN "}", "train.lr: 0.5\n");
    assert_string_not_equal(other, key);
    key_of(other, "{" OWN "}", "measure: {time: {launches: 3..4}}\n");
    assert_string_equal(other, key);
}

/* A property that an option states belongs to the point; a property of the hosts is a fact. */
static void a_link_is_of_the_points_that_do_not_say_one(void **state)
{
    (void)state;
#define HOSTS "ranks: 2\nnodes: 2\nsite: "
    char without[FACTS_KEY_BYTES], with[FACTS_KEY_BYTES];
    const char *link = "{" OWN ",\"link:emulated\":\"1gbit\"}";
    key_of(without, "{" OWN "}", HOSTS "emulated\n");
    key_of(with, link, HOSTS "emulated\n");
    assert_string_not_equal(with, without);
    key_of(without, "{" OWN "}", HOSTS "{kind: emulated, rate: 1mbit}\n");
    key_of(with, link, HOSTS "{kind: emulated, rate: 1mbit}\n");
    assert_string_equal(with, without);
}

static bool goes_on(const char *was, const char *is, const char *options)
{
    char text[1000];
    struct spec spec;
    json_t *before = facts_of(was), *now = facts_of(is);
    snprintf(text, sizeof text, BODY "%s", options);
    load(&spec, text, NULL);
    bool result = facts_allow_resume(before, now, &spec);
    spec_free(&spec);
    json_decref(before);
    json_decref(now);
    return result;
}

#define BOTH  "matrix: {workload: [train_cnn, peer_torch]}\n"
#define TORCH "\"workload:foundations of peer_torch\":"

static void a_run_outlives_what_concerns_peers_alone(void **state)
{
    (void)state;
    assert_true(goes_on("{" TORCH "\"1\"," OWN "}", "{" TORCH "\"2\"," OWN "}", BOTH));
    assert_true(goes_on("{" OWN "}", "{" TORCH "\"2\"," OWN "}", BOTH));
    assert_false(
        goes_on("{" TORCH "\"1\"," OWN "}", "{" TORCH "\"2\"," OWN "}", "workload: peer_torch\n"));
    assert_false(goes_on("{\"program:train_cnn\":\"1\"}", "{\"program:train_cnn\":\"2\"}", BOTH));
    assert_false(goes_on("{\"machine\":\"1\"}", "{\"machine\":\"2\"}", BOTH));
}

static void write_run(const char *folder, const char *name, const char *facts)
{
    char path[300];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    assert_int_equal(mkdir(path, 0777), 0);
    strcat(path, "/manifest.json");
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fprintf(f, "{\"identity\":\"ab\",%s\"build\":{\"revision\":\"r\"}}", facts);
    fclose(f);
}

static void runs_know_which_they_repeat(void **state)
{
    (void)state;
    char folder[] = "/tmp/scalebench-runs-XXXXXX", command[100];
    struct runs runs;
    struct error e;
    assert_non_null(mkdtemp(folder));
    write_run(folder, "20260103T000000Z-33333333", "\"facts\":{\"machine\":\"m\"},");
    write_run(folder, "20260101T000000Z-11111111", "");
    write_run(folder, "20260102T000000Z-22222222", "\"facts\":{\"machine\":\"m\"},");
    write_run(folder, "20260104T000000Z-44444444", "\"facts\":{\"machine\":\"n\"},");
    write_run(folder, "notes", "");
    assert_int_equal(runs_read(&runs, folder, &e), OK);
    assert_int_equal(runs.n, 4);
    assert_string_equal(runs.all[0].name, "20260101T000000Z-11111111");
    assert_null(runs.all[0].facts);
    assert_int_equal(runs.all[0].repeats, 0);
    assert_int_equal(runs.all[1].repeats, 1);
    assert_int_equal(runs.all[2].repeats, 1);
    assert_int_equal(runs.all[3].repeats, 3);
    assert_string_equal(runs.all[3].revision, "r");
    runs_free(&runs);
    snprintf(command, sizeof command, "rm -r %s", folder);
    assert_int_equal(system(command), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(facts_that_one_does_not_know_do_not_differ),
        cmocka_unit_test(every_fact_that_differs_is_named),
        cmocka_unit_test(facts_are_named_to_people),
        cmocka_unit_test(only_facts_of_the_point_make_its_key),
        cmocka_unit_test(a_link_is_of_the_points_that_do_not_say_one),
        cmocka_unit_test(a_run_outlives_what_concerns_peers_alone),
        cmocka_unit_test(runs_know_which_they_repeat),
    };
    return cmocka_run_group_tests_name("facts", tests, make_file, remove_file);
}
