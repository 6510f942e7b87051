#!/bin/sh
# lint.sh - the rules of the code that a machine can check; one line per check, ok or FAILED.
#
# Needs the objects of a build in $BUILD. Last line: N passed, N failed[, N skipped].
set -u
cd "$(dirname "$0")/.." || exit 1
export LC_ALL=C
BUILD=${BUILD:-build}
work=$BUILD/lint
mkdir -p "$work" || exit 1
passed=0 failed=0 skipped=0

# report NAME FILE: the check passes when FILE, its list of findings, is empty.
report() {
    if [ -s "$2" ]; then
        failed=$((failed + 1))
        echo "FAILED $1: $(wc -l <"$2") finding(s)"
        head -n 25 "$2" | sed 's/^/       /'
    else
        passed=$((passed + 1))
        echo "ok     $1"
    fi
}

skip() {
    skipped=$((skipped + 1))
    echo "SKIPPED $1: $2 is not installed"
}

sources() { ls sim/*/*.[ch] models/*.[ch] 2>/dev/null; }
everything() { ls sim/*/*.[ch] models/*.[ch] tests/*.[ch] 2>/dev/null; }

# --- who may include whom: DESIGN 5; "x.h" after a layer opens that one header only ------------
layers="
base      base
spec      base spec
models    base models
engine    base engine
cluster   base spec models cluster
policy    base spec models cluster policy
ledger    base spec models cluster ledger
network   base spec models engine network
handlers  base spec models engine cluster policy ledger network handlers
io        base spec io models/mig.h ledger/results.h ledger/accounts.h
campaign  base spec models engine cluster policy ledger network handlers io campaign
report    base models report spec/fabric.h io/store_read.h io/store_curves.h io/store_jobs.h io/store_detail.h ledger/accounts.h
cli       base spec models engine cluster policy ledger network handlers io campaign report cli
"
check_layers() {
    sources | xargs awk -v layers="$layers" '
        BEGIN {
            rows = split(layers, row, "\n")
            for (i = 1; i <= rows; i++) {
                words = split(row[i], word, " ")
                if (words) known[word[1]] = 1
                for (j = 2; j <= words; j++) may[word[1] " " word[j]] = 1
            }
        }
        FNR == 1 { parts = split(FILENAME, part, "/"); layer = part[parts - 1] }
        /^#include "/ {
            split($0, quoted, "\"")
            header = quoted[2]
            target = header
            sub("/.*", "", target)
            if (!(layer in known)) print FILENAME ":" FNR ": the layer " layer " is not in the table"
            else if (index(header, "/") == 0) print FILENAME ":" FNR ": " header " names no layer"
            else if (!((layer " " target) in may) && !((layer " " header) in may))
                print FILENAME ":" FNR ": " layer " may not include " header
        }'
}

# --- libyaml and SQLite each live behind one file; threads and GSL in their layer ----------------
check_borders() {
    for header in yaml.h sqlite3.h; do
        users=$(grep -lE "^#include <$header>" $(sources))
        [ "$(printf '%s\n' "$users" | grep -c .)" -le 1 ] || printf "$header in %s\n" $users
        printf '%s\n' "$users" | grep '\.h$'
    done
    grep -nE '^#include <(pthread|threads|stdatomic)\.h>' $(sources) | grep -v '^sim/campaign/'
    # main.c turns GSL's aborting error handler off; nothing else there uses it.
    grep -nE '^#include <gsl/' $(sources) | grep -v -e '^sim/report/' -e '^sim/cli/main\.c:'
    grep -nE '\bstrto(d|f|ld)[[:space:]]*\(' $(sources) | grep -v '^sim/base/quantity\.c:'
}

# --- what the objects below io may call: results must not depend on the C library's mathematics,
#     its sort, clock or random numbers ----------------------------------------------------------
check_symbols() {
    libm=$(${CC:-gcc} -print-file-name=libm.so.6)
    nm -D --defined-only "$libm" | awk '{ sub("@.*", "", $3); print $3 }' |
        grep -vxE 'sqrt|floor|ceil|fabs' >"$work/forbidden"
    printf '%s\n' qsort qsort_r bsearch rand rand_r srand random srandom drand48 lrand48 mrand48 \
        getrandom getentropy arc4random time clock clock_gettime gettimeofday times localtime \
        localtime_r gmtime gmtime_r mktime strftime setlocale strtod strtof strtold atof \
        __powidf2 >>"$work/forbidden"
    for object in "$BUILD"/sim/base/*.o "$BUILD"/sim/spec/*.o "$BUILD"/models/*.o \
        "$BUILD"/sim/engine/*.o "$BUILD"/sim/cluster/*.o "$BUILD"/sim/policy/*.o \
        "$BUILD"/sim/ledger/*.o "$BUILD"/sim/network/*.o "$BUILD"/sim/handlers/*.o; do
        [ -e "$object" ] || continue
        case $object in
            */sim/base/quantity.o) allowed='strtod' ;;      # the border where text becomes a number
            */sim/base/progress.o) allowed='clock_gettime|time' ;; # a progress line shows real time
            *) allowed='' ;;
        esac
        nm -u "$object" | awk '{ sub("@.*", "", $2); print $2 }' | sort -u >"$work/used"
        {
            grep -xFf "$work/forbidden" "$work/used"
            grep '^gsl_' "$work/used"
        } | grep -vxE "$allowed" | sed "s|^|${object#"$BUILD"/} calls |"
    done
}

# --- size: files up to 500 lines, functions up to 70, signature included --------------------------
check_sizes() {
    everything | xargs wc -l | awk '$2 != "total" && $1 > 500 { print $2 ": " $1 " lines" }'
    everything | grep '\.c$' | xargs awk '
        FNR == 1 { start = 0; open = 0 }
        /^[A-Za-z_].*\(/ && !open { start = FNR; name = $0 }
        /^\{/ && start { open = 1 }
        /^\}/ {
            if (open && FNR - start + 1 > 70)
                print FILENAME ":" start ": " FNR - start + 1 " lines: " name
            start = 0; open = 0
        }'
}

check_calls() {
    grep -nE '\b(strcpy|strcat|sprintf|vsprintf|gets|atoi|atol|atof|system|popen|alloca)[[:space:]]*\(' \
        $(sources)
}

check_marks() {
    grep -nE 'TO[D]O|FI[X]ME|\bXX[X]\b|not implemente[d]|placeholde[r]' $(everything) scripts/* Makefile \
        2>/dev/null
}

# Headers are left out: their members and comments stand in columns that are aligned by hand.
check_format() {
    everything | grep '\.c$' | xargs -n 64 clang-format --dry-run -Werror 2>&1 |
        grep -E '^[^ ]+:[0-9]+:[0-9]+: (error|warning)' | cut -d: -f1 | sort | uniq -c |
        awk '{ print $2 ": " $1 " places; clang-format -i " $2 }'
}

check_cppcheck() {
    mkdir -p "$work/cppcheck"
    # Style classes are left to people. zerodivcond: cppcheck takes the end of a table
    # for a zero in it; uninitvar: a buffer filled by a call among the arguments of the same call;
    # objectIndex: it takes a pointer into an array for the address of that pointer;
    # internalAstError: its parser gives up on initializers that hold a comma in a macro.
    cppcheck --quiet --std=c11 --language=c --enable=warning,portability,performance \
        --inline-suppr -j 2 -Isim -I. --max-configs=2 --cppcheck-build-dir="$work/cppcheck" \
        --suppress=zerodivcond --suppress=objectIndex --suppress=internalAstError \
        --suppress=uninitvar:sim/io/trace_write.c --suppress=preprocessorErrorDirective \
        --suppress=missingInclude --suppress=missingIncludeSystem \
        --suppress='*:/usr/include/*' --template='{file}:{line}: {id}: {message}' sim models 2>&1
}

check_shell() {
    for script in scripts/*.sh .ci/run; do
        sh -n "$script" 2>&1
    done
}

check_readmes() {
    for folder in . sim sim/* models models/catalog scenarios results scripts tests; do
        [ ! -d "$folder" ] || [ -e "$folder/README.md" ] || echo "$folder has no README.md"
    done
}

check_layers >"$work/layers";      report "include layers" "$work/layers"
check_borders >"$work/borders";    report "libraries behind their borders" "$work/borders"
if ls "$BUILD"/sim/base/*.o >/dev/null 2>&1; then
    check_symbols >"$work/symbols"
else
    echo "no objects in $BUILD: build first" >"$work/symbols"
fi
report "symbols below io" "$work/symbols"
check_sizes >"$work/sizes";        report "sizes of files and functions" "$work/sizes"
check_calls >"$work/calls";        report "no unsafe calls" "$work/calls"
check_marks >"$work/marks";        report "no unfinished marks" "$work/marks"
check_shell >"$work/shell";        report "shell syntax" "$work/shell"
check_readmes >"$work/readmes";    report "a README in every folder" "$work/readmes"
if command -v clang-format >/dev/null 2>&1; then
    check_format >"$work/format";  report "clang-format" "$work/format"
else
    skip "clang-format" clang-format
fi
if command -v cppcheck >/dev/null 2>&1; then
    check_cppcheck >"$work/cpp";   report "cppcheck" "$work/cpp"
else
    skip "cppcheck" cppcheck
fi

line="$passed passed, $failed failed"
[ "$skipped" -eq 0 ] || line="$line, $skipped skipped"
echo "$line"
[ "$failed" -eq 0 ]
