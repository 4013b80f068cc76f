#!/usr/bin/env bash
# Runs the linter in every module. Its version is pinned, with checksums, by
# internal/tools/go.mod; it is built once into the user's cache folder.
set -euo pipefail
cd "$(dirname "$0")/.."

version=$(sed -n 's|^\s*github.com/golangci/golangci-lint/v2 \(v[^ ]*\).*|\1|p' internal/tools/go.mod)
bin=${XDG_CACHE_HOME:-$HOME/.cache}/effectonce/bin
# It has to be built with the Go version whose code it reads.
linter=$bin/golangci-lint-$version-$(go env GOVERSION)
if [[ ! -x $linter ]]; then
	echo "lint: building golangci-lint $version once (a minute or two)" >&2
	mkdir -p "$bin"
	new=$(mktemp "$bin/.golangci-lint-XXXXXX")
	trap 'rm -f "$new"' EXIT
	GOFLAGS='' GOWORK=off go build -C internal/tools -o "$new" github.com/golangci/golangci-lint/v2/cmd/golangci-lint
	mv "$new" "$linter"
fi

exec scripts/each-module.sh "$linter" run --allow-parallel-runners --config "$PWD/.golangci.yml" "$@" ./...
