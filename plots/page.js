// Builds tables, search and sorting on the page of `scalebench report`, and writes its findings, such as extreme values that
// intervals cannot tell apart. Without it the page shows figures and
// rows.
"use strict";

// ---- Parts ----

function make(tag, attributes, ...parts) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) if (value) element.setAttribute(name, value);
  element.append(...parts);
  return element;
}

// A cell is a text, or a text with a verdict and its reason.
const textOf = cell => String(typeof cell === "object" ? cell.text : cell);
const show = cell => typeof cell === "object" ? [makeVerdict(cell.text, cell.verdict, cell.title)] : [String(cell)];
const makeVerdict = (text, verdict, title) => make("span", {class: `verdict ${verdict}`, title}, text);

const readJson = part => part.textContent.trim() ? JSON.parse(part.textContent) : null;

// ---- Numbers ----

const isNumber = text => /^[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?$/i.test(text);

// Digits after the point for this many significant digits; digits before the point are kept.
function decimalsFor(x, digits) {
  const before = x !== 0 && Number.isFinite(x) ? Math.floor(Math.log10(Math.abs(x))) + 1 : 1;
  return Math.min(Math.max(digits - before, 0), 100);
}

// Rounds to five digits.
function shorten(text) {
  const x = Number(text), short = text.length > 6 && /[.e]/.test(text) && isNumber(text) && Math.abs(x) >= 1e-3;
  const rounded = short ? x.toFixed(decimalsFor(x, 5)) : text;
  return rounded.length < text.length ? rounded : text;
}

function showInterval({lo, mid, hi}) {
  const decimals = decimalsFor(mid, 4);
  const interval = Number.isFinite(lo) && Number.isFinite(hi) ? ` [${lo.toFixed(decimals)}, ${hi.toFixed(decimals)}]` : "";
  return mid.toFixed(decimals) + interval;
}

// ---- CSV ----

// Parses RFC 4180, with remarks before the header.
function readCsv(text) {
  const rows = [];
  let row = [];
  for (const [, cell, end] of text.replace(/^(#.*\n)*/, "").matchAll(/("(?:[^"]|"")*"|[^,\r\n]*)(,|\r?\n|$)/g)) {
    row.push(cell.startsWith('"') ? cell.slice(1, -1).replaceAll('""', '"') : cell);
    if (end === ",") continue;
    if (row.length > 1 || row[0]) rows.push(row);
    row = [];
  }
  return {names: rows[0] || [], rows: rows.slice(1)};
}

// Puts identifiers and remarks behind the values, and names too if labels say more.
function isLast({names, rows}, name) {
  const label = names.indexOf("label");
  if (name === "name") return label >= 0 && rows.every(row => row[label]);
  return ["n", "status", "flags", "curve", "row", "point", "x"].includes(name);
}

// Splits the columns that have values into those that differ between rows, in their order on the page, and those that do
// not. Identifiers of points may look like numbers.
function columnsOf(csv) {
  const columns = csv.names.map((name, at) => {
    const cells = csv.rows.map(row => row[at]);
    const number = name !== "point" && cells.every(cell => cell === "" || isNumber(cell));
    const same = cells.length > 1 && cells.every(cell => cell === cells[0]);
    return {name, at, number, cells, same, last: isLast(csv, name)};
  }).filter(column => column.cells.some(cell => cell));
  const differing = columns.filter(column => !column.same);
  return {same: columns.filter(column => column.same),
          shown: [...differing.filter(column => !column.last), ...differing.filter(column => column.last)]};
}

// ---- Tables ----

// Aligns numbers and their intervals to the right.
const isNumeric = cells => cells.every(cell => /^([-+\d.,e[\]() %]*|base)$/i.test(textOf(cell)));

// Makes a row from its number, or [number, label], and cells. The link at its start is its address.
function makeRow(id, [head, ...cells], columns) {
  const [number, label = number] = [head].flat();
  const link = make("a", {href: `#${id}-${number}`}, String(label));
  return make("tr", {id: `${id}-${number}`}, make("th", {scope: "row"}, link), ...cells.map((cell, i) => {
    const {numeric, wide} = columns[i], short = numeric && typeof cell === "string" ? shorten(cell) : cell;
    return make("td", {class: numeric ? "n" : wide ? "wrap" : "", title: short === cell ? "" : cell}, ...show(short));
  }));
}

// The first row names the columns; columns without a value are left out.
function makeTable(id, [[first, ...names], ...rows]) {
  const columns = names.map((name, i) => {
    const cells = rows.map(row => row[i + 1]);
    return {name, told: cells.some(cell => !["", "-"].includes(textOf(cell))), numeric: isNumeric(cells),
            wide: cells.some(cell => textOf(cell).length > 40)};
  });
  const told = columns.filter(column => column.told);
  const heads = told.map(column => make("th", {class: column.numeric && "n"}, column.name));
  const body = rows.map(([head, ...cells]) => makeRow(id, [head, ...cells.filter((cell, i) => columns[i].told)], told));
  const head = make("tr", {}, make("th", {class: first === "point" ? "" : "n"}, first), ...heads);
  return make("div", {class: "scroll"}, make("table", {}, make("thead", {}, head), make("tbody", {}, ...body)));
}

function makeCsvTable(id, csv) {
  const {same, shown} = columnsOf(csv);
  const shared = same.map(column => `${column.name} ${column.cells[0]}`).join(", ");
  const rows = csv.rows.map((row, i) => [i + 1, ...shown.map(column => row[column.at])]);
  const table = makeTable(id, [["row", ...shown.map(column => column.name)], ...rows]);
  return shared ? [make("p", {class: "file"}, `All rows: ${shared}`), table] : [table];
}

function makeSaveLink(name, text) {
  const href = `data:text/csv;charset=utf-8,${encodeURIComponent(text)}`;
  return make("p", {class: "file"}, make("a", {download: name, href}, `Save ${name}`));
}

// ---- Findings of a table ----

const isLowerEnd = name => name === "lo" || name.endsWith("_lo") || name.includes("_lo_");

// Finds columns with an interval; the upper bound and the published value follow in the file.
function quantitiesOf({names, rows}, quantity, titles) {
  const number = (row, at) => at !== undefined && row[at] ? Number(row[at]) : NaN;
  return names.flatMap((name, at) => {
    if (at < 1 || at + 1 >= names.length || !isLowerEnd(name)) return [];
    const own = names[at - 1] === "value" ? quantity : names[at - 1];
    const published = (names[at + 2] || "").endsWith("published") ? at + 2 : undefined;
    const values = rows.map(row => ({row, lo: number(row, at), mid: number(row, at - 1), hi: number(row, at + 1),
                                     published: number(row, published)}));
    return [{title: titles[own] || own, values: values.filter(value => Number.isFinite(value.mid))}];
  });
}

const hasInterval = ({lo, hi}) => Number.isFinite(lo) && Number.isFinite(hi);

// "(ranks=2 allreduce, epoch 5)": the point, with its place on the axis unless that is ranks.
function showPlace({names}, row) {
  const label = names.indexOf("label"), x = names.indexOf("x");
  const place = x > 0 && names[x - 1] !== "flags" ? `, ${names[x - 1]} ${row[x - 1]}` : "";
  return ` (${label >= 0 ? row[label] : ""}${place})`;
}

const showValue = (csv, value) => showInterval(value) + showPlace(csv, value.row);

function extremesOf(values) {
  const choose = better => values.reduce((best, value) => better(value.mid, best.mid) ? value : best, values[0]);
  return [choose((a, b) => a < b), choose((a, b) => a > b)];
}

const NO_INTERVALS = "there are no intervals, so differences are not judged";

const finding = (lead, text) => make("p", {class: "finding"}, make("strong", {}, lead), text);

// Leaves out rows without an interval, such as a baseline, if two rows have one.
function sayExtremes(csv, {title, values}) {
  const whole = values.filter(hasInterval), [least, most] = extremesOf(whole.length >= 2 ? whole : values);
  if (values.length < 2 || least === most) return [];
  const meeting = !(Number.isFinite(least.hi) && Number.isFinite(most.lo)) ? NO_INTERVALS
    : least.hi < most.lo ? "their intervals do not overlap"
    : "their intervals overlap, so it is open whether they differ";
  return [finding(title, ` from ${showValue(csv, least)} to ${showValue(csv, most)}; ${meeting}.`)];
}

// Treats published numbers as exact.
function sayRatios(csv, {title, values}) {
  const ratios = values.filter(value => value.published > 0).map(({row, lo, mid, hi, published}) =>
    ({row, lo: lo / published, mid: mid / published, hi: hi / published}));
  if (ratios.length === 0) return [];
  const [least, most] = extremesOf(ratios), known = ratios.filter(hasInterval);
  const holds = known.filter(({lo, hi}) => lo <= 1 && hi >= 1).length;
  const last = known.length > 0 ? `1 lies in ${holds} of ${known.length} intervals` : NO_INTERVALS;
  return [finding("Compared with published numbers", `, ${title}: measured / published from ${showValue(csv, least)} to ` +
                  `${showValue(csv, most)}; ${last}.`)];
}

// Figures of parts have no intervals. They get the run's losses and their causes instead.
function sayInShort(numbers, csv, titles) {
  const judged = numbers.querySelector(".published") !== null;
  const said = quantitiesOf(csv, numbers.dataset.quantity, titles).flatMap(quantity =>
    [...sayExtremes(csv, quantity), ...judged ? [] : sayRatios(csv, quantity)]);
  if (said.length > 0 || judged) return said;
  return [make("p", {class: "lines"}, numbers.closest(".run").querySelector(".losses").textContent)];
}

// ---- Provenance ----

const MANIFEST_PARTS = {"": "Run", machine: "Machine", build: "Program", facts: "Facts of all launches",
                        preflight: "State of the machine when it began"};

const showFact = fact => typeof fact === "number" ? String(Number(fact.toPrecision(Number.isInteger(fact) ? 17 : 6)))
  : fact === true ? "yes" : fact === false ? "no" : fact === null ? "unknown" : fact;

// Lists the facts of each part.
function makeFacts(manifest) {
  if (!manifest) return make("p", {}, "There is no manifest.json in the run's folder.");
  const body = make("tbody", {});
  for (const [name, title] of Object.entries(MANIFEST_PARTS)) {
    const facts = Object.entries((name ? manifest[name] : manifest) || {});
    if (facts.length === 0) continue;
    body.append(make("tr", {}, make("th", {class: "part", colspan: 2, scope: "colgroup"}, title)));
    for (const [key, fact] of facts.filter(([, fact]) => fact === null || typeof fact !== "object"))
      body.append(make("tr", {}, make("th", {scope: "row"}, key), make("td", {}, showFact(fact))));
  }
  return make("div", {class: "scroll"}, make("table", {class: "facts"}, body));
}

// Quotes words for a shell.
const quote = word => /^[\w\-./=+:,@%]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;

function showCommands(manifest, path) {
  const {spec, set, command} = manifest || {};
  const typed = Array.isArray(command) ? command.filter(word => typeof word === "string").map(quote).join(" ") : "";
  return [spec ? `make bench CONFIG=${quote(spec)}${set ? ` SET=${quote(set)}` : ""}\n` : "",
          typed ? `# the original command:\n${typed}\n` : "",
          `# draw the figures again, without a run:\nmake figures CONFIG=${quote(path)}\n`].join("");
}

// ---- Claims ----

const VERDICTS = {survives: "good", fails: "bad", undecided: "undecided", "not testable": "none"};

// Finds the place on the page for an address below results/: "reference/kota_parts/summary.csv#L6" is the fifth point of
// that run, "claims.csv#L6" the fifth claim. Otherwise returns the claim.
function placeOf(address, claim) {
  const [, folder, line] = address.match(/^reference\/([^/]+)\/summary\.csv#L(\d+)$/) || [];
  const run = folder && document.querySelector(`[data-kept="${CSS.escape(folder)}"]`);
  const place = run && `${run.id}-summary-${line - 1}`;
  if (place && document.getElementById(place)) return `#${place}`;
  const [, row] = address.match(/^claims\.csv#L(\d+)$/) || [];
  return row ? `#claims-${row - 1}` : claim;
}

function makeLink(words, address, claim) {
  const [own, ...rest] = address.split(";"), told = own.startsWith("#") ? rest.join(";") : own;
  const place = placeOf(told, own.startsWith("#") ? own : claim);
  return place ? make("a", {href: place, title: told}, words) : words;
}

// Shows the Markdown of claims: **strong**, `code`, links, backslashes. Brackets inside a link's words come in pairs.
function showLine(text, claim) {
  const marks = /\*\*(.+?)\*\*|`([^`]*)`|\[((?:\\.|[^[\]\\]|\[[^[\]]*\])*)\]\(([^)]*)\)/g;
  const plain = text => text.replace(/\\(.)/g, "$1"), parts = [];
  let end = 0;
  for (const mark of text.matchAll(marks)) {
    const [whole, strong, code, words, address] = mark;
    parts.push(plain(text.slice(end, mark.index)));
    if (strong !== undefined) parts.push(make("strong", {}, ...showLine(strong, claim)));
    else if (code !== undefined) parts.push(make("code", {}, code));
    else parts.push(makeLink(plain(words), address, claim));
    end = mark.index + whole.length;
  }
  return [...parts, plain(text.slice(end))];
}

const cellsOf = line => line.slice(1, line.lastIndexOf("|")).split(/(?<!\\)\|/).map(cell => cell.trim());

// A row of the ledger is a claim; its number is its address. Tables of the story cannot be sorted.
function makeClaimRow(cells, number) {
  const id = `claims-${number}`, link = make("a", {href: `#${id}`}, String(number));
  return make("tr", {id}, make("th", {scope: "row"}, link), ...cells.map((cell, i) => make("td", {class: i ? "wrap" : ""},
    ...i ? showLine(cell, `#${id}`) : [makeVerdict(cell, VERDICTS[cell])])));
}

function makeStoryTable([names, , ...lines], next) {
  const head = make("tr", {}, ...next ? [make("th", {class: "n"}, "row")] : [],
                    ...cellsOf(names).map(name => make("th", {class: "wrap"}, name)));
  const body = lines.map(cellsOf).map(cells => next ? makeClaimRow(cells, next())
    : make("tr", {}, ...cells.map(cell => make("td", {class: "wrap"}, ...showLine(cell)))));
  const table = make("table", {class: next ? "" : "told"}, make("thead", {}, head), make("tbody", {}, ...body));
  return make("div", {class: "scroll"}, table);
}

function makeBlock(text, next) {
  if (text.startsWith("|")) return makeStoryTable(text.split("\n").filter(line => line.startsWith("|")), next);
  return text.startsWith("## ") ? make("h3", {}, ...showLine(text.slice(3))) : make("p", {}, ...showLine(text));
}

const blocksOf = text => text.split(/\n\n+/).map(block => block.trim()).filter(block => block);

// Folds each report below its counts.
function makeLedger(text) {
  let claims = 0;
  return text.split(/^## /m).slice(1).map(report => {
    const [name, counts, ...blocks] = blocksOf(report);
    const summary = make("summary", {}, `${name}, ${counts.replace(/\.$/, "")}`);
    return make("details", {}, summary, ...blocks.map(block => makeBlock(block, () => ++claims)));
  });
}

function showClaims() {
  for (const part of document.querySelectorAll(".story")) {
    const text = part.querySelector(".lines").textContent;
    part.replaceWith(...part.matches(".ledger") ? makeLedger(text) : blocksOf(text).map(block => makeBlock(block)));
  }
}

// ---- The page ----

// Folds tables with more rows than this, and longer findings. A page of at most this many runs is titled by them.
const ROWS_SHOWN = 12, LINES_SHOWN = 20, RUNS_NAMED = 3;

// Addresses of rows begin with that of their figure or run.
function showRows() {
  for (const rows of document.querySelectorAll(".rows")) {
    const id = `${rows.closest(".figure, .run").id}-${rows.dataset.id}`;
    rows.replaceWith(makeTable(id, readJson(rows)));
  }
}

function showCsv(titles) {
  for (const text of document.querySelectorAll("pre[data-name]")) {
    const {id, name} = text.dataset, csv = readCsv(text.textContent), n = csv.rows.length;
    const folded = text.parentElement, numbers = folded.closest(".numbers"), made = folded.querySelector("table");
    folded.open = n <= ROWS_SHOWN && (numbers || made);
    if (made) folded.querySelector("summary").textContent = `All points, ${name}`;
    if (numbers) folded.querySelector("summary").append(`, ${plural(n, "row")}`);
    if (numbers) numbers.prepend(...sayInShort(numbers, csv, titles));
    text.replaceWith(...made ? [] : makeCsvTable(id, csv), makeSaveLink(name, text.textContent));
  }
}

function showManifests() {
  for (const text of document.querySelectorAll(".manifest")) {
    const manifest = readJson(text), again = text.closest(".run").querySelector(".again");
    again.textContent = showCommands(manifest, again.dataset.path);
    text.replaceWith(makeFacts(manifest));
  }
}

function showFindings() {
  for (const says of document.querySelectorAll(".says")) {
    const text = says.querySelector(".lines"), lines = text.textContent.split("\n").filter(line => line.trim());
    text.replaceWith(make("ul", {class: "findings"}, ...lines.map(line => make("li", {}, line.trim()))));
    says.open = lines.length <= LINES_SHOWN;
    if (!says.open) says.querySelector("summary").append(`, ${lines.length} lines`);
  }
}

const plural = (n, noun) => `${n} ${noun}${n === 1 ? "" : "s"}`;

// Titles a page of few runs with their names. Gives the day on which each began, and the rows of a sweep.
function sumUp() {
  const rows = [...document.querySelectorAll("nav tbody tr")];
  if (rows.length <= RUNS_NAMED) document.title += `: ${rows.map(row => row.querySelector("a").textContent).join(", ")}`;
  const figures = document.querySelectorAll(".figure").length;
  document.querySelector(".lead").textContent =
    `${plural(figures, "figure")} of ${plural(rows.length, "run")}, drawn from their tables.`;
  for (const row of rows) {
    const id = row.querySelector("a").hash.slice(1), day = row.querySelector(".date"), points = row.querySelector(".n");
    day.textContent = day.textContent.slice(0, 10);
    points.textContent ||= plural(document.querySelectorAll(`[id="${id}-table"] tbody tr`).length, "row");
  }
}

// ---- Search ----

function search(words) {
  let found = 0, all = 0;
  for (const run of document.querySelectorAll(".run")) {
    const name = run.querySelector("h2").textContent;
    let shown = 0;
    for (const figure of run.querySelectorAll(".figure")) {
      const parts = [...figure.querySelectorAll("h3, figcaption, .numbers")].map(part => part.textContent);
      const text = [name, ...parts].join(" ").toLowerCase();
      figure.hidden = !words.every(word => text.includes(word));
      shown += !figure.hidden;
      all++;
    }
    const alone = run.querySelector(".figure") === null && words.every(word => run.textContent.toLowerCase().includes(word));
    run.hidden = words.length > 0 && shown === 0 && !alone;
    found += shown;
  }
  for (const row of document.querySelectorAll("nav tbody tr"))
    row.hidden = document.getElementById(row.querySelector("a").hash.slice(1)).hidden;
  return words.length > 0 ? `${found} of ${all} figures` : "";
}

function openSearch() {
  const input = document.getElementById("search");
  input.closest("p").hidden = false;
  input.addEventListener("input", () => {
    const words = input.value.toLowerCase().split(/\s+/).filter(word => word);
    document.getElementById("found").textContent = search(words);
  });
}

// ---- Sorting ----

// Sort key of a cell: its first number with all digits, else its text.
function keyOf(cell) {
  const text = (cell.title && cell.classList.contains("n") ? cell.title : cell.textContent).trim();
  const number = parseFloat(text.replace(/,(?=\d{3})/g, ""));
  return cell.classList.contains("n") || /^-?[\d.]+$/.test(text) ? number : text.toLowerCase();
}

function compare(a, b) {
  const unknown = key => typeof key === "number" ? Number.isNaN(key) : key === "";
  if (unknown(a) || unknown(b)) return unknown(a) - unknown(b);
  return a < b ? -1 : a > b ? 1 : 0;
}

function sort(header) {
  const body = header.closest("table").tBodies[0];
  const descending = header.getAttribute("aria-sort") === "ascending";
  for (const other of header.parentElement.children) other.removeAttribute("aria-sort");
  header.setAttribute("aria-sort", descending ? "descending" : "ascending");
  const rows = [...body.rows].map(row => [keyOf(row.cells[header.cellIndex]), row]);
  rows.sort(([a], [b]) => {
    const known = compare(a, b);
    const isUnknown = key => Number.isNaN(key) || key === "";
    return descending && !isUnknown(a) && !isUnknown(b) ? -known : known;
  });
  body.append(...rows.map(([, row]) => row));
}

function addSortButtons() {
  for (const header of document.querySelectorAll("table:not(.told) thead th")) {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...header.childNodes);
    button.addEventListener("click", () => sort(header));
    header.append(button);
  }
}

// ---- Folding ----

// Shows the target of an address, whatever the search.
function openTarget() {
  const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  let opened = false;
  if (target && target.closest("[hidden]")) {
    const input = document.getElementById("search");
    input.value = "";
    input.dispatchEvent(new Event("input"));
    opened = true;
  }
  for (let part = target; part; part = part.parentElement)
    if (part.tagName === "DETAILS" && !part.open) opened = part.open = true;
  if (opened) target.scrollIntoView();
}

// Keeps parts longer than about a page folded: a whole spec, every epoch of every run.
function fitsPaper(part) {
  const lines = [...part.querySelectorAll("pre")].reduce((sum, pre) => sum + pre.textContent.split("\n").length, 0);
  return part.querySelectorAll("tr, li").length + lines <= 60;
}

function openForPrint() {
  let folded = [];
  addEventListener("beforeprint", () => {
    folded = [...document.querySelectorAll("details:not([open])")].filter(fitsPaper);
    for (const part of folded) part.open = true;
  });
  addEventListener("afterprint", () => { for (const part of folded) part.open = false; });
}

// Lets parts wider than the page scroll by themselves, also with the keyboard.
function reachScrolled() {
  for (const part of document.querySelectorAll(".scroll, .picture")) {
    if (part.scrollWidth <= part.clientWidth) continue;
    part.tabIndex = 0;
    part.setAttribute("role", "region");
    part.setAttribute("aria-label", `${part.matches(".picture") ? "figure" : "table"}, scrolls sideways`);
  }
}

showRows();
showCsv(readJson(document.getElementById("quantities")));
showManifests();
showFindings();
showClaims();
sumUp();
openSearch();
addSortButtons();
openForPrint();
addEventListener("hashchange", openTarget);
openTarget();
reachScrolled();
