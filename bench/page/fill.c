#include "bench/page/fill.h"

#include <stdbool.h>
#include <string.h>

#include "kernels/base/text.h"

/* Writes JSON with '<' and '&' escaped, so that no text in it can end the surrounding script or
 * markup. */
static int write_json(const char *json, size_t size, void *out)
{
    for (size_t i = 0; i < size; i++)
        if (json[i] == '<' || json[i] == '&')
            fprintf(out, "\\u%04x", json[i]);
        else
            fputc(json[i], out);
    return 0;
}

static void write_value(FILE *out, char mark, const json_t *value)
{
    const char *text = json_string_value(value);
    if (mark == '=' && value != NULL)
        json_dump_callback(value, write_json, out, JSON_COMPACT | JSON_ENCODE_ANY);
    else if (mark == '&' && text != NULL)
        fputs(text, out);
    else if (text != NULL)
        text_write_markup(out, text);
}

static void fill(FILE *out, const char *from, const char *end, const json_t *data);

static void fill_each(FILE *out, const char *from, const char *end, const json_t *value)
{
    size_t i;
    json_t *item;
    const char *text = json_string_value(value);
    if (json_is_object(value) || (text != NULL && *text))
        fill(out, from, end, value);
    json_array_foreach((json_t *)value, i, item) fill(out, from, end, item);
}

/* Writes the replacement of the placeholder at the start of `from`. Returns the text after the
 * placeholder. */
static const char *fill_place(FILE *out, const char *from, const char *end, const json_t *data)
{
    char name[32] = "", close[40];
    int length = 0;
    bool marked = from[2] != '\0' && strchr("#&=", from[2]) != NULL;
    sscanf(from + 2 + marked, "%31[a-z_.]}}%n", name, &length);
    const char *inside = from + 2 + marked + length;
    const json_t *value = strcmp(name, ".") == 0 ? data : json_object_get(data, name);
    if (from[2] != '#') {
        write_value(out, from[2], value);
        return inside;
    }
    snprintf(close, sizeof close, "{{/%s}}", name);
    const char *stop = strstr(inside, close);
    fill_each(out, inside, stop != NULL ? stop : end, value);
    return stop != NULL ? stop + strlen(close) : end;
}

static void fill(FILE *out, const char *from, const char *end, const json_t *data)
{
    while (from < end) {
        const char *place = strstr(from, "{{");
        if (place == NULL || place > end)
            place = end;
        fwrite(from, 1, (size_t)(place - from), out);
        from = place < end ? fill_place(out, place, end, data) : end;
    }
}

void fill_template(FILE *out, const char *text, const json_t *data)
{
    fill(out, text, text + strlen(text), data);
}
