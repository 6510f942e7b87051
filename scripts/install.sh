#!/bin/sh
# install.sh - copies the program, its data, man page and completions below $DESTDIR$PREFIX; called by make.
# --uninstall takes them away again.
set -eu
cd "$(dirname "$0")/.."
BUILD=${BUILD:-build}
root=${DESTDIR:-}${PREFIX:-/usr/local}
man=$root/share/man/man1/gpuplan.1
bash=$root/share/bash-completion/completions/gpuplan
zsh=$root/share/zsh/site-functions/_gpuplan

if [ "${1:-}" = --uninstall ]; then
    rm -f "$root/bin/gpuplan" "$man" "$bash" "$zsh"
    rm -rf "$root/share/gpuplan"
    exit
fi
install -D -m 755 "$BUILD/gpuplan" "$root/bin/gpuplan"
for file in models/catalog/*.yaml scripts/plots/*; do
    install -D -m 644 "$file" "$root/share/gpuplan/$file"
done
mkdir -p "${man%/*}" "${bash%/*}" "${zsh%/*}"
"$BUILD/gpuplan" completion man >"$man"
"$BUILD/gpuplan" completion bash >"$bash"
"$BUILD/gpuplan" completion zsh >"$zsh"
chmod 644 "$man" "$bash" "$zsh"
