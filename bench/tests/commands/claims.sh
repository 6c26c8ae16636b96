#!/usr/bin/env bash
# Tests that the committed claims follow from the committed tables, and that every verdict depends on cells.
# cores: 1
# seconds: 30
set -u
. bench/tests/lib/tap.sh

# A copy whose cells the tests change.
cp -r results/published results/reference results/claims.* results/README.md "$tmp"
claims=$tmp/claims.yaml

is_current() { # format, committed file
    "$scalebench" claims results/claims.yaml --format "$1" >"$tmp/written" && diff "$2" "$tmp/written"
}

# Checks for at least forty claims, of each kind and report, each with its place.
holds_what_a_ledger_should() {
    python3 - results/claims.csv <<'PY'
import csv, sys
rows = list(csv.DictReader(open(sys.argv[1], newline="", encoding="utf-8")))
assert len(rows) >= 40, len(rows)
kinds = {"time", "speed-up", "bytes", "utilisation", "memory", "accuracy", "cause"}
assert kinds <= {row["kind"] for row in rows}, {row["kind"] for row in rows}
reports = {row["id"].split("/")[0] for row in rows}
assert reports == {"naik_yadav", "kota", "wang_yang", "amundkar", "past"}, reports
for row in rows:
    assert row["place"] and row["says"], row["id"]
    assert row["verdict"] in ("survives", "fails", "undecided", "not testable"), row
    assert (row["verdict"] in ("not testable", "undecided")) == bool(row["reason"]), row
    assert bool(row["holds"]) or row["verdict"] == "not testable", row
    assert row["evidence"] in ("none", "published") or row["command"], row
PY
}

# Checks that the row of every number exists.
rows_are_there() {
    python3 - results/claims.csv results <<'PY'
import csv, sys
lines = {}
n = 0
for row in csv.DictReader(open(sys.argv[1], newline="", encoding="utf-8")):
    for link in (link for rows in row["rows"].split("; ") if rows for link in rows.split(": ")[1].split()):
        path, span = link.split("#")
        lines.setdefault(path, len(open(f"{sys.argv[2]}/{path}", encoding="utf-8").readlines()))
        for line in span.split("-"):
            assert 1 < int(line[1:]) <= lines[path], (row["id"], link)
            n += 1
assert n > 100, n
PY
}

# Checks that a claim about tuned rates uses the best rate of its batch: the most accurate, or the one with the fewest images.
tuned_rates_are_the_best() {
    python3 - results/claims.csv results <<'PY'
import csv, sys
better = {"test_acc_pct": lambda own, other: own >= other, "to_target_images": lambda own, other: own <= other}
n = 0
for row in csv.DictReader(open(sys.argv[1], newline="", encoding="utf-8")):
    if not row["id"].startswith("past/"):
        continue
    texts, links = (dict(value.split(": ", 1) for value in row[column].split("; ")) for column in ("values", "rows"))
    for name, link in links.items():
        if name in ("constant", "linear"): # rules, which are compared with the best rate
            continue
        path, line = link.split("#L")
        with open(f"{sys.argv[2]}/{path}", newline="", encoding="utf-8") as f:
            points = list(csv.DictReader(f))
        own, column = points[int(line) - 2], texts[name].split()[0]
        column = "to_target_images" if column == "noise_scale" else column
        for other in points:
            if other["global_batch"] == own["global_batch"] and other[column]:
                assert better[column](float(own[column]), float(other[column])), (row["id"], name, own["label"], other["label"])
                n += other is not own
assert n > 5, n
PY
}

has_message() { # text
    grep -qF -- "$1" "$tmp/expect.log" || { echo "message not found: $1"; return 1; }
}

# Changes a published cell: only the claims that use it change.
a_cell_flips_its_claims() {
    expect 0 "All " "$scalebench" claims "$claims" || return 1
    sed -i.kept 's/^4,81\.486,/4,281.486,/' "$tmp/published/naik_yadav_table1.csv"
    expect 1 "naik_yadav/four_cores_are_best: was survives, is fails" "$scalebench" claims "$claims" || return 1
    [ "$(grep -c ': was ' "$tmp/expect.log")" = 1 ] || return 1
    mv "$tmp/published/naik_yadav_table1.csv.kept" "$tmp/published/naik_yadav_table1.csv"
    expect 0 "All " "$scalebench" claims "$claims"
}

# For each decided claim, changes cells until the verdict changes: no claim may be true or false by itself.
cat >"$tmp/flip.py" <<'PY'
import csv, io, re, subprocess, sys
scalebench, claims, folder = sys.argv[1:]

head, *entries = re.split(r"^(?=  - id: )", open(claims, encoding="utf-8").read(), flags=re.M)
entry_of = {entry.split()[2]: entry for entry in entries}

def verdict_of(claim):
    """Judged alone, in a file beside the ledger's; None where its condition cannot be worked out."""
    path = f"{folder}/one.yaml"
    with open(path, "w", encoding="utf-8") as f:
        f.write(head + entry_of[claim])
    out = subprocess.run([scalebench, "claims", path, "--format", "csv"], capture_output=True, text=True)
    return next((row["verdict"] for row in csv.DictReader(io.StringIO(out.stdout))), None)

def read(path):
    with open(path, newline="", encoding="utf-8") as f:
        return f.read().split("\n")

def changed(lines, number, column, change):
    """The line with the cell of that column, and its interval, changed; without an interval it gets one."""
    head = next(line for line in lines if not line.startswith("#"))
    names, cells = next(csv.reader([head])), next(csv.reader([lines[number - 1]]))
    stem = column.removesuffix("_median")
    short = stem.removesuffix("_pct")
    own = {column, stem, stem + "_median", stem + "_lo", stem + "_hi", short + "_lo", short + "_hi"}
    single = next((cells[i] for i, name in enumerate(names) if name in (column, stem, stem + "_median") and cells[i]), "")
    for i, name in enumerate(names):
        if name in own and (cells[i] or single):
            cells[i] = change(cells[i] or single)
    out = io.StringIO()
    csv.writer(out, lineterminator="").writerow(cells)
    return out.getvalue()

def scaled(factor):
    return lambda cell: repr(float(cell) * factor)

def changes_of(row):
    """Changes of a cell to try: other sizes, the numbers of the claim's other values, words of its condition."""
    def is_number(text):
        return text.replace(".", "").replace("-", "").isdigit()

    numbers = [number.split()[1] for number in row["numbers"].split("; ")]
    if not all(map(is_number, numbers)):
        yield from (lambda cell, word=word: word for word in row["holds"].split())
        return
    yield from (scaled(factor) for factor in (1000, 0.001, -1, 0.85))
    bounds = [word for word in row["holds"].split() if is_number(word)]
    yield from (lambda cell, number=number: number for number in numbers + bounds + ["1000"])

def cells_of(row):
    links = dict(rows.split(": ") for rows in row["rows"].split("; "))
    for value in row["values"].split("; "):
        name, text = value.split(": ", 1)
        words = text.split(" where ")[0].split()
        if name in links:
            yield words[words.index("of") - 1], links[name].split()
            yield words[words.index("of") - 1], [links[name].split()[0].split("-")[0]]

def write(path, lines):
    with open(f"{folder}/{path}", "w", newline="", encoding="utf-8") as f:
        f.write("\n".join(lines))

def verdict_with(row, changes):
    """After changes, (column, links, change) each, which are taken back."""
    kept = {}
    for column, links, change in changes:
        path = links[0].split("#")[0]
        lines = read(f"{folder}/{path}")
        kept.setdefault(path, list(lines))
        for link in links:
            first, *last = (int(part[1:]) for part in link.split("#")[1].split("-"))
            for n in range(first, (last[0] if last else first) + 1):
                lines[n - 1] = changed(lines, n, column, change)
        write(path, lines)
    after = verdict_of(row["id"])
    for path, lines in kept.items():
        write(path, lines)
    return after

def flips(row):
    one_by_one = ([(column, links, change)] for change in changes_of(row) for column, links in cells_of(row))
    return any(verdict_with(row, changes) not in (None, row["verdict"]) for changes in one_by_one)

def flips_together(row):
    """Several numbers without an interval: all get one. The median of one row gets none: it wants more rows."""
    cells = list(cells_of(row))[::2]
    if row["reason"].startswith("too few runs") and "median " in row["values"]:
        return True
    return row["verdict"] == "undecided" and len(cells) > 1 and verdict_with(row, [
        (column, links, scaled(1000 if i == 0 else 0.001)) for i, (column, links) in enumerate(cells)]) in ("survives", "fails")

rows = list(csv.DictReader(open(claims.replace(".yaml", ".csv"), newline="", encoding="utf-8")))
decided = [row for row in rows if row["verdict"] != "not testable" and "count " not in row["values"]]
assert len(decided) > 30, len(decided)
stuck = [row["id"] for row in decided if not flips(row) and not flips_together(row)]
assert not stuck, stuck
print(len(decided), "verdicts hang on their cells")
PY

every_verdict_hangs_on_cells() {
    python3 "$tmp/flip.py" "$scalebench" "$claims" "$tmp"
}

# A run that is added later is judged without a change of claims.yaml.
a_new_run_is_judged() {
    mkdir "$tmp/later"
    cp -r "$tmp"/{published,reference,claims.*} "$tmp/later"
    rm -rf "$tmp/later/reference/naik_yadav_table1"
    local claims=$tmp/later/claims.yaml
    expect 0 "needs reference/naik_yadav_table1/summary.csv" "$scalebench" claims "$claims" --update || return 1
    mkdir "$tmp/later/reference/naik_yadav_table1"
    printf '%s\n' case,ranks,test_acc_pct,test_acc_lo,test_acc_hi,speedup,speedup_lo,speedup_hi \
        corrected,2,91.4,91.3,91.5,1.8,1.7,1.9 corrected,4,91.4,91.3,91.5,2,1.9,2.1 \
        >"$tmp/later/reference/naik_yadav_table1/summary.csv"
    expect 1 "naik_yadav/two_ranks_are_faster: was not testable, is survives" "$scalebench" claims "$claims" &&
        has_message "naik_yadav/one_epoch_on_four_ranks: was not testable, is fails"
}

updates() {
    sed -i 's/^naik_yadav\/four_cores_are_best,\(.*\),survives,/naik_yadav\/four_cores_are_best,\1,fails,/' "$tmp/claims.csv"
    expect 1 "four_cores_are_best: was fails, is survives" "$scalebench" claims "$claims" || return 1
    expect 0 "four_cores_are_best: was fails, is survives" "$scalebench" claims "$claims" --update || return 1
    local file
    for file in claims.csv claims.md; do
        diff "results/$file" "$tmp/$file" || return 1
    done
}

# The plan has one row per undecided claim, those that cost least per claim first, and each number is in the claim's reason.
the_plan_is_of_the_undecided() {
    "$scalebench" claims results/claims.yaml --plan --format csv >"$tmp/plan.csv" || return 1
    python3 - results/claims.csv "$tmp/plan.csv" <<'PY' || return 1
import csv, sys
claims, plan = (list(csv.DictReader(open(path, newline="", encoding="utf-8"))) for path in sys.argv[1:])
reasons = {row["id"]: row["reason"] for row in claims if row["verdict"] == "undecided"}
assert sorted(row["claim"] for row in plan) == sorted(reasons), plan
rates = [int(row["decides"]) / float(row["minutes"]) for row in plan if row["launches_needed"]]
assert rates == sorted(rates, reverse=True), rates
for row in plan:
    if row["launches_needed"]:
        number = f"{row['launches_needed']} {row['lacks']}"
        assert number in reasons[row["claim"]], (number, reasons[row["claim"]])
        day = float(row["minutes"]) > 24 * 60
        assert reasons[row["claim"]].endswith(", more than a day") == day, row
PY
    expect 0 " claims are undecided." env -u MAKEFLAGS make --no-print-directory MAKE=true BUILD="${scalebench%/*}" claims PLAN=1 &&
        has_message "expected  value"
}

# Checks that every number of the story is a link to a row that contains it, or from which it is computed.
the_story_links_its_numbers() {
    python3 - results/README.md <<'PY'
import re, sys
text = open(sys.argv[1], encoding="utf-8").read()
story = text.split("checks the links of what follows -->\n")[1].split("<!-- until here -->")[0]
links = re.findall(r"\[[^\[\]]*(?:\[[^\[\]]*\][^\[\]]*)?\]\((?:[a-z]\w*/)*\w+\.csv#L\d+(?:-L\d+)?\)", story)
assert len(links) > 30, len(links)
for link in links:
    story = story.replace(link, "")
story = re.sub(r"\]\([^)]*\)", "]", story)
assert not re.search(r"\d", story), re.findall(r".*\d.*", story)
PY
}

the_story_names_its_mistakes() {
    local number verdict
    number=$(grep -n '\[1\.84 \[' "$tmp/README.md" | cut -d: -f1)
    verdict=$(grep -n '\[fails\](claims.csv#L17)' "$tmp/README.md" | cut -d: -f1)
    sed -i.kept 's/\[1\.84 \[/[1.85 [/; s/\[fails\](claims.csv#L17)/[survives](claims.csv#L17)/' "$tmp/README.md"
    expect 1 "README.md:$number: reference/naik_yadav_batches/summary.csv#L15: found '1.85 [1.74, 1.90]', expected speedup 1.841" \
        "$scalebench" claims "$claims" || return 1
    expect 1 "README.md:$verdict: claims.csv#L17: found 'survives', expected fails" "$scalebench" claims "$claims" --update || return 1
    mv "$tmp/README.md.kept" "$tmp/README.md"
}

mistakes_have_their_place() {
    printf 'claims:\n  - id: r/c\n    kind: time\n    place: here\n    says: so\n    holds: x >\n' >"$tmp/bad.yaml"
    expect 2 "bad.yaml:6:15: holds: " "$scalebench" claims "$tmp/bad.yaml" || return 1
    local holds message
    while IFS='|' read -r holds message <&3; do
        printf 'claims:\n  - id: r/c\n    kind: time\n    place: here\n    says: so\n    values: {n: mark of naik_yadav_table1.csv where ranks = 4, four: wall_s of naik_yadav_table1.csv where ranks = 4}\n    holds: %s\n' \
            "$holds" >"$tmp/bad.yaml"
        expect 2 "bad.yaml:7:12: holds: $message" "$scalebench" claims "$tmp/bad.yaml" || return 1
    done 3<<'END'
n > 4|n has no order. Use = or !=
n - four > 4|n is a text: expected a number
n = 4|n is the text 's', which cannot be compared with the number '4'
four = s|four is a number: expected a number, found 's'
END
    expect 2 "nowhere.yaml" "$scalebench" claims "$tmp/nowhere.yaml" || return 1
    expect 2 "known: text csv markdown" "$scalebench" claims --format json
}

check "the committed ledger agrees with the tables" expect 0 "All " "$scalebench" claims
check "claims.csv is written by the program" is_current csv results/claims.csv
check "claims.md is written by the program" is_current markdown results/claims.md
check "the ledger has all required entries" holds_what_a_ledger_should
check "claims about tuned rates use the best one" tuned_rates_are_the_best
check "numbers of the ledger link to existing rows" rows_are_there
check "a changed cell flips the claims that rest on it" a_cell_flips_its_claims
check "every verdict hangs on cells" every_verdict_hangs_on_cells
check "a run added later is judged" a_new_run_is_judged
check "--update writes the ledger anew" updates
# --of prints the claims of a report, of a run, or one claim, and refuses other names.
of_selects_claims() {
    "$scalebench" claims results/claims.yaml --of kota >"$tmp/of" && ! grep -q "^naik_yadav" "$tmp/of" || return 1
    python3 - results/claims.csv kota_epochs "$scalebench" <<'PY' || return 1
import csv, subprocess, sys
rows = list(csv.DictReader(open(sys.argv[1], newline="", encoding="utf-8")))
def selected(name):
    lines = subprocess.run([sys.argv[3], "claims", "results/claims.yaml", "--of", name], capture_output=True,
                           text=True, check=True).stdout.split("\n")
    return [line[16:].split(" ")[0] for line in lines if line.startswith("  ") and line[2] != " "]
run = [r["id"].split("/")[1] for r in rows if "reference/kota_epochs/" in r["rows"]]
assert run and selected("kota_epochs") == run, (run, selected("kota_epochs"))
assert selected("kota") == [r["id"].split("/")[1] for r in rows if r["id"].startswith("kota/")]
assert selected("kota/" + run[0]) == run[:1]
PY
    expect 2 "'kot' is unknown; nearest 'kota'; known: naik_yadav kota" \
        "$scalebench" claims results/claims.yaml --of kot || return 1
    expect 2 "'kota_epoch' is unknown; nearest 'kota_epochs'" "$scalebench" claims results/claims.yaml --of kota_epoch &&
        expect 2 "leave out --format" "$scalebench" claims results/claims.yaml --of kota --format csv &&
        expect 2 "Leave one of the two out" "$scalebench" claims results/claims.yaml --plan --update
}

check "--of selects claims of a report or run" of_selects_claims
check "the plan lists the launches that undecided claims need" the_plan_is_of_the_undecided
check "every number of the story is a link to a row" the_story_links_its_numbers
check "a number or verdict of the story that the claims do not have is named" the_story_names_its_mistakes
check "mistakes have their place" mistakes_have_their_place
finish
