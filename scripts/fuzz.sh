#!/usr/bin/env bash
# Runs every fuzz test for a while: scripts/fuzz.sh 30s
set -euo pipefail
cd "$(dirname "$0")/.."
time=${1:-30s}
found=0
while IFS=: read -r file name; do
	found=1
	echo "fuzz: $name in $(dirname "$file") for $time"
	(cd "$(dirname "$file")" && go test -run '^$' -fuzz "^$name\$" -fuzztime "$time" .)
done < <(grep -roHE '^func Fuzz[A-Za-z0-9_]*' --include='*_test.go' . | sed 's/func //' | sort -u)
((found)) || echo "fuzz: there is no fuzz test"
