#include "bench/base/json.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/base/terminal.h"

json_t *json_text(const char *text)
{
    json_t *json = json_string(text);
    size_t size = 4 * strlen(text) + 1; /* one byte may become four characters, such as \xff */
    char *clean = json == NULL ? malloc(size) : NULL;
    if (clean != NULL)
        json = json_string(terminal_clean(clean, size, text));
    free(clean);
    return json;
}

json_t *json_text_or_null(const char *text)
{
    return text != NULL && *text ? json_text(text) : json_null();
}

void json_set_known(json_t *object, const char *name, double number)
{
    if (object != NULL && isfinite(number))
        json_object_set_new(object, name, json_real(number));
}

bool json_put(FILE *out, const json_t *value, size_t flags)
{
    return value != NULL && json_dumpf(value, out, flags) == 0 && fputc('\n', out) != EOF;
}

double json_known(const json_t *object, const char *name)
{
    const json_t *number = json_object_get(object, name);
    return json_is_number(number) ? json_number_value(number) : NAN;
}

const char *json_text_of(const json_t *object, const char *name)
{
    const char *text = json_string_value(json_object_get(object, name));
    return text != NULL ? text : "";
}

enum status json_read_lines(FILE *file, const char *path, json_take_line *take, void *arg,
                            int *lines, struct error *e)
{
    char *text = NULL;
    size_t room = 0;
    ssize_t length;
    json_error_t why = {.text = ""};
    enum status status = OK;
    bool torn = false;
    for (*lines = 0; status == OK && (length = getline(&text, &room, file)) >= 0; ++*lines) {
        if (torn) {
            status = error_at(e, ERR_DATA, path, *lines, 0, "not a JSON object: %s",
                              why.text[0] ? why.text : "found an array");
            break;
        }
        json_t *object = json_loadb(text, (size_t)length, JSON_REJECT_DUPLICATES, &why);
        torn = !json_is_object(object);
        if (!torn)
            status = take(arg, object, *lines + 1, e);
        json_decref(object);
    }
    free(text);
    if (status == OK && ferror(file))
        status = error_at(e, ERR_SYSTEM, path, 0, 0, "cannot be read: %s", strerror(errno));
    return status;
}
