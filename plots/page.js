// Search and sorting of the page that `scalebench report` writes; it shows everything without them.
"use strict";

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

// What a cell sorts by: its first number, of a rounded one all digits, or its text.
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

// ---- What is folded in ----

// What an address names is seen, whatever was searched for.
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

// What takes more than about a page stays folded: a whole spec, every epoch of every run.
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

// What is wider than the page scrolls by itself, from the keyboard too.
function reachScrolled() {
  for (const part of document.querySelectorAll(".scroll, .picture")) {
    if (part.scrollWidth <= part.clientWidth) continue;
    part.tabIndex = 0;
    part.setAttribute("role", "region");
    part.setAttribute("aria-label", `${part.matches(".picture") ? "figure" : "table"}, scrolls sideways`);
  }
}

openSearch();
addSortButtons();
openForPrint();
addEventListener("hashchange", openTarget);
openTarget();
reachScrolled();
