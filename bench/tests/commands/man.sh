#!/usr/bin/env bash
# Tests that formatters accept the man page, and that it names every command and option.
# cores: 1
set -u
. bench/tests/lib/tap.sh

page=$tmp/scalebench.1

shows() { # text...: as a formatter shows the page
    local text
    for text in "$@"; do
        grep -qF -- "$text" "$tmp/shown" || { echo "the page lacks: $text"; return 1; }
    done
}

prints_it() {
    "$scalebench" man >"$page"
}

names_every_key() {
    local key
    while read -r key _; do
        grep -qxF -- "\\fB${key//-/\\-}\\fR" "$page" || { echo "the page lacks $key"; return 1; }
    done < <("$scalebench" explain)
}

names_every_command() {
    local command
    while read -r command _; do
        [ "$command" = help ] || grep -q "^\\\\fB$command\\\\fR" "$page" || { echo "no $command"; return 1; }
    done < <("$scalebench" help | sed -n '/^usage/,/^options/s/^  \([a-z]\)/\1/p')
}

# Characters that a formatter could take for a request or an escape.
has_no_stray_request() {
    ! grep -vE '^(\.(TH|SH|SS|TP|br)( |$)|\\&|[^.'"'"'])' "$page" && ! grep -nE '\\[^&e(f-]' "$page"
}

nothing_to_say() {
    "$@" >"$tmp/said" 2>&1 || return 1
    [ ! -s "$tmp/said" ] || { head "$tmp/said"; return 1; }
}

check "scalebench man" prints_it
check "every key of a spec" names_every_key
check "every command" names_every_command
check "no stray requests" has_no_stray_request
if command -v mandoc >/dev/null; then
    check "mandoc has nothing against it" nothing_to_say mandoc -Tlint -W warning "$page"
    mandoc -Tascii -Owidth=300 "$page" | sed 's/.\x08//g' >"$tmp/shown"
    check "a dash, a quotation mark and a bracket come through" \
        shows '--set "KEY=VALUE ..."' 'for example ">= 96.5"' '{kind: line, y: wait_ms}' 'default: [time, speedup, efficiency]'
else
    lacks "the page as mandoc sees it" mandoc
fi
finish
