# packages.sh - read by demo.sh and check.sh: the Debian packages, and how to get the missing ones.
#
# A machine that has them all needs no network: apt-get runs only when something is missing.

packages_build="gcc make libc6-dev libgsl-dev libyaml-dev libsqlite3-dev libjansson-dev libcsv-dev
    zlib1g-dev libzstd-dev libxxhash-dev uthash-dev"
packages_run="gnuplot-nox fonts-dejavu-core"
packages_test="libcmocka-dev"
# A check whose tool is missing says so and is skipped.
packages_tools="clang libclang-rt-14-dev clang-format cppcheck python3 python3-yaml python3-jsonschema
    librsvg2-bin locales sqlite3 zsh man-db"

# Prints those of its arguments that are not installed.
packages_missing() {
    for package in "$@"; do
        # shellcheck disable=SC2016
        state=$(dpkg-query -W -f '${db:Status-Abbrev}' "$package" 2>/dev/null) || state=
        case $state in ii*) ;; *) printf '%s\n' "$package" ;; esac
    done
}

# packages_install NEEDED WISHED: installs what is missing; fails when a needed one stays missing.
packages_install() {
    if ! command -v dpkg-query >/dev/null 2>&1; then
        echo "This is not a Debian system; the build needs the equivalents of:" $1 >&2
        return 0
    fi
    missing=$(packages_missing $1 $2)
    [ -n "$missing" ] || return 0
    if [ "$(id -u)" -eq 0 ]; then
        echo "installing:" $missing
        export DEBIAN_FRONTEND=noninteractive
        apt-get update -qq </dev/null ||
            echo "apt-get update failed; trying with the lists at hand" >&2
        apt-get install -y -qq --no-install-recommends $missing </dev/null >/dev/null ||
            for package in $missing; do # one that cannot be had must not keep the others out
                apt-get install -y -qq --no-install-recommends "$package" </dev/null >/dev/null ||
                    echo "could not install $package" >&2
            done
    fi
    missing=$(packages_missing $1)
    wished=$(packages_missing $2)
    [ -z "$wished" ] || echo "missing, so some checks are skipped:" $wished >&2
    [ -n "$missing" ] || return 0
    echo "missing packages:" $missing >&2
    echo "install them as root:  apt-get update && apt-get install" $missing >&2
    return 1
}
