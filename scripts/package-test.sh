#!/usr/bin/env bash
# The published package as a user gets it: packed, installed in an empty folder with a space and an umlaut in its
# name, and used there.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
tarball=$(cd "$root" && npm pack --silent --pack-destination "$folder" --ignore-scripts | tail -n 1)
mkdir "$folder/a user's trainer ü"
cd "$folder/a user's trainer ü"
echo '{ "private": true, "type": "module" }' >package.json
npm install --silent --no-audit --no-fund "$folder/$tarball"
npx trainproof --version
npx trainproof init
npx trainproof doctor
npx trainproof check --cases 20
npx trainproof demo count-as-position | tail -n 3
printf "import { properties } from 'trainproof/properties';\nimport { objectTrainer, run } from 'trainproof';\nif (properties.length === 0 || typeof run !== 'function' || typeof objectTrainer !== 'function') throw new Error('the library is empty');\n" >library.mjs
node library.mjs
npm install --silent --no-audit --no-fund --save-dev vitest@4
printf "import { testTrainer } from 'trainproof/vitest';\ntestTrainer({ cases: 20 });\n" >trainer.test.ts
npx vitest run
# What a release must not carry along.
if tar -tzf "$folder/$tarball" | grep -E '__pycache__|\.test\.|/test/|dist/scripts'; then
  echo 'the package holds files that it should not' >&2
  exit 1
fi
