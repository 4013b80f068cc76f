#!/usr/bin/env bash
# Runs a command in every module that has packages: scripts/each-module.sh go vet ./...
set -euo pipefail
cd "$(dirname "$0")/.."
root=$PWD
status=0
while IFS= read -r module; do
	cd "$root/${module%go.mod}"
	# A module without packages only pins tools. One that cannot be listed is
	# broken, and the command will say how.
	if packages=$(go list ./... 2>/dev/null) && [[ -z $packages ]]; then continue; fi
	"$@" || status=1
done < <(find . \( -name testdata -o -name '.?*' -o -name node_modules \) -prune -o -name go.mod -print | sort)
exit "$status"
