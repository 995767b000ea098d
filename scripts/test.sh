#!/bin/sh
# All that must hold before a change goes in: sets the clone up, checks it, runs every test.
# Arguments go to vitest: `npm test -- src/core`.
set -eu

cd "$(dirname "$0")/.."
sh scripts/set-up.sh
PATH=$PWD/node_modules/.bin:$PATH
export PATH
npm run --silent verify
exec vitest run "$@"
