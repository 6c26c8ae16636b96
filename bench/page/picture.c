#include "bench/page/picture.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "bench/page/data.h"
#include "bench/spec/pattern.h"

/* Replacements that shorten an SVG picture, in the order of use. IN_TAGS restricts a pattern to the
 * insides of tags. Each '>' ends a tag, since gnuplot writes '>' in texts as an entity. */
#define IN_TAGS ">[^<]*(*SKIP)(*F)|"
/* contents of a group, including nested groups */
#define INSIDE "(?<inside>(?:[^<]++|<(?!/?g[ >])[^>]*>|<g[^>]*>(?&inside)</g>)*+)"
static const struct {
    const char *pattern, *with;
} shorter[] = {
    /* removes <title> (a tooltip in browsers), <desc>, and <defs> (the page has one copy) */
    {"(?s)<(title|desc|defs)>.*?</\\1>", ""},
    {">\\s*[\\n\\t]\\s*<", "><"},
    {IN_TAGS "\\s+", " "},
    {IN_TAGS " id=(\"[^\"]*\"|'[^']*')", ""},
    {IN_TAGS " font-family=\"Helvetica\"| class=\"gridline\"|xlink:", ""},
    {IN_TAGS " (?=[='\">])|(?<==|=') ", ""},
    {IN_TAGS " stroke-linecap=\"butt\" stroke-linejoin=\"miter\"", ""},
    {IN_TAGS "fill=\"none\" color=\"black\" stroke=\"currentColor\"", "class=\"l\""},
    {IN_TAGS "rgb\\( *(\\d+), *(\\d+), *(\\d+)\\)", "rgb($1,$2,$3)"},
    {IN_TAGS "(?<=\\d\\d\\.\\d)\\d+", ""},
    {IN_TAGS "(?<=\\d)(?:\\.0+|(\\.\\d*[1-9])0+)(?!\\d)", "$1"},
    {"<text></text>", ""},
    {"<tspan>([^<]*)</tspan>", "$1"},
    {"<g( transform=[^>]*) stroke=\"none\"([^>]*)><text>([^<]*)</text></g>", "<text$1$2>$3</text>"},
    {IN_TAGS " (?:font-size=\"16\"|text-anchor=\"start\")", ""},
    /* replaces a disc by a line of length 0 with round ends, which looks the same */
    {"<use href='#gpPt6' transform='translate\\(([^)]*)\\) scale\\(([^)]*)\\)' color=('[^']*') "
     "opacity='([^']*)'/>",
     "<g class='d' color=$3 stroke-opacity='$4' style='--r:$2'><path d='M$1h0'/></g>"},
    {IN_TAGS "\\) scale", "),scale"},
    /* shortens paths: polygons become paths, horizontal and vertical lines become H and V, and
     * moves without a line are removed */
    {"<polygon( [^>]*) points='([^']*)'/>", "<path$1 d='M$2z'/>"},
    {IN_TAGS " (?=M)|L(?=[-\\d])", ""},
    {IN_TAGS "(,[\\d.]+) ([\\d.]+)\\1(?![\\d.])", "$1H$2"},
    {IN_TAGS "(?<![-\\d.])([\\d.]+)(,[\\d.]+) \\1,([\\d.]+)", "$1$2V$3"},
    {IN_TAGS "(H([\\d.]+)) \\2,([\\d.]+)", "$1V$3"},
    {IN_TAGS "(V([\\d.]+)) ([\\d.]+),\\2(?![\\d.])", "$1H$3"},
    {IN_TAGS "([HV][\\d.]+) (?=[-\\d])", "$1L"},
    {IN_TAGS "(?:M[\\d.,]+ *)+(?=[M'])", ""},
    /* removes empty groups: gnuplot opens groups in advance, and about 40 % of them stay empty */
    {"(<g[ >][^<]*(?1)*</g>)", ""},
    {"<g>" INSIDE "</g>", "$1"},
    {"(<g [^>]*>)" INSIDE "</g>\\1", "$1$2"},
    {IN_TAGS "=(['\"])([^'\" =]+)\\1(?=/)", "=$2 "},
    {IN_TAGS "=(['\"])([^'\" =]+)\\1", "=$2"},
};

static enum status shorten(char **text, struct error *e)
{
    for (size_t i = 0; i < sizeof shorter / sizeof *shorter; i++)
        for (size_t size = SIZE_MAX; strlen(*text) < size;) {
            size = strlen(*text);
            TRY(pattern_replace(text, shorter[i].pattern, shorter[i].with, e));
        }
    return OK;
}

/* Stores the <defs> of the first picture for the whole page, since all pictures have the same
 * <defs>. */
static void take_marks(json_t *page, const char *text)
{
    const char *begin = strstr(text, "<defs>"),
               *end = begin != NULL ? strstr(begin, "</defs>") : NULL;
    if (end != NULL && json_object_get(page, "marks") == NULL)
        json_object_set_new(page, "marks",
                            json_stringn(begin, (size_t)(end - begin) + strlen("</defs>")));
}

/* Largest width, in units of the SVG's viewBox, of a picture that is shown beside its table. A
 * wider picture would be too small to read there and gets the full width of the page. */
#define WIDE 600

static enum status take_picture(json_t *figure, const char *text, const char *path, struct error *e)
{
    float width, height;
    const char *box = strstr(text, "viewBox=\""), *end = box != NULL ? strchr(box, '>') : NULL;
    if (end == NULL || sscanf(box, "viewBox=\"0 0 %f %f", &width, &height) != 2)
        return error_at(e, ERR_DATA, path, 0, 0, "expected an SVG picture that gnuplot wrote");
    json_t *picture =
        json_pack("{s:o, s:o, s:o, s:s}", "svg", data_text(end + 1), "box",
                  json_sprintf("0 0 %g %g", width, height), "width",
                  json_sprintf("%g", 1.15 * width), "shape", width > WIDE ? "wide" : "narrow");
    int status = json_object_update(figure, picture);
    json_decref(picture);
    return status == 0 ? OK : error_no_memory(e, "a page");
}

enum status picture_read(json_t *figure, json_t *page, const char *path, struct error *e)
{
    char *text;
    enum status status = data_read(&text, path, e);
    if (status == OK)
        take_marks(page, text);
    THEN(status, shorten(&text, e));
    THEN(status, take_picture(figure, text, path, e));
    free(text);
    return status;
}
