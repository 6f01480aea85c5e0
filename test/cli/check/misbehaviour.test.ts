// A trainer that fails in the middle of a run, through the whole harness: a verdict of its own, the other properties
// still judged, nothing left behind.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { properties } from '../../../properties/index.ts';
import { makeWorld } from '../world.ts';

/** Answers `extract` and `collate` rightly, except `extract` of a batch of three rows. */
const adapter = (misbehave: string): string => `
import json, os, signal, sys, time
with open("pids", "a") as file: file.write(f"{os.getpid()}\\n")
def pad(rows, fill):
    width = max(map(len, rows))
    return [row + [fill] * (width - len(row)) for row in rows]
for line in sys.stdin:
    request = json.loads(line)
    args = request["args"]
    if request["op"] == "hello":
        ok = {"protocol": 1, "name": "unreliable", "ops": {"extract": {}, "collate": {}}}
    elif request["op"] == "collate":
        ok = {"input_ids": pad(args["input_ids"], args["pad_token_id"]), "labels": pad(args["labels"], -100),
              "attention_mask": pad([[1] * len(row) for row in args["input_ids"]], 0)}
    else:
        if len(args["prompt_ids"]) == 3:
            ${misbehave}
        ok = {"completion_ids": args["sampled_ids"]}
    print(json.dumps({"id": request["id"], "ok": ok}), flush=True)
`;

const PROPERTIES = properties.filter(
  ({ id }) => id === 'extract/exact-under-left-padding' || id === 'collate/rows-survive',
);

async function checked(misbehave: string): Promise<{ code: number; out: string; living: number[] }> {
  const world = makeWorld(PROPERTIES);
  world.write('adapter.py', adapter(misbehave));
  const code = await world.run(
    'check',
    '--seed',
    '5',
    '--cases',
    '30',
    '--shrink-time',
    '2',
    '--op-timeout',
    '0.5',
    '--no-corpus',
    '--',
    'python3',
    'adapter.py',
  );
  const pids = readFileSync(join(world.folder, 'pids'), 'utf8').trim().split('\n').map(Number);
  return { code, out: world.out(), living: pids.filter(lives) };
}

function lives(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

test.each([
  ['kill -9', 'os.kill(os.getpid(), signal.SIGKILL)', /SIGKILL/],
  ['a hang', 'time.sleep(1000)', /did not answer|no answer/],
  ['a stray print', 'print("loading shard 3 of 7")', /loading shard 3 of 7/],
])(
  '%s is an error of its own, the other property is judged, and no process is left',
  async (_, misbehave, words) => {
    const { code, out, living } = await checked(misbehave);
    expect(out).toMatch(words);
    expect(out).toMatch(/! error +extract\/exact-under-left-padding/);
    expect(out).toMatch(/holds +collate\/rows-survive/);
    expect(out).not.toMatch(/fails/);
    expect(code).toBe(1);
    expect(living).toEqual([]);
  },
);
