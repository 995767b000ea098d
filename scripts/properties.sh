#!/bin/sh
# Tests whose cases are made up, with many more cases and from another seed each time: `npm run properties`, 20 times as many;
# `npm run properties -- 100 7`, 100 times as many, from seed 7; then paths, as vitest takes them.
set -eu

cd "$(dirname "$0")/.."
sh scripts/set-up.sh
PATH=$PWD/node_modules/.bin:$PATH
DROVER_TEST_TIMES=${1:-20}
DROVER_TEST_SEED=${2:-$(date +%s)}
export PATH DROVER_TEST_TIMES DROVER_TEST_SEED
[ $# -lt 2 ] || shift
[ $# -lt 1 ] || shift
echo "$DROVER_TEST_TIMES times as many cases, from seed $DROVER_TEST_SEED"
[ $# -gt 0 ] || set -- test/differential $(grep -rl --include='*.test.ts' 'set-up/made-up' src test)
exec vitest run --testTimeout=36000000 "$@"
