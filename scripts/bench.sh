#!/usr/bin/env bash
# Runs benchmarks, as "make bench" does:
#
#   scripts/bench.sh canon  TIME [-rounds 10 -time 50ms]
#   scripts/bench.sh stores TIME [-c 1,8,64,256 -rounds 3 -seconds 2 -quiet 0.2 -slow -csv FILE -svg FILE]
#   scripts/bench.sh growth TIME [-growth 1000000 -purge 400000 -rounds 3]
#   scripts/bench.sh FOLDER TIME
#
# The first three compare with other programs, and print tables of ratios; TIME is
# for the benchmarks of a folder. Names of files must be absolute.
set -euo pipefail
cd "$(dirname "$0")/.."
what=$1 time=$2
shift 2
case $what in
canon)
	raw=$(mktemp)
	trap 'rm -f "$raw"' EXIT
	go -C internal/bench run ./canon -raw "$raw" "$@"
	echo "The same as benchstat has it, against canon:"
	echo
	go -C internal/tools tool benchstat -row .name,/size,/value \
		-col '/by@(canon jsontext gowebpki json.Valid sha256 json.Marshal)' -filter '.unit:sec/op' "$raw"
	;;
stores) go -C internal/bench test -run '^$' -bench Stores -benchtime 1x -timeout 0 ./stores -args "$@" ;;
growth) go -C internal/bench test -run '^$' -bench Growth -benchtime 1x -timeout 0 ./stores -args "$@" ;;
*) go test -run '^$' -bench . -benchmem -benchtime "$time" "./$what/..." ;;
esac
