#!/usr/bin/env bash
# Tests shell completion: loads the scripts and calls their functions as a shell does.
# cores: 1
set -u
. bench/tests/lib/tap.sh

# Prints the words that bash offers to complete the last word.
offers() { # word...
    # shellcheck disable=SC2016 # the other bash's own
    "$BASH" -c '
        source <("$1" completion bash) || exit 1
        COMP_WORDS=("$@")
        COMP_CWORD=$(($# - 1))
        _scalebench
        printf "%s\n" "${COMPREPLY[@]}"' bash "$scalebench" "$@" >"$tmp/offered"
}

offers_just() { # "candidate candidate" word...
    local want=$1
    shift
    offers "$@" || return 1
    [ "$(tr '\n' ' ' <"$tmp/offered")" = "$want " ] || { head "$tmp/offered"; return 1; }
}

offers_at_least() { # candidate word...
    local want=$1
    shift
    offers "$@" || return 1
    grep -qxF -- "$want" "$tmp/offered" || { head "$tmp/offered"; return 1; }
}

offers_every_command() {
    offers "" || return 1
    "$scalebench" help | sed -n '/^usage/,/^options/s/^  \([a-z]\+\) .*/\1/p' | sort >"$tmp/commands"
    [ "$(wc -l <"$tmp/commands")" -gt 10 ] && sort "$tmp/offered" | diff - "$tmp/commands"
}

offers_every_key() {
    offers run quick.yaml --set "" || return 1
    "$scalebench" explain | sed 's/ .*/=/' | diff - "$tmp/offered"
}

mkdir -p "$tmp/results/study/one" "$tmp/results/study/torn"
touch "$tmp/results/study/one/manifest.json"

check "bash: every command" offers_every_command
check "bash: a command" offers_just "schema" sche
check "bash: options of a command" offers_just "--set --out --commands --format --help" plan quick.yaml --
check "bash: a spec" offers_just "strong_scaling.yaml" run strong
check "bash: a spec below configs/reports" offers_just "reports/naik_yadav/table1.yaml" plan reports/naik_yadav/t
check "bash: every key of a SET" offers_every_key
check "bash: a key to explain" offers_at_least train.lr explain train.l
check "bash: a column to explain" offers_just "efficiency efficiency_hi efficiency_lo" explain effici
check "bash: a strategy to explain" offers_just "rabenseifner" explain rabens
check "bash: a network to explain" offers_just "lenet_21k" explain lenet
check "bash: a cluster" offers_just "example" submit quick.yaml --site ""
check "bash: a published summary" offers_just "amundkar_layers.csv" model lenet_21k --published amundkar_l
check "bash: a run by its campaign, or one that is committed" offers_just "study strong_scaling" report --out "$tmp/results" st
check "bash completes names that can be listed" offers_just "strategies" list strat
check "bash: a network" offers_just "lenet_21k" model le
check "bash: values of an option" offers_just "text junit" check results/x --format ""
check "bash: a run, none without a manifest" offers_just "$tmp/results/study/one" check --out "$tmp/results" "$tmp"
check "bash: a campaign" offers_just "study" runs --out "$tmp/results" stu
check "bash: a shell" offers_just "bash" completion ba
check "bash: files where nothing is known" offers_just "" run quick.yaml --out x
fits_columns() { # columns, command
    local columns=$1
    shift
    COLUMNS=$columns "$@" >"$tmp/help"
    [ "$(wc -l <"$tmp/help")" -gt 2 ] && ! grep -E ".{$((columns + 1))}" "$tmp/help"
}

help_fits() {
    local command
    while read -r command; do
        fits_columns 100 "$scalebench" "$command" --help || return 1
    done < <("$scalebench" help | sed -n '/^usage/,/^options/s/^  \([a-z]\+\) .*/\1/p' | grep -vx help)
    fits_columns 70 "$scalebench" help && unset COLUMNS && "$scalebench" help >"$tmp/help" && ! grep -E '.{81}' "$tmp/help"
}
check "help fits the terminal, or 80 columns" help_fits

# Characters of patterns in the name of a checkout's folder.
lists_below_any_home() {
    local home=$tmp/'home [a]*\?' kind
    mkdir -p "$home/elsewhere" && ln -s "$PWD/configs" "$home/configs" || return 1
    for kind in configs models; do
        "$scalebench" list "$kind" >"$tmp/wanted" && SCALEBENCH_HOME=$home "$scalebench" list "$kind" | diff - "$tmp/wanted" ||
            return 1
    done
    [ -s "$tmp/wanted" ] || return 1
    mkdir -p "$home/out/study" && offers_just study runs --out "$home/out" stu || return 1
    (cd "$home/elsewhere" && SCALEBENCH_HOME=$home expect 2 "nearest 'softmax_784'; known: " "$scalebench" model softmax_748)
}
check "a home whose name has letters of patterns" lists_below_any_home

groups_are_explained() {
    expect 0 "train, a group of options" "$scalebench" explain train || return 1
    [ "$(grep -c '^  train\.' "$tmp/expect.log")" -eq "$("$scalebench" explain | grep -c '^train\.')" ] || return 1
    expect 0 "  measure.time.steps " "$scalebench" explain measure.time && ! grep measure.accuracy "$tmp/expect.log" || return 1
    expect 0 "  workload.command " "$scalebench" explain workload && grep -q "Program to measure" "$tmp/expect.log" || return 1
    expect 0 "  figures.kind " "$scalebench" explain figures
}
check "explain lists the options of a group" groups_are_explained

check "a script is of one shell" expect 2 "completion: 'zsh' is one argument too many; expected bash alone" "$scalebench" completion bash zsh
check "a shell that is not known" expect 2 "known: bash zsh fish words" "$scalebench" completion tcsh

zsh_offers() {
    # shellcheck disable=SC2016 # zsh's own
    zsh -fc '
        compdef() { :; }
        compadd() { print -l -- ${(P)@[-1]}; }
        _files() { print files; }
        eval "$($1 completion zsh)"
        words=($1 list strat) CURRENT=3
        _scalebench
        words=($1 run quick.yaml --out "") CURRENT=5
        _scalebench' zsh "$scalebench" >"$tmp/offered"
    [ "$(tr '\n' ' ' <"$tmp/offered")" = "strategies files " ] || { cat "$tmp/offered"; return 1; }
}

fish_offers() {
    # shellcheck disable=SC2016 # fish's own
    HOME=$tmp fish --no-config -c '
        set PATH (dirname $argv[1]) $PATH
        $argv[1] completion fish | source
        complete -C "scalebench list strat"' "$scalebench" >"$tmp/offered"
    [ "$(cut -f1 "$tmp/offered")" = strategies ] || { cat "$tmp/offered"; return 1; }
}

for shell in zsh fish; do
    if command -v "$shell" >/dev/null; then
        check "$shell" "${shell}_offers"
    else
        lacks "what $shell offers" "$shell"
    fi
done
finish
