#!/usr/bin/env bash
# The published package as a user gets it: packed, installed in an empty folder with a space and an umlaut in its
# name, and used there; `init --vitest` with `npm test`; and the example repository of the documents.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
tarball=$(cd "$root" && npm pack --silent --pack-destination "$folder" --ignore-scripts | tail -n 1)
files=$(tar -tzf "$folder/$tarball" | wc -l)
echo "packed: $files files, $(($(wc -c <"$folder/$tarball") / 1024)) KiB"
install() { npm install --silent --no-audit --no-fund "$@"; }

echo '=== the command line'
mkdir "$folder/a user's trainer ü"
cd "$folder/a user's trainer ü"
echo '{ "private": true, "type": "module" }' >package.json
install --save-dev "$folder/$tarball"
npx lossproof --version
npx lossproof init
npx lossproof doctor
npx lossproof check --cases 20
npx lossproof demo count-as-position | tail -n 3
# It loads its SDK, and ends with its input.
npx lossproof mcp </dev/null

echo '=== the callback, in a training script'
cat >train.py <<'EOF'
from lossproof.callback import watch

with watch() as monitor:
    for step in range(1, 60):
        monitor.log(step, loss=3 / step if step < 50 else float("nan"))
print("found", *sorted(finding["id"] for finding in monitor.findings))
EOF
PYTHONPATH=node_modules/lossproof/src/python python3 train.py | grep 'found.*monitor/finite-training'
npx lossproof report --markdown - | grep -q finite-training

echo '=== the library'
cat >library.mjs <<'EOF'
import { objectTrainer, properties, run } from 'lossproof';
import { properties as alone } from 'lossproof/properties';
if (properties.length === 0 || alone !== properties) throw new Error('the library has no properties');
if (typeof run !== 'function' || typeof objectTrainer !== 'function') throw new Error('the library is empty');
EOF
node library.mjs

echo '=== the types, in a strict program that looks into every declaration'
mkdir "$folder/strict types ü"
cd "$folder/strict types ü"
echo '{ "private": true, "type": "module" }' >package.json
install --save-dev "$folder/$tarball" "typescript@$(cd "$root" && npm pkg get devDependencies.typescript | tr -d '"')"
cat >library.ts <<'EOF'
import { type Config, defineConfig, defineProperty, fc, objectTrainer, openTrainer, run } from 'lossproof';
import { properties } from 'lossproof/properties';
export const config: Config = defineConfig({ cases: 5, level: 'must' });
export const ids: readonly string[] = properties.map(({ id }) => id);
export { defineProperty, fc, objectTrainer, openTrainer, run };
EOF
cat >trainer.test.ts <<'EOF'
import { testTrainer } from 'lossproof/vitest';
import { expect } from 'vitest';
testTrainer({ cases: 5 });
export const holds: Promise<void> = expect('python3 adapter.py').toHold('mask/*');
EOF
# $1: the program, $2: the global types that it has.
compile() {
  npx tsc --ignoreConfig --noEmit --strict --exactOptionalPropertyTypes --noUncheckedIndexedAccess --skipLibCheck false \
    --target es2023 --lib es2023 --module nodenext --types "$2" "$1"
}
# The library needs no types but the language's: neither Node's nor a browser's.
compile library.ts ''
# vitest's own declarations need Node's.
install --save-dev "vitest@$(cd "$root" && npm pkg get devDependencies.vitest | tr -d '"')" \
  "@types/node@$(cd "$root" && npm pkg get 'devDependencies.@types/node' | tr -d '"')"
compile trainer.test.ts node

echo '=== init --vitest'
mkdir "$folder/tests for a trainer ü"
cd "$folder/tests for a trainer ü"
echo '{ "private": true, "type": "module" }' >package.json
install --save-dev "$folder/$tarball"
npx lossproof init --vitest
install
npm test
# A fault must be seen, or the green above says nothing.
sed -i.bak 's/\[0\] \* prompt_width + \[1\] \* len(ids)/[0] * (prompt_width - 1) + [1] * (len(ids) + 1)/' adapter.py
if npm test >broken.txt 2>&1; then
  echo 'npm test is green with a mask that begins one token early' >&2
  exit 1
fi
grep -q 'mask/prompt-is-never-trained' broken.txt

echo '=== the example repository'
cp -r "$root/docs/example" "$folder/an example ü"
cd "$folder/an example ü"
rm -rf node_modules package-lock.json .lossproof
npm pkg set "devDependencies.lossproof=file:$folder/$tarball"
install
npm test
npx tsc --noEmit

# What a release must not carry along; the example and the list of names are linked from its documents.
if tar -tzf "$folder/$tarball" | grep -vE '/docs/example/[a-z]+\.test\.ts$|/test/library/names\.txt$' |
  grep -E '__pycache__|\.test\.|/test/|dist/scripts|node_modules|\.lossproof/|docs/example/package-lock'; then
  echo 'the package holds files that it should not' >&2
  exit 1
fi
