#!/usr/bin/env bash
# Every command that is to need no network, in a network namespace that has none, and under strace where there is one: a
# command that asks for a network and bears its absence would be found, too. Run from a checkout that was built.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
if [ "${1:-}" != inside ]; then
  # As root, or as a user to whom the kernel lets have namespaces.
  for way in "unshare --net" "unshare --map-root-user --net"; do
    if $way true 2>/dev/null; then exec $way bash "$0" inside; fi
  done
  echo "no-network: this machine gives no network namespace (unshare --net); nothing was proved" >&2
  exit 2
fi

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
lossproof() { node "$root/dist/src/cli/main.js" "$@"; }

# That there is none is seen, not believed: no interface but the loopback, which is down, and nobody can be reached.
interfaces=$(tail -n +3 /proc/net/dev | cut -d: -f1 | tr -d ' ' | sort | tr '\n' ' ')
[ "$interfaces" = "lo " ] || { echo "no-network: there are interfaces: $interfaces" >&2; exit 1; }
for address in 192.0.2.1 127.0.0.1; do
  node -e '
    const socket = require("node:net").connect(9, process.argv[1]);
    socket.on("connect", () => process.exit(1));
    socket.on("error", ({ code }) => process.exit(code === "ENETUNREACH" ? 0 : 1));
  ' "$address" || { echo "no-network: $address can be reached" >&2; exit 1; }
done

traced=
if command -v strace >/dev/null && strace -f -o probe -e trace=connect true 2>/dev/null; then traced=yes; fi
count=0
try() { # try EXIT-CODES COMMAND...
  local codes=$1 code=0
  shift
  if [ -n "$traced" ]; then
    strace -f -qq -o trace -e trace=connect,bind,sendto node "$root/dist/src/cli/main.js" "$@" >out 2>&1 || code=$?
    if grep -q AF_INET trace; then
      echo "no-network: lossproof $* asked for a network:" >&2
      grep -m 3 AF_INET trace >&2
      exit 1
    fi
  else
    lossproof "$@" >out 2>&1 || code=$?
  fi
  case " $codes " in
  *" $code "*) ;;
  *)
    echo "no-network: lossproof $* ended with $code, not $codes:" >&2
    tail -n 20 out >&2
    exit 1
    ;;
  esac
  count=$((count + 1))
  echo "ok: lossproof $*"
}

try 0 --version
try 0 --help
try 0 list
try 0 explain mask
try 0 init
try 0 doctor
try 0 check --cases 5 --only mask
try 0 check --bundled --cases 5 --only 'mask,kl' --html report.html --junit report.xml
try 0 report --html again.html
try 0 demo count-as-position
printf '%s\n' '{"messages": [{"role": "user", "content": "Hello."}, {"role": "assistant", "content": "Hi."}]}' >data.jsonl
try '0 1' view data.jsonl --tokenizer "$root/src/tokenizers/families/qwen"
printf '{"step": 1, "loss": 2.0}\n{"step": 2, "loss": 1.5}\n' >log.jsonl
try '0 1 2' monitor log.jsonl
try 0 golden record --bundled
try 0 golden check --bundled --only mask
try 0 golden accept --bundled mask/several-stops
try 0 profile --bundled
try 0 check --bundled --cases 5 --only mask --workers 2
for part in 1 2; do try 0 check --bundled --cases 5 --seed 1 --only mask --shard "$part/2"; done
try 0 merge
try 0 dataset hard.jsonl --form chat --rows 32 --tokenizer "$root/src/tokenizers/families/qwen"
# A case that fails, saved and run again; a function that is nearly that of an op, and the adapter of it; one change after the other.
try 1 check --cases 20 --only extract,mask -- env PYTHONPATH="$root/src/python" python3 -m lossproof.examples.faulty count-as-position
try 1 replay "$(basename "$(ls .lossproof/cases/*.json | head -n 1)" .json)"
printf '%s\n' 'def kl(logp, ref_logp):' '    return [[r - l for r, l in zip(*rows)] for rows in zip(ref_logp, logp)]' >estimate.py
try 1 discover estimate.py --write found.py
try 0 mutate --only mask --max-time 60 -- python3 adapter.py
try 0 session </dev/null
# A trace of a script that trained nothing: it is read, and has no verdict.
mkdir traced
printf '%s\n' '{"kind": "process", "trace": 1, "pid": 100, "rank": 0, "world": 1, "argv": ["train.py"], "python": "3.11.2", "started": "2026-03-01T09:30:00.000Z"}' >traced/0-100.ndjson
try 2 trace --from traced

echo "$count commands without a network${traced:+, and none asked for one}"
