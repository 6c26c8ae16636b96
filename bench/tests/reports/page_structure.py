"""What a page of `scalebench report` must be: page_structure.py PAGE RUN=FOLDER ... Each RUN is the id of a
run in the page, FOLDER holds its pictures and series_<figure>.csv. Prints what is wrong."""
import collections
import csv
import pathlib
import re
import sys
from html.parser import HTMLParser

VOID = {"meta", "link", "input", "br", "hr", "img"}
CARRIERS = {"href", "src", "xlink:href", "data", "action", "poster", "srcset"}


class Page(HTMLParser):
    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.open, self.wrong, self.ids, self.refs, self.scripts = [], [], [], [], 0
        self.pictures, self.texts = {}, []
        self.article = None

    def begin(self, tag, attributes):
        attributes = dict(attributes)
        self.scripts += tag == "script" and attributes.get("type") != "application/json"
        if self.article in self.pictures and tag in ("path", "use"):
            self.pictures[self.article] += 1
        for name, value in attributes.items():
            value = value or ""
            if name == "id":
                self.ids.append(value)
            if name.startswith("on"):
                self.wrong.append(f"<{tag} {name}>: script in an attribute")
            if name in ("aria-labelledby", "aria-describedby", "for"):
                self.refs += value.split()
            if name in CARRIERS and not value.startswith(("#", "data:")):
                self.wrong.append(f"<{tag} {name}={value}>: leaves the page")
            if name in ("href", "xlink:href") and value.startswith("#"):
                self.refs.append(value[1:])
            self.refs += re.findall(r"url\(#([^)]*)\)", value)
        if tag == "article":
            self.article = attributes.get("id")
        if tag == "svg":
            self.pictures[self.article] = 0

    def handle_starttag(self, tag, attributes):
        self.begin(tag, attributes)
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        if "svg" not in self.open and tag not in VOID:
            self.wrong.append(f"<{tag}/> outside a picture")
        self.begin(tag, attributes)

    def handle_endtag(self, tag):
        if not self.open or self.open[-1] != tag:
            self.wrong.append(f"line {self.getpos()[0]}: </{tag}> ends {self.open[-3:]}")
        else:
            self.open.pop()

    def handle_data(self, data):
        self.texts.append(data)


def check_run(page, rows_of, run, folder):
    """rows_of: how many rows have an anchor NAME-1, NAME-2 ..., by NAME."""
    figures = sorted(path.stem for path in folder.glob("*.svg"))
    spec = folder / "spec.yaml"
    if not figures and not (spec.exists() and "\nfigures: []\n" in spec.read_text()):
        yield f"{folder} has no pictures"
    for figure in figures:
        name = f"{run}-{figure}"
        if page.pictures.get(name, 0) < 3:
            yield f"no picture in {name}"
        series = folder / f"series_{figure}.csv"
        if series.exists():
            with series.open(newline="") as file:
                rows = len(list(csv.DictReader(file)))
            if rows_of[name] != rows:
                yield f"{name}: {rows_of[name]} rows with an anchor, {rows} in the file"
    with (folder / "summary.csv").open(newline="") as file:
        rows = len(list(csv.DictReader(file)))
    if rows_of[f"{run}-summary"] != rows:
        yield f"{run}-summary: {rows_of[f'{run}-summary']} rows, {rows} in the file"
    if rows_of[f"{run}-rules"] != 12:
        yield f"{run} has no twelve grades"


def main():
    text = pathlib.Path(sys.argv[1]).read_text(encoding="utf-8")
    page = Page()
    page.feed(text)
    page.close()
    wrong = page.wrong + [f"<{tag}> is not closed" for tag in page.open]
    wrong += [f"id {i} twice" for i, n in sorted(collections.Counter(page.ids).items()) if n > 1]
    wrong += [f"#{ref} is nowhere" for ref in sorted(set(page.refs) - set(page.ids) - {""})]
    if page.scripts != 1:
        wrong.append(f"{page.scripts} scripts")
    if re.search(r"@import|url\((?!#)", text.split("</style>")[0]):
        wrong.append("the style loads something")
    rows_of = collections.Counter(re.sub(r"-[0-9]+$", "", i) for i in page.ids if re.search(r"-[0-9]+$", i))
    for argument in sys.argv[2:]:
        run, folder = argument.split("=", 1)
        wrong += check_run(page, rows_of, run, pathlib.Path(folder))
    print("\n".join(wrong))
    sys.exit(bool(wrong))


main()
