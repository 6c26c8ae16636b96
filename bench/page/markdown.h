/* The little of Markdown that the story of the claims is written in, as parts of a page. Internal to
 * bench/page. */
#pragma once

#include <stdio.h>

/* Headings (##), paragraphs, tables, links, **strong** and `code`, between blank lines. A link that leads to a place of
 * the page ("#row") stays one, of others stays the text. The text is cut up. */
void markdown_write_html(FILE *out, char *text);
