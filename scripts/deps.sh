#!/usr/bin/env bash
# Installs what the tests need and this machine lacks.
#
#   scripts/deps.sh          as root on Debian: all of it; otherwise prints the one
#                            line that does, and exits 1
#   scripts/deps.sh --user   only what goes into the user's cache folder
set -euo pipefail
cd "$(dirname "$0")/.."

say() { echo "deps: $*" >&2; }

if ! command -v go >/dev/null; then
	say "Go is needed, at least $(sed -n 's/^go //p' go.mod): https://go.dev/dl/"
	exit 1
fi

# What is missing, as Debian packages.
missing=()
command -v make >/dev/null || missing+=(make)
postgres() {
	command -v initdb && command -v postgres && return
	local bin
	for bin in /usr/lib/postgresql/*/bin; do
		[[ -x $bin/initdb && -x $bin/postgres ]] && return
	done
	return 1
}
postgres >/dev/null || missing+=(postgresql)
command -v pgbouncer >/dev/null || [[ -x /usr/sbin/pgbouncer ]] || missing+=(pgbouncer)
command -v redis-server >/dev/null || command -v valkey-server >/dev/null || missing+=(redis-server)
# The race detector is a C library.
command -v cc >/dev/null || command -v gcc >/dev/null || missing+=(gcc libc6-dev)
# The second implementation of the key format, which checks the vectors, is in
# JavaScript. npm brings the one package that it is compared with.
vectors=key/testdata/node
peers() { [[ -d $vectors/node_modules/canonicalize ]]; }
command -v node >/dev/null || missing+=(nodejs)
# So is the DynamoDB that tests run on.
dynalite=store/dynamodb/testdata/dynalite
dynamodb() { [[ -d $dynalite/node_modules/dynalite ]]; }
{ peers && dynamodb; } || command -v npm >/dev/null || missing+=(npm)

status=0
if ((${#missing[@]})) && [[ ${1-} != --user ]]; then
	install="apt-get update && apt-get install -y --no-install-recommends ${missing[*]}"
	if [[ $(id -u) == 0 ]] && command -v apt-get >/dev/null; then
		say "installing ${missing[*]}"
		export DEBIAN_FRONTEND=noninteractive
		apt-get update -qq >&2 || say "apt-get update failed; trying with the package lists that are here"
		if ! apt-get -o DPkg::Lock::Timeout=300 install -yqq --no-install-recommends "${missing[@]}" >&2; then
			say "could not install ${missing[*]}"
			status=1
		fi
	elif command -v apt-get >/dev/null; then
		say "to install what is missing, run:"
		echo "sudo sh -c '$install'"
		status=1
	else
		say "to install what is missing, run your system's equal of:"
		echo "$install"
		status=1
	fi
elif ((${#missing[@]})); then
	say "missing, and tests that need it are skipped: ${missing[*]} (make deps)"
fi

if ! peers && command -v npm >/dev/null; then
	say "npm ci in $vectors"
	if ! npm ci --prefix "$vectors" --no-audit --no-fund --loglevel=error >&2; then
		say "the vectors will not be compared with canonicalize"
		[[ ${1-} == --user ]] || status=1
	fi
fi
if ! dynamodb && command -v npm >/dev/null; then
	say "npm ci in $dynalite"
	# Its scripts are for a database on disk, which the tests do without.
	if ! npm ci --prefix "$dynalite" --ignore-scripts --no-audit --no-fund --loglevel=error >&2; then
		say "store/dynamodb will not be tested"
		[[ ${1-} == --user ]] || status=1
	fi
fi

# The newest Temporal server has what the one for development does not have yet. Go
# builds it again only when something changed, and moves it into place in one step
# because it works in the same folder.
bin=${XDG_CACHE_HOME:-$HOME/.cache}/effectonce/bin
server=$bin/temporal-server132
mkdir -p "$bin"
[[ -x $server ]] || say "building Temporal server 1.32.1 once (some minutes)"
if GOTMPDIR=$bin GOFLAGS=-buildvcs=false GOWORK=off go build -C internal/server132 -o "$server" .; then
	say "Temporal server: $server"
else
	say "what needs Temporal server 1.32.1 will not be tested"
	[[ ${1-} == --user ]] || status=1
fi
# A Temporal server for development, built with Go if there is none.
cli=$(go run ./internal/temporalcli/ensure)
say "Temporal CLI: $cli"
exit "$status"
