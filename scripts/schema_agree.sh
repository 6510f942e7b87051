#!/bin/sh
# schema_agree.sh - an independent validator and the parser judge 100 good and 100 bad scenarios alike.
#
# Needs Debian's python3-jsonschema and python3-yaml. Last line: N passed, N failed[, N skipped].
set -u
cd "$(dirname "$0")/.." || exit 1
export LC_ALL=C
BUILD=${BUILD:-build}
for python in python3 /usr/bin/python3; do
    if "$python" -c 'import jsonschema, yaml' >/dev/null 2>&1; then
        exec "$python" scripts/schema_agree.py "$BUILD/gpuplan" "$BUILD/schema-agree"
    fi
done
echo "SKIPPED schema against parser: python3-jsonschema or python3-yaml is not installed"
echo "0 passed, 0 failed, 1 skipped"
