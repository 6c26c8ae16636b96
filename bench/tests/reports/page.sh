#!/usr/bin/env bash
# Tests the page of committed runs and of a small campaign with published values and texts that look like markup: as the
# file (page_structure.py), with its script, and in a browser (page_browser.py).
# tier: rest
# cores: 1
# seconds: 120
set -u
. bench/tests/lib/tap.sh
here=bench/tests/reports
page=$tmp/page.html made=$tmp/made.html
mkdir "$tmp/scratch" "$tmp/browser"
export TMPDIR=$tmp/scratch

cat >"$tmp/published.csv" <<'END'
p,ms
1,0.001
2,100000
END
cat >"$tmp/small.yaml" <<'END'
name: small
title: 'what <b>small</b> shows'
scaling: strong
model: softmax_784
data: {set: digits, samples: 2000}
train: {optimizer: adam, lr: 1e-3, global_batch: 1000}
cases:
  - {label: '</td><script>alert("a&b")</script>', matrix: {ranks: [1, 2]}}
  - {label: plain, sync.strategy: ring, matrix: {ranks: [2]}}
baseline: {ranks: 1}
measure.time: {warmup_steps: 1, steps: 4, launches: 2..2}
published: {file: published.csv, keys: [ranks = p], values: [step_ms_median = ms]}
differs: ['<img src=x onerror=alert(1)>']
figures: [time, {kind: bars, name: rate, y: images_per_s, title: 'a < b & "c"'}]
END
small=$tmp/results/small/latest
runs_small() {
    expect 0 figures "$scalebench" run "$tmp/small.yaml" --out "$tmp/results"
}

references=(results/reference/comm)
for spec in results/reference/*/spec.yaml; do
    references+=("${spec%/spec.yaml}")
done

state() {
    find results/reference "$small/" -type f -printf '%p %s %T@\n' | sort
}

writes() {
    local before
    before=$(state)
    expect 0 "runs" "$scalebench" report small "${references[@]}" --out "$tmp/results" --output "$page" || return 1
    [ "$before" = "$(state)" ] || { echo "it wrote to a run"; return 1; }
    [ -z "$(ls -A "$TMPDIR")" ] || { echo "left in $TMPDIR: $(ls "$TMPDIR")"; return 1; }
}

# Limits the page to 44 kB per figure with its tables, which a browser loads in seconds.
is_small() {
    local figures bytes
    figures=$(grep -c '<article class="figure"' "$page") bytes=$(stat -c %s "$page")
    [ "$bytes" -le $((44000 * figures)) ] || { echo "$bytes bytes for $figures figures"; return 1; }
}

# A page of a few runs behaves the same and loads in a tenth of the time.
few=$tmp/few.html
writes_few() {
    expect 0 "4 runs" "$scalebench" report small results/reference/{comm,kota_fig8,naik_yadav_fig4} --out "$tmp/results" \
        --output "$few"
}

# Figures, captions and rows must be there without scripts.
is_whole_as_file() {
    python3 "$here/page_structure.py" "$page" || return 1
    python3 - "$page" "$small/series_time.csv" <<'END'
import csv, html, io, re, sys
page, series = open(sys.argv[1], encoding="utf-8").read(), open(sys.argv[2], encoding="utf-8").read()
figure = re.search(r'<article class="figure" id="small-time">.*?</article>', page, re.S).group(0)
shown = html.unescape(re.search(r"<pre [^>]*data-name[^>]*>(.*?)</pre>", figure, re.S).group(1))
# The page leaves out columns that are empty in every row.
rows = list(csv.DictReader(io.StringIO(series)))
filled = [name for name in rows[0] if any(row[name] for row in rows)]
assert "<svg" in figure and list(csv.DictReader(io.StringIO(shown))) == [{name: row[name] for name in filled} for row in rows]
END
}

in_browser() { # page, checks
    rm -rf "$tmp/browser"
    mkdir "$tmp/browser"
    TMPDIR=$tmp/browser python3 "$here/page_browser.py" "$chromium" "$1" "$tmp/browser" "${@:2}"
}

# Prints the page after its script has run, as text.
makes() { # page, file
    in_browser "$1" text && mv "$tmp/browser/page.html" "$2"
}

is_whole() {
    local arguments=("small=$small") run
    makes "$page" "$made" || return 1
    for run in "${references[@]}"; do
        [ "${run##*/}" = comm ] || arguments+=("${run##*/}=$run")
    done
    python3 "$here/page_structure.py" "$made" "${arguments[@]}"
}

# Texts that look like markup stay text: in rows, captions, sentences, specs and titles.
is_text() {
    local text
    for text in '&lt;/td&gt;&lt;script&gt;alert(&quot;a&amp;b&quot;)&lt;/script&gt;' \
        '&lt;img src=x onerror=alert(1)&gt;' 'a &lt; b &amp; &quot;c&quot;' \
        '>small</a> <small>what &lt;b&gt;small&lt;/b&gt; shows</small>'; do
        grep -qF -- "$text" "$page" || { echo "the page lacks $text"; return 1; }
    done
    ! grep -F '<script>alert' "$page" && ! grep -F '<img' "$page"
}

# Checks that verdicts are those of `scalebench compare`, and that rows have every number of the series file.
has_the_numbers() {
    "$scalebench" compare published "$small" --format csv >"$tmp/compare.csv" 2>/dev/null
    python3 - "$made" "$tmp/compare.csv" "$small/series_time.csv" <<'END'
import csv, html, math, re, sys
page = open(sys.argv[1], encoding="utf-8").read()
def row(name):
    text = re.search(rf'<tr id="{name}">(.*?)</tr>', page, re.S).group(1)
    return [html.unescape(re.sub(r"<[^>]*>", "", c)) for c in re.findall(r"<t[dh].*?</t[dh]>", text)], text
shared = html.unescape(re.search(r'id="small-time".*?All rows: (.*?)</p>', page, re.S).group(1))
wrong, told = [], 0
for i, r in enumerate(csv.DictReader(open(sys.argv[2], newline="")), 1):
    if not r["ratio"]:
        continue
    told += 1
    ratio = [float(r[name]) for name in ("ratio", "ratio_lo", "ratio_hi")]
    cells, _ = row(f"small-time-step_ms-{i}")
    shown = [float(n) for n in re.findall(r"[0-9.e+-]+", cells[3])]
    close = len(shown) == 3 and all(math.isclose(a, b, rel_tol=0.006) for a, b in zip(shown, ratio))
    if cells[0] != r["label"] or not close or cells[4] != r["verdict"]:
        wrong.append(f"{cells} is not {r['label']} {ratio} {r['verdict']}")
for i, r in enumerate(csv.DictReader(open(sys.argv[3], newline="")), 1):
    cells, text = row(f"small-time-{i}")
    for value in r.values():
        if value and value not in cells and f'title="{value}"' not in text and value not in shared:
            wrong.append(f"row {i} lacks {value}")
if told < 2:
    wrong.append(f"{told} points have published numbers")
print("\n".join(wrong))
sys.exit(bool(wrong))
END
}

# Checks the least and the greatest value of a figure with the file that a reader saves.
says_extremes() {
    python3 - "$made" <<'END'
import csv, html, math, re, sys, urllib.parse
page, wrong, seen = open(sys.argv[1], encoding="utf-8").read(), [], 0
for name, figure in re.findall(r'<article class="figure" id="([^"]*)">(.*?)</article>', page, re.S):
    saved = re.search(r'href="data:text/csv;charset=utf-8,([^"]*)"', figure)
    lines = urllib.parse.unquote(saved.group(1)).splitlines() if saved else []
    rows = [row for row in csv.DictReader(lines) if row.get("value") and row.get("lo") and row.get("hi")]
    told = re.search(r"</strong> from ([0-9.]+) \[([0-9.]+), ([0-9.]+)\] .*? to ([0-9.]+) \[([0-9.]+), ([0-9.]+)\] .*?; (.*?)\.</p>",
                     html.unescape(figure))
    if len(rows) < 2 or told is None:
        continue
    seen += 1
    least, most = (choose(rows, key=lambda row: float(row["value"])) for choose in (min, max))
    wanted = [float(row[key]) for row in (least, most) for key in ("value", "lo", "hi")]
    meet = "do not overlap" if wanted[2] < wanted[4] else "intervals overlap, so"
    if not all(math.isclose(a, b, rel_tol=0.01) for a, b in zip(map(float, told.groups()[:6]), wanted)) or meet not in told.group(7):
        wrong.append(f"{name}: {told.group(0)} is not {wanted}, {meet}")
if seen < 20:
    wrong.append(f"{seen} figures say it")
print("\n".join(wrong))
sys.exit(bool(wrong))
END
}

# Runs of one name get their own ids; make passes folders and file.
shows_twice() {
    cp -rL "$small" "$tmp/small" || return 1
    SCALEBENCH_HOME=. "$scalebench" report "$small" "$tmp/small" --out "$tmp/results" --output "$tmp/twice.html" &&
        makes "$tmp/twice.html" "$tmp/twice_made.html" &&
        python3 "$here/page_structure.py" "$tmp/twice_made.html" "small=$small" "small-2=$tmp/small"
}

# Checks the committed sweep: figures, all rows of both tables, findings, machine.
holds_the_sweep() {
    python3 - "$made" results/reference/comm <<'END'
import csv, html, re, sys
page, folder = open(sys.argv[1], encoding="utf-8").read(), sys.argv[2]
section = re.search(r'<section class="run" id="comm".*?</section>', page, re.S).group(0)
wrong = [figure for figure in ("latency", "busbw")
         if not re.search(rf'<article class="figure" id="comm-{figure}">.*?<svg.*?</article>', section, re.S)]
for name, part in ("comm", "table"), ("link", "link"):
    rows = list(csv.DictReader(open(f"{folder}/{name}.csv", newline="", encoding="utf-8")))
    told = len(re.findall(rf'<tr id="comm-{part}-[0-9]+">', section))
    if told != len(rows):
        wrong.append(f"{name}.csv: {told} rows of {len(rows)}")
manifest = open(f"{folder}/manifest.json", encoding="utf-8").read()
for text in re.findall(r'"(?:cpu|started|revision)": "(.*?)"', manifest) + ["make bench-comm", "Times as fast"]:
    if text not in html.unescape(section):
        wrong.append(f"it lacks {text}")
if '<a href="#comm-latency">' not in page.split("<main")[0]:
    wrong.append("the contents lack it")
print("\n".join(wrong))
sys.exit(bool(wrong))
END
}

# A sweep alone, called by its name.
shows_a_sweep_alone() {
    expect 0 "2 figures of 1 run" "$scalebench" report comm --out "$tmp/results" --output "$tmp/sweep.html"
}

refuses() {
    local before
    before=$(sha256sum "$page")
    mkdir -p "$tmp/no_spec" && echo '{}' >"$tmp/no_spec/manifest.json" || return 1
    expect 2 "no run with tables found in none or results/reference" env -C "$tmp/no_spec" SCALEBENCH_HOME="$tmp/no_spec" \
        "$(realpath "$scalebench")" report --out none &&
        expect 2 "'nothing' is not a run" "$scalebench" report nothing --output "$page" &&
        expect 2 "spec.yaml not found" "$scalebench" report "$tmp/no_spec" --output "$page" &&
        expect 2 "$tmp/no/such/page.html" "$scalebench" report "$small" --output "$tmp/no/such/page.html" &&
        expect 3 "gnuplot" env PATH=/nowhere "$scalebench" report "$small" --output "$page" &&
        [ "$before" = "$(sha256sum "$page")" ] && [ -z "$(ls -A "$TMPDIR")" ]
}

# Checks that a view has the name of its folder and its title, that the contents list the columns of its own figures beside
# published numbers, and that no calibration appears.
calls_views() {
    python3 - "$made" results/reference <<'END'
import html, pathlib, re, sys
page = html.unescape(pathlib.Path(sys.argv[1]).read_text(encoding="utf-8"))
wrong = []
for spec in pathlib.Path(sys.argv[2]).glob("*/spec.yaml"):
    text, name = spec.read_text(encoding="utf-8"), spec.parent.name
    title = re.search(r'^title: "(.*)"$', text, re.M).group(1)
    told = len(re.findall(rf'<a href="#{name}">{name}</a> <small>{re.escape(title)}</small>', page))
    if told != 2:
        wrong.append(f"{name} is called so in {told} places of 2: {title}")
def told_in_contents(name):
    return re.search(rf'<th scope="row"><a href="#{name}">.*?</tr>', page, re.S).group(0)
for name, columns in ("kota_fig8", ["step_ms"]), ("kota_fig12", ["test_loss", "test_acc_pct"]), ("kota_fig2", []):
    row = told_in_contents(name)
    wrong += [f"the contents tell {c} of {name}" for c in ("step_ms", "speedup", "test_loss", "test_acc_pct")
              if (f"{c}: " in row) != (c in columns)]
for name, caches in ("kota_parts", "48K 32K 1024K 32768K"), ("efficiency", "32K 32K 512K 32768K"):
    if f"AMD EPYC<small>caches {caches}</small>" not in told_in_contents(name):
        wrong.append(f"the contents do not tell by caches on which of two processors {name} was measured")
part = page[page.index('id="kota_fig8-iteration"'):]
verdicts = re.findall(r'<tr id="kota_fig8-iteration-step_ms-.*?</tr>', part, re.S)
if len(verdicts) < 10 or any("calibration" in v for v in verdicts) or sum(">faster<" in v for v in verdicts) < 7:
    wrong.append(f"kota_fig8: {verdicts}")
ledger = page[page.index('<section class="run" id="claims"'):]
ledger = ledger[:ledger.index("</section>")]
replayed = re.search(r'on four emulated nodes by replayed computing\..*?gather (<a href="[^"]*")', ledger, re.S).group(1)
if replayed != '<a href="#kota_parts-summary-5"' or re.search(r"(?<![\w.#-])[a-z_]+ [0-9.]+ ?\[", re.sub(r"<a .*?</a>", "", ledger)):
    wrong.append(f"numbers of claims are no links to their rows: {replayed}")
print("\n".join(wrong))
sys.exit(bool(wrong))
END
}

# Compares the story with results/README.md word by word; each number must link to a row of the page.
tells_the_story() {
    python3 - "$made" results/README.md <<'END'
import html, pathlib, re, sys
page, readme = (pathlib.Path(path).read_text(encoding="utf-8") for path in sys.argv[1:])
told = page[page.index("<h3>Naik and Yadav"):page.index("<h3>All claims")]
story = readme.split("checks the links of what follows -->\n")[1].split("<!-- until here -->")[0]
kota_parts, claims = story.count("(reference/kota_parts/summary.csv#L"), story.count("(claims.csv#L")
story = re.sub(r"\[((?:[^\[\]]|\[[^\[\]]*\])*)\]\([^)]*\)", r"\1", story)
story = re.sub(r"^\|[-|]*$|[|]|^## ", " ", story.replace("*", ""), flags=re.M).split()
words = html.unescape(re.sub(r"<[^>]*>", " ", re.sub(r"</?(?:a|strong)\b[^>]*>", "", told))).split()
assert words == story, next((a, b) for a, b in zip(words + [""], story + [""]) if a != b)
assert not re.search(r"\d", re.sub(r"<a href=.*?</a>|</?h3>", "", told)), "a number is no link"
assert told.count('href="#kota_parts-summary-') == kota_parts > 0 and told.count('href="#claims-') >= claims > 80
END
}

check "a small campaign runs" runs_small
check "a page of one run and all references leaves the references unchanged" writes
check "a page of some of them" writes_few
check "the page is small" is_small
check "as a file its tags balance, ids are unique, links lead somewhere in it, rows are there to read" is_whole_as_file
check "texts of specs are no markup" is_text
check "a page can show a sweep alone" shows_a_sweep_alone
check "an operand that is not a run is refused, and a page that was there stays" refuses

chromium=$(command -v chromium || command -v chromium-browser)
if [ -z "$chromium" ]; then
    lacks "the page in a browser" chromium
else
    check "with its script, too, and every figure and row has its address" is_whole
    check "views have the names of their folders and their own titles" calls_views
    check "the page has the text of results/README.md, with links to its rows" tells_the_story
    check "verdicts of the page agree with compare, rows with the series" has_the_numbers
    check "the page states the least and the greatest value of a figure" says_extremes
    check "a page can show a run twice" shows_twice
    check "a sweep on the page has figures, tables and provenance" holds_the_sweep
    check "the whole page in a browser: figures, no error, no network" in_browser "$page" figures
    check "some runs in a browser: 390 px, contrast in light and dark, print" in_browser "$few" phone figures contrast print
    check "the keyboard searches and sorts, an address unfolds its row" in_browser "$few" keyboard address
    check "without script figures and rows are there" in_browser "$few" no_script
fi
finish
