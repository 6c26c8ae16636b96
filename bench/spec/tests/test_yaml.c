/* Anchors, aliases and merge keys of the YAML reader, against https://yaml.org/type/merge.html and,
 * if installed, PyYAML. */
#include "bench/spec/tests/corpus.h"

#include <unistd.h>

#include "bench/spec/yaml/yaml_reader.h"

static const char *const python = "/usr/bin/python3";

/* ---- Trees as JSON, with scalars as texts ---- */

static void print_text(FILE *out, const char *text)
{
    fputc('"', out);
    for (; *text; text++)
        fprintf(out, *text == '"' || *text == '\\' ? "\\%c" : "%c", *text);
    fputc('"', out);
}

static void print_node(FILE *out, const struct node *node)
{
    if (node->kind == NODE_SCALAR) {
        print_text(out, node->text);
        return;
    }
    fputc(node->kind == NODE_MAP ? '{' : '[', out);
    for (size_t i = 0; i < node->n; i++) {
        fputs(i > 0 ? ", " : "", out);
        if (node->kind == NODE_MAP) {
            print_text(out, node->items[i].key);
            fputs(": ", out);
        }
        print_node(out, &node->items[i]);
    }
    fputc(node->kind == NODE_MAP ? '}' : ']', out);
}

/* Reads a text and returns the tree as JSON; free with free(). */
static char *json_of(const char *text)
{
    struct node root;
    struct error e = {.status = OK};
    char *json;
    size_t size;
    FILE *out = open_memstream(&json, &size);
    if (yaml_read_text(&root, text, mark_in("f", 1, 1), &e) != OK)
        fail_msg("%s\n%d:%d: %s", text, e.line, e.column, e.text);
    print_node(out, &root);
    node_free(&root);
    fclose(out);
    return json;
}

static void assert_means(const char *text, const char *expected)
{
    char *json = json_of(text);
    assert_string_equal(json, expected);
    free(json);
}

static void assert_refused(const char *text, const char *expected)
{
    struct node root;
    struct error e = {.status = OK};
    char line[2048];
    assert_int_equal(yaml_read_text(&root, text, mark_in("f", 1, 1), &e), ERR_SPEC);
    node_free(&root);
    error_line(line, &e);
    assert_string_equal(line, expected);
}

/* ---- Anchors and aliases ---- */

static void aliases_repeat_values(void **state)
{
    assert_means("{a: &x 1, b: *x}", "{\"a\": \"1\", \"b\": \"1\"}");
    assert_means("a: &x [1, {c: d}]\nb: *x\nc: [*x, *x]\n",
                 "{\"a\": [\"1\", {\"c\": \"d\"}], \"b\": [\"1\", {\"c\": \"d\"}], "
                 "\"c\": [[\"1\", {\"c\": \"d\"}], [\"1\", {\"c\": \"d\"}]]}");
    assert_means("a: &x 1\nb: &x 2\nc: *x\n", "{\"a\": \"1\", \"b\": \"2\", \"c\": \"2\"}");
    assert_means("a: &x\nb: *x\n", "{\"a\": \"\", \"b\": \"\"}");
}

static void wrong_aliases_are_refused(void **state)
{
    assert_refused("{a: *x, b: &x 1}", "f:1:5: *x: no anchor &x is defined above in this file");
    assert_refused("{a: &base 1, b: *bsae}",
                   "f:1:17: *bsae: no anchor &bsae is defined above in this file; nearest 'base'");
    assert_refused("a: &x {b: [*x]}\n",
                   "f:1:12: the alias *x is inside its own anchor, which begins at f:1:4");
    assert_refused("a: 1\nb: &x\n  <<: *x\n",
                   "f:3:7: the alias *x is inside its own anchor, which begins at f:2:4");
    assert_refused("a: &x 1\n*x : 2\n", "f:2:1: a key must be one word, not an alias, list or map");
    assert_refused("&x a: 1\n",
                   "f:1:1: found an anchor before a key. Write the anchor after the colon: a: &x");
    assert_refused("a: &x !!str 1\n", "f:1:4: 'tag:yaml.org,2002:str' is a YAML tag. Remove the "
                                      "tag: the key determines the type");
}

/* Marks have the positions of the alias and of the anchored value. */
static void marks_have_both_places(void **state)
{
    struct node root;
    struct error e;
    const char *text = "a: &x\n  b: [1, \"22\"]\nc: *x\nd: &y [*x]\ne: *y\n";
    assert_int_equal(yaml_read_text(&root, text, mark_in("f", 1, 1), &e), OK);
    const struct node *list = node_find(node_find(&root, "c"), "b");
    assert_true(list->mark.line == 3 && list->mark.column == 4);
    assert_true(list->mark.anchor_line == 2 && list->mark.anchor_column == 6);
    assert_true(list->key_mark.anchor_line == 2 && list->key_mark.anchor_column == 3);
    /* alias inside an anchor: outer alias, and position of the value */
    const struct node *inner = node_find(&node_find(&root, "e")->items[0], "b");
    assert_true(inner->mark.line == 5 && inner->mark.anchor_line == 2);
    assert_true(node_find(&root, "a")->mark.anchor_line == 0);
    struct mark mark = node_text_mark(&list->items[1]);
    assert_true(mark.line == 3 && mark.column == 4 && mark.anchor_column == 11);
    mark_error(&e, ERR_SPEC, mark, "%s", "wrong");
    assert_int_equal(e.line, 3);
    assert_string_equal(e.text, "wrong (from the anchor at f:2:11)");
    node_free(&root);
}

/* A long message still ends with the position. */
static void a_long_message_keeps_its_place(void **state)
{
    struct error e;
    char text[3000];
    memset(text, 'x', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    struct mark mark = mark_in("f", 3, 4);
    mark.anchor_line = mark.anchor_column = 2;
    mark_error(&e, ERR_SPEC, mark, "%s", text);
    assert_non_null(strstr(e.text, "xx (from the anchor at f:2:2)"));
}

/* ---- Merge keys ---- */

/* Example of the definition: four spellings of one map. */
static void the_example_of_the_definition(void **state)
{
    const char *text = "- &CENTER { x: 1, y: 2 }\n- &LEFT { x: 0, y: 2 }\n- &BIG { r: 10 }\n"
                       "- &SMALL { r: 1 }\n"
                       "-\n  x: 1\n  y: 2\n  r: 10\n  label: center/big\n"
                       "-\n  << : *CENTER\n  r: 10\n  label: center/big\n"
                       "-\n  << : [ *CENTER, *BIG ]\n  label: center/big\n"
                       "-\n  << : [ *BIG, *LEFT, *SMALL ]\n  x: 1\n  label: center/big\n";
    struct node root;
    struct error e;
    static const char *const keys[] = {"x", "y", "r", "label"}, *const values[] = {"1", "2", "10",
                                                                                   "center/big"};
    assert_int_equal(yaml_read_text(&root, text, mark_in("f", 1, 1), &e), OK);
    for (size_t i = 4; i < 8; i++) {
        assert_int_equal(root.items[i].n, 4);
        for (size_t k = 0; k < 4; k++)
            assert_string_equal(node_find(&root.items[i], keys[k])->text, values[k]);
    }
    node_free(&root);
}

/* Merged entries take the position of the merge key. In a matrix, the order matters. */
static void keys_of_the_map_win(void **state)
{
    assert_means("[&a {x: 1, y: 2}, {z: 0, <<: *a, y: 3, w: 4}]",
                 "[{\"x\": \"1\", \"y\": \"2\"}, "
                 "{\"z\": \"0\", \"x\": \"1\", \"y\": \"3\", \"w\": \"4\"}]");
    assert_means("[&a {x: 1, y: 2}, {y: 3, <<: *a}]",
                 "[{\"x\": \"1\", \"y\": \"2\"}, {\"y\": \"3\", \"x\": \"1\"}]");
    assert_means("[&a {x: {p: 1, q: 2}}, {<<: *a, x: {p: 3}}]", /* maps inside are not merged */
                 "[{\"x\": {\"p\": \"1\", \"q\": \"2\"}}, {\"x\": {\"p\": \"3\"}}]");
}

static void earlier_maps_of_a_list_win(void **state)
{
    assert_means("{<<: [{x: 1}, {x: 2, y: 2}, {y: 3, z: 3}]}",
                 "{\"x\": \"1\", \"y\": \"2\", \"z\": \"3\"}");
    assert_means("{<<: []}", "{}");
    assert_means("{<<: {}}", "{}");
    /* merged keys are merged again */
    assert_means("[&a {x: 1}, &b {<<: *a, y: 2}, {<<: [*b, {x: 5, z: 5}]}]",
                 "[{\"x\": \"1\"}, {\"x\": \"1\", \"y\": \"2\"}, "
                 "{\"x\": \"1\", \"y\": \"2\", \"z\": \"5\"}]");
    assert_means("{'<<': {x: 1}}", "{\"<<\": {\"x\": \"1\"}}"); /* a quoted key is a text */
}

static void wrong_merges_are_refused(void **state)
{
#define RULE "<<: expected a map or a list of maps, such as <<: *base or <<: [*one, *other]"
    assert_refused("{<<: 1}", "f:1:6: " RULE);
    assert_refused("{<<: }", "f:1:6: " RULE);
    assert_refused("{<<: [{x: 1}, 1]}", "f:1:15: " RULE);
    assert_refused("{<<: [[{x: 1}]]}", "f:1:7: " RULE);
    assert_refused("{a: &x 1, b: {<<: *x}}", "f:1:19: " RULE " (from the anchor at f:1:5)");
    assert_refused("{<<: {x: 1}, <<: {y: 2}}", "f:1:14: '<<' is given twice: here and at f:1:2");
    assert_refused("{x: 1, <<: {y: 2}, x: 3}", "f:1:20: 'x' is given twice: here and at f:1:2");
}

/* ---- Bounds ---- */

/* Nine levels of ten aliases make 10^9 values. */
static void a_billion_laughs_are_refused(void **state)
{
    char text[2048] = "a0: &a0 [lol, lol, lol, lol, lol, lol, lol, lol, lol, lol]\n";
    struct node root;
    struct error e;
    for (int i = 1; i < 10; i++) {
        char *to = text + strlen(text);
        to += sprintf(to, "a%d: &a%d [", i, i);
        for (int k = 0; k < 10; k++)
            to += sprintf(to, "%s*a%d", k > 0 ? ", " : "", i - 1);
        strcpy(to, "]\n");
    }
    assert_int_equal(yaml_read_text(&root, text, mark_in("f", 1, 1), &e), ERR_SPEC);
    node_free(&root);
    assert_int_equal(e.line, 4); /* 10^4 values */
    assert_non_null(strstr(e.text,
                           "anchors and aliases of this file expand to more than 10000 values "
                           "or 1 MiB. Use fewer aliases (from the anchor at f:"));
}

static void long_texts_are_bounded(void **state)
{
    char *text = malloc(700000);
    struct node root;
    struct error e;
    char *to = text + sprintf(text, "a: &a ");
    memset(to, 'x', 600000);
    strcpy(to + 600000, "\nb: [*a, *a]\n");
    assert_int_equal(yaml_read_text(&root, text, mark_in("f", 1, 1), &e), ERR_SPEC);
    node_free(&root);
    free(text);
    assert_true(e.line == 2 && strstr(e.text, "or 1 MiB") != NULL);
}

/* Copies have the same limits of depth and width as the file. */
static void copies_are_bounded_as_texts_are(void **state)
{
    struct node root;
    struct error e;
    char text[65536], *to = text;
    for (int i = 0; i < 20; i++)
        to +=
            i == 0 ? sprintf(to, "a0: &a0 [1]\n") : sprintf(to, "a%d: &a%d [*a%d]\n", i, i, i - 1);
    assert_int_equal(yaml_read_text(&root, text, mark_in("f", 1, 1), &e), ERR_SPEC);
    node_free(&root);
    assert_non_null(strstr(e.text, "nested more than 16 levels deep"));

    to = text + sprintf(text, "a: &a {");
    for (int i = 0; i < 600; i++)
        to += sprintf(to, "k%d: 1, ", i);
    to += sprintf(to, "}\nb:\n  <<: *a\n");
    for (int i = 0; i < 600; i++)
        to += sprintf(to, "  m%d: 1\n", i);
    assert_int_equal(yaml_read_text(&root, text, mark_in("f", 1, 1), &e), ERR_SPEC);
    node_free(&root);
    assert_true(e.line == 3 && strcmp(e.text, "a list or map has more than 1000 items") == 0);

    to = text;
    for (int i = 0; i < 1001; i++)
        to += sprintf(to, "%s&a 1", i == 0 ? "[[" : i % 500 == 0 ? "], [" : ", ");
    strcpy(to, "]]");
    assert_int_equal(yaml_read_text(&root, text, mark_in("f", 1, 1), &e), ERR_SPEC);
    node_free(&root);
    assert_string_equal(e.text, "this file has more than 1000 anchors. Use fewer");
}

/* ---- Comparison with PyYAML ---- */

static unsigned next_random(unsigned *seed, unsigned below)
{
    *seed = *seed * 1664525 + 1013904223;
    return (*seed >> 16) % below;
}

/* Writes a map with some of the keys a to f. The first `anchors` anchors may be merged or used as
 * values. */
static char *put_map(char *to, unsigned *seed, int anchors, const char *name)
{
    static const char keys[] = "abcdef";
    bool merged = anchors == 0;
    to += sprintf(to, "{");
    for (int i = 0; i < 6; i++) {
        if (!merged && next_random(seed, 3) == 0) {
            merged = true;
            int n = 1 + (int)next_random(seed, 3);
            to += sprintf(to, n > 1 ? "<<: [" : "<<: ");
            for (int k = 0; k < n; k++)
                to +=
                    sprintf(to, "%s*m%u", k > 0 ? ", " : "", next_random(seed, (unsigned)anchors));
            to += sprintf(to, n > 1 ? "], " : ", ");
        }
        if (next_random(seed, 2) == 0)
            continue;
        to += anchors > 0 && next_random(seed, 6) == 0
                  ? sprintf(to, "%c: *m%u, ", keys[i], next_random(seed, (unsigned)anchors))
                  : sprintf(to, "%c: %s%c, ", keys[i], name, keys[i]);
    }
    return to + sprintf(to, "}");
}

/* Compares random documents of maps that merge earlier maps. */
static void pyyaml_reads_the_same(void **state)
{
    enum { DOCUMENTS = 200, MAPS = 6 };
    char yaml[] = "/tmp/scalebench-yaml-XXXXXX", command[1024], text[8192];
    unsigned seed = 1;
    if (system("/usr/bin/python3 -c 'import yaml' 2>/dev/null") != 0)
        skip();
    int fd = mkstemp(yaml);
    assert_true(fd >= 0);
    FILE *out = fdopen(fd, "w");
    for (int d = 0; d < DOCUMENTS; d++) {
        char *to = text + sprintf(text, "[");
        for (int m = 0; m < MAPS; m++) {
            char name[16];
            sprintf(name, "v%d", m);
            to = put_map(to + sprintf(to, "%s&m%d ", m > 0 ? ", " : "", m), &seed, m, name);
        }
        strcpy(to, "]");
        char *json = json_of(text);
        fprintf(out, "%s\n%s\n", text, json);
        free(json);
    }
    fclose(out);
    snprintf(command, sizeof command,
             "%s -c 'import json, sys, yaml\nlines = open(sys.argv[1]).read().splitlines()\n"
             "assert len(lines) == 2 * %d\nfor text, ours in zip(lines[::2], lines[1::2]):\n"
             "    theirs = yaml.safe_load(text)\n"
             "    assert theirs == json.loads(ours), (text, theirs, ours)' %s",
             python, DOCUMENTS, yaml);
    int result = system(command);
    unlink(yaml);
    assert_int_equal(result, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(aliases_repeat_values),
        cmocka_unit_test(wrong_aliases_are_refused),
        cmocka_unit_test(marks_have_both_places),
        cmocka_unit_test(a_long_message_keeps_its_place),
        cmocka_unit_test(the_example_of_the_definition),
        cmocka_unit_test(keys_of_the_map_win),
        cmocka_unit_test(earlier_maps_of_a_list_win),
        cmocka_unit_test(wrong_merges_are_refused),
        cmocka_unit_test(a_billion_laughs_are_refused),
        cmocka_unit_test(long_texts_are_bounded),
        cmocka_unit_test(copies_are_bounded_as_texts_are),
        cmocka_unit_test(pyyaml_reads_the_same),
    };
    return cmocka_run_group_tests_name("yaml", tests, NULL, NULL);
}
