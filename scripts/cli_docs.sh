#!/bin/sh
# cli_docs.sh - help texts, man page and completions, as their readers see them; what make install puts where.
#
# Last line: N passed, N failed[, N skipped].
set -u
cd "$(dirname "$0")/.." || exit 1
export LC_ALL=C
BUILD=${BUILD:-build}
program=$BUILD/gpuplan
work=$BUILD/cli-docs
rm -rf "$work"
mkdir -p "$work" || exit 1
passed=0 failed=0 skipped=0

# report NAME FILE: the check passes when FILE, its list of findings, is empty.
report() {
    if [ -s "$2" ]; then
        failed=$((failed + 1))
        echo "FAILED $1"
        head -n 10 "$2" | sed 's/^/       /'
    else
        passed=$((passed + 1))
        echo "ok     $1"
    fi
}

skip() {
    skipped=$((skipped + 1))
    echo "SKIPPED $1: $2 is not installed"
}

# --- help: one screen of 80 columns and 48 lines with two examples --------------------------------
commands=$("$program" --help | sed -n '/^commands:/,/^$/s/^  \([a-z][a-z]*\).*/\1/p')
echo "$commands" | grep -q '^run$' || echo "run is not among: $commands" >"$work/commands"
[ -e "$work/commands" ] || : >"$work/commands"
report "--help lists the commands" "$work/commands"
for command in "" $commands; do
    "$program" $command --help >"$work/help"
    {
        awk 'length($0) > 80 { print FNR ": " length($0) " columns: " $0 }' "$work/help"
        awk 'END { if (NR > 48) print NR " lines" }' "$work/help"
        awk '/^examples:/ { on = 1; next } on && /^  / { n++ } END { if (n != 2) print n + 0 " examples" }' \
            "$work/help"
    } >"$work/finds"
    report "help of gpuplan${command:+ $command}" "$work/finds"
done

# --- man page --------------------------------------------------------------------------------------
page=$work/gpuplan.1
"$program" completion man >"$page"
for command in $commands; do
    grep -q "^\.SS gpuplan $command" "$page" || echo "$command is not in the page"
done >"$work/finds"
report "the man page holds every command" "$work/finds"
if command -v groff >/dev/null 2>&1; then
    groff -ww -man -Tascii "$page" 2>&1 >"$work/page.txt" | cat >"$work/finds"
    report "groff warns of nothing" "$work/finds"
else
    skip "groff warns of nothing" groff
fi
if command -v man >/dev/null 2>&1; then
    MANWIDTH=80 man --warnings -l "$page" 2>&1 >/dev/null </dev/null | cat >"$work/finds"
    report "man warns of nothing" "$work/finds"
else
    skip "man warns of nothing" man
fi
if command -v mandoc >/dev/null 2>&1; then
    mandoc -Tlint -Wwarning "$page" >"$work/finds" 2>&1
    report "mandoc warns of nothing" "$work/finds"
else
    skip "mandoc warns of nothing" mandoc
fi

# --- bash: what is offered behind some words -------------------------------------------------------
"$program" completion bash >"$work/gpuplan.bash"
mkdir -p "$work/place/runs of may" && : >"$work/place/a.db" && : >"$work/place/b.yaml" &&
    : >"$work/place/c.json" && : >"$work/place/d.csv"

# offers NAME WANTED WORD...: the offers for the last word, sorted, in one line.
offers() {
    name=$1 wanted=$2
    shift 2
    got=$(cd "$work/place" && bash --norc -c '
        source ../gpuplan.bash || exit 1
        COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
        _gpuplan
        [ "${#COMPREPLY[@]}" -eq 0 ] || printf "%s\n" "${COMPREPLY[@]}"' bash "$@" 2>&1 | sort | tr '\n' ' ')
    [ "$got" = "$wanted" ] || echo "$* -> '$got', wanted '$wanted'" >"$work/finds"
    [ "$got" != "$wanted" ] || : >"$work/finds"
    report "bash: $name" "$work/finds"
}
if command -v bash >/dev/null 2>&1; then
    offers "a command" "run " gpuplan ru
    offers "commands of one letter" "compare completion " gpuplan com
    offers "the program's own options" "--help --version " gpuplan --
    offers "options of run" "--replicas --resume " gpuplan run --re
    offers "an option behind operands" "--brief " gpuplan compare a.db --br
    offers "scenarios and folders" "b.yaml c.json runs of may " gpuplan run ""
    offers "a scenario by its first letter" "b.yaml " gpuplan check b
    offers "a database as operand" "a.db " gpuplan digest a
    offers "a database as value" "a.db runs of may " gpuplan run b.yaml -o ""
    offers "a value behind =" "a.db runs of may " gpuplan run b.yaml --output =
    offers "the start of a value behind =" "a.db " gpuplan run b.yaml --output = a
    offers "nothing for a number" "" gpuplan run b.yaml --jobs ""
    offers "words of trace" "convert " gpuplan trace con
    offers "files of trace" "d.csv " gpuplan trace info d
    offers "kinds of plots" "stall " gpuplan plot a.db st
    offers "folders alone" "runs of may " gpuplan plot a.db --output ""
    offers "kinds of completion" "bash man zsh " gpuplan completion ""
    offers "nothing behind an unknown command" "" gpuplan frobnicate x
else
    skip "bash" bash
fi

# --- zsh -------------------------------------------------------------------------------------------
"$program" completion zsh >"$work/_gpuplan"
: >"$work/finds"
head -n 1 "$work/_gpuplan" | grep -qx '#compdef gpuplan' || echo "no #compdef" >"$work/finds"
report "zsh: the function names its command" "$work/finds"
if command -v zsh >/dev/null 2>&1; then
    zsh -f -n "$work/_gpuplan" >"$work/finds" 2>&1
    report "zsh: syntax" "$work/finds"
else
    skip "zsh: syntax" zsh
fi

# --- installation ----------------------------------------------------------------------------------
root=$PWD/$work/root
case $work in /*) root=$work/root ;; esac
{
    make -s BUILD="$BUILD" DESTDIR="$root" install </dev/null 2>&1 >/dev/null
    for file in bin/gpuplan share/man/man1/gpuplan.1 share/bash-completion/completions/gpuplan \
        share/zsh/site-functions/_gpuplan share/gpuplan/models/catalog/servers.yaml; do
        [ -s "$root/usr/local/$file" ] || echo "$file is not installed"
    done
    cmp "$page" "$root/usr/local/share/man/man1/gpuplan.1" 2>&1
} >"$work/finds"
report "make install" "$work/finds"
{
    make -s BUILD="$BUILD" DESTDIR="$root" uninstall </dev/null 2>&1 >/dev/null
    find "$root" -type f
} >"$work/finds"
report "make uninstall leaves no file" "$work/finds"

line="$passed passed, $failed failed"
[ "$skipped" -eq 0 ] || line="$line, $skipped skipped"
echo "$line"
[ "$failed" -eq 0 ]
