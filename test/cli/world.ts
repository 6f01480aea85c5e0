// A world for commands: a fresh folder, captured output, one property, Ctrl-C as a function.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import fc from 'fast-check';
import { onTestFinished } from 'vitest';
import type { Property } from '../../src/check/property.ts';
import type { Context } from '../../src/cli/context.ts';
import { runProgram } from '../../src/cli/program.ts';

export interface World {
  readonly folder: string;
  readonly context: Context;
  readonly out: () => string;
  readonly err: () => string;
  /** Both, in the order in which they were written. */
  readonly both: () => string;
  /** `lossproof ...argv` in this world. */
  run(...argv: readonly string[]): Promise<number>;
  write(name: string, content: string): string;
  /** Ctrl-C. */
  interrupt(): void;
  /** The end of the job, as a launcher says it: SIGTERM. */
  terminate(): void;
  /** When a command is there to hear a Ctrl-C: a moment after its start, of which no clock knows. */
  listening(): Promise<void>;
  /** Codes that a command left at once with. */
  readonly exits: readonly number[];
}

export interface WorldOptions {
  readonly isTty?: boolean;
  readonly columns?: number;
  readonly env?: Context['env'];
  /** What is typed at each question; without them nobody sits at the terminal. */
  readonly answers?: readonly string[];
  /** Called after each write, with all that was written so far. */
  readonly onWrite?: (both: string, world: Pick<World, 'interrupt' | 'terminate'>) => void;
}

export function makeWorld(
  properties: readonly Property[] = [ADDS_NOTHING, DROPS_NOTHING],
  options: WorldOptions = {},
): World {
  // A space and letters outside ASCII: paths have them.
  const folder = mkdtempSync(join(tmpdir(), 'loss proof ü '));
  // What the user consents to is remembered outside of the folder.
  const state = `${folder} state`;
  onTestFinished(() => {
    for (const each of [folder, state]) rmSync(each, { recursive: true, force: true });
  });
  let out = '';
  let err = '';
  let both = '';
  const exits: number[] = [];
  const typed = options.answers === undefined ? undefined : [...options.answers];
  const callbacks = new Set<() => void>();
  const terminations = new Set<(signal: 'SIGTERM') => void>();
  const interrupt = (): void => {
    // A terminal echoes what is typed.
    if (options.isTty) both += '^C';
    for (const callback of callbacks) callback();
  };
  const terminate = (): void => {
    for (const callback of terminations) callback('SIGTERM');
  };
  const screen = (take: (text: string) => void): Context['out'] => ({
    write: (text) => {
      take(text);
      both += text;
      options.onWrite?.(both, { interrupt, terminate });
    },
    isTty: options.isTty ?? false,
    columns: options.columns ?? 100,
  });
  const context: Context = {
    cwd: folder,
    // The cases of a world are those of the test that made it: others each time, and with LOSSPROOF_SEED the same ones again.
    env: { LOSSPROOF_SEED: process.env.LOSSPROOF_SEED, XDG_STATE_HOME: state, ...options.env },
    out: screen((text) => {
      out += text;
    }),
    err: screen((text) => {
      err += text;
    }),
    properties: async () => properties,
    onInterrupt(callback) {
      callbacks.add(callback);
      return () => callbacks.delete(callback);
    },
    onTerminate(callback) {
      terminations.add(callback);
      return () => terminations.delete(callback);
    },
    exitNow: (code) => void exits.push(code),
    ...(typed === undefined
      ? {}
      : {
          ask: async (question) => {
            both += question;
            return typed.shift() ?? '';
          },
        }),
  };
  return {
    folder,
    context,
    out: () => out,
    err: () => err,
    both: () => both,
    run: (...argv) => runProgram(argv, context),
    write(name, content) {
      writeFileSync(join(folder, name), content);
      return join(folder, name);
    },
    interrupt,
    terminate,
    async listening() {
      while (callbacks.size === 0) await sleep(5);
    },
    exits,
  };
}

type Rows = readonly (readonly number[])[];

/** Collate must keep the ids of every row. */
export const DROPS_NOTHING: Property = rowProperty('collate/drops-nothing', 'must', (row, answered) =>
  row.every((id, at) => answered[at] === id) ? undefined : 'the ids are others',
);

export const ADDS_NOTHING: Property = rowProperty('mask/adds-nothing', 'should', (row, answered) =>
  answered.length >= row.length ? undefined : 'the row is shorter',
);

function rowProperty(
  id: string,
  level: Property['level'],
  judge: (row: readonly number[], answered: readonly number[]) => string | undefined,
): Property {
  return {
    id,
    title: 'A row stays what it is.',
    stage: 'collate',
    level,
    why: 'It would be another row.',
    catches: [],
    ops: ['collate'],
    given: () =>
      fc.array(fc.array(fc.nat(50), { minLength: 1, maxLength: 6 }), { minLength: 1, maxLength: 3 }),
    async check(subject, given) {
      const rows = given as Rows;
      const { input_ids } = await subject.ask('collate', { input_ids: rows, labels: rows, pad_token_id: 0 });
      for (const [row, ids] of rows.entries()) {
        const wrong = judge(ids, input_ids[row] ?? []);
        if (wrong !== undefined) return { kind: 'row', sentence: `In row ${row} ${wrong}.` };
      }
      return undefined;
    },
  };
}

/** An adapter of plain Python whose collate is `expression` of `rows`, padded on the right. */
export function pythonCollate(expression = 'rows', before = ''): string {
  return `
import json, sys
${before}
for line in sys.stdin:
    request = json.loads(line)
    if request["op"] == "hello":
        ok = {"protocol": 1, "name": "tiny", "ops": {"collate": {}}}
    else:
        rows = request["args"]["input_ids"]
        width = max(map(len, rows))
        pad = request["args"]["pad_token_id"]
        ids = [row + [pad] * (width - len(row)) for row in ${expression}]
        real = [[1] * len(row) + [0] * (width - len(row)) for row in rows]
        labels = [row + [-100] * (width - len(row)) for row in rows]
        ok = {"input_ids": ids, "attention_mask": real, "labels": labels}
    print(json.dumps({"id": request["id"], "ok": ok}), flush=True)
`;
}

/** 30 comes back as 31. */
export const WRONG = '[[31 if id == 30 else id for id in row] for row in rows]';
