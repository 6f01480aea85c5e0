// How long the built command takes for what is meant to hang it, and how much memory: each misbehaving trainer, each hostile
// file, Ctrl-C in each command. `npm run measure:misbehaving -- --only files` takes one of the three, `--name deep` what is
// called so. Exit code 1 where a verdict is another than stated, or a limit is passed. On a busy machine it takes longer.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { readEvents } from '../../src/report/machine/ndjson.ts';
import { runsOf } from '../../src/report/runs.ts';
import { connect } from '../../src/trainer/connection.ts';
import { PACKAGE_ROOT } from '../../src/version.ts';
import { INTERRUPTIBLE } from '../../test/cli/interruptible.ts';
import { HOSTILE_FILES } from '../../test/outside/hostile-files.ts';
import {
  COLLATE,
  differences,
  EXTRACT,
  MISBEHAVING,
  TRAINER,
  WORDS,
} from '../../test/trainer/misbehaving.ts';
import { MAIN, type Measured, running } from './measure.ts';

const { values } = parseArgs({
  options: { only: { type: 'string', multiple: true }, name: { type: 'string' } },
});

/** Of one request to one process, behind its deadline. */
const MOST_BEHIND_DEADLINE = 1;
const MOST_FILE_SECONDS = 5;
const MOST_FILE_BYTES = 2 ** 30;
const MOST_INTERRUPTED_SECONDS = 2;
/** Seconds for a request where no deadline is stated, so that none is near. */
const FAR = 60;

interface Row {
  readonly name: string;
  readonly seconds: number;
  /** Of the processor. */
  readonly work?: number;
  readonly bytes: number;
  /** Of the first process alone, behind the deadline. */
  readonly behind?: number;
  readonly wrong: readonly string[];
}

async function inFolder<T>(work: (cwd: string) => Promise<T>): Promise<T> {
  const cwd = mkdtempSync(join(tmpdir(), 'loss proof misbehaving ü '));
  try {
    return await work(cwd);
  } finally {
    rmSync(cwd, { recursive: true, force: true });
  }
}

const trainers = (name: string): Promise<Row> =>
  inFolder(async (cwd) => {
    const stated = MISBEHAVING[name] ?? { code: 0 };
    const hello = stated.says?.includes('hello within') ? stated.deadline : undefined;
    const op = hello === undefined ? stated.deadline : undefined;
    const limits = [
      '--op-timeout',
      `${op ?? FAR}`,
      '--hello-timeout',
      `${hello ?? FAR}`,
      '--events',
      'events',
    ];
    const words = [
      'check',
      '--only',
      `${EXTRACT},${COLLATE}`,
      ...WORDS,
      ...limits,
      '--',
      'python3',
      TRAINER,
      name,
    ];
    const { code, seconds, bytes, text } = await running([MAIN, ...words], cwd, FAR * 10).ended;
    const wrong = differences(stated, { code, results: resultsIn(cwd), screen: text });
    const behind = await behindDeadline(name, { op: op ?? FAR, hello: hello ?? FAR });
    return {
      name,
      seconds,
      bytes,
      ...(behind === undefined ? {} : { behind }),
      wrong: [...wrong, ...limit('behind its deadline', behind ?? 0, MOST_BEHIND_DEADLINE)],
    };
  });

function resultsIn(cwd: string): ReturnType<typeof runsOf>[number]['results'] {
  try {
    return runsOf(readEvents(readFileSync(join(cwd, 'events'), 'utf8')).events).at(-1)?.results ?? [];
  } catch {
    return []; // it did not start
  }
}

/** One process is asked for the marked request; undefined where it answers, or ends by itself. */
async function behindDeadline(
  how: string,
  most: { readonly op: number; readonly hello: number },
): Promise<number | undefined> {
  if (MISBEHAVING[how]?.endsHarness) return undefined;
  return inFolder(async (cwd) => {
    const connection = connect({ command: ['python3', TRAINER, how], cwd });
    let begun = performance.now();
    const ask = (op: 'hello' | 'extract', args: object, seconds: number): Promise<'answered'> =>
      new Promise((resolve) => {
        begun = performance.now();
        const body = `"op":${JSON.stringify(op)},"args":${JSON.stringify(args)}`;
        connection.send({
          op,
          body,
          milliseconds: 1_000 * seconds,
          answered: () => resolve('answered'),
          failed: () => {},
        });
      });
    const rows = [[3], [4], [5]];
    const marked = { prompt_ids: rows, sampled_ids: rows, sequences: rows };
    const first = await Promise.race([ask('hello', {}, most.hello), connection.ended]);
    const last =
      first === 'answered' ? await Promise.race([ask('extract', marked, most.op), connection.ended]) : first;
    const behind =
      last !== 'answered' && last.ending.kind === 'hang'
        ? (performance.now() - begun - last.ending.milliseconds) / 1_000
        : undefined;
    await connection.close();
    return behind;
  });
}

const CHECKPOINT = pathToFileURL(join(PACKAGE_ROOT, 'dist', 'src', 'checkpoints', 'folder.js')).href;

const files = (name: string): Promise<Row> =>
  inFolder(async (cwd) => {
    const { write, read, says } = HOSTILE_FILES[name] ?? { write: () => {}, read: [], says: /./ };
    write(cwd);
    const [command, folder = ''] = read;
    const words =
      command === 'checkpoint'
        ? [
            '-e',
            `import(${JSON.stringify(CHECKPOINT)}).then((m) => console.log(m.readCheckpoint(process.argv[1])))`,
            folder,
          ]
        : [MAIN, ...read];
    const { code, signal, seconds, work, bytes, text } = await running(words, cwd).ended;
    return {
      name,
      seconds,
      work,
      bytes,
      wrong: [
        ...(code === null ? [`it was ended by ${signal}`] : []),
        ...(/this is a defect|node:internal/.test(text) ? [`it crashes: ${text.slice(-200)}`] : []),
        ...(says.test(text.replaceAll(/\s+/g, ' '))
          ? []
          : [`it does not say ${says}, but: ${text.slice(0, 300)}`]),
        ...limit('seconds of the processor', work || seconds, MOST_FILE_SECONDS),
        ...limit('MiB', bytes / 2 ** 20, MOST_FILE_BYTES / 2 ** 20),
      ],
    };
  });

const interrupts = (name: string): Promise<Row> =>
  inFolder(async (cwd) => {
    const { prepare, at, input } = INTERRUPTIBLE[name] ?? { prepare: () => [], at: () => true };
    const { child, text, ended } = running([MAIN, ...name.split(' '), ...prepare(cwd)], cwd);
    const gone = ended.then(() => true);
    let isGone = false;
    while (!isGone && !at(cwd, text())) isGone = (await Promise.race([gone, sleep(10)])) === true;
    const begun = performance.now();
    child.kill('SIGINT');
    if (input === 'ends') child.stdin?.end();
    const { code, signal, bytes }: Measured = await ended;
    const seconds = (performance.now() - begun) / 1_000;
    const isEnded = code === 130 || signal === 'SIGINT' || (input === 'ends' && code === 0);
    return {
      name,
      seconds,
      bytes,
      wrong: [
        ...(isEnded ? [] : [`it ended with ${signal ?? code}`]),
        ...limit('seconds', seconds, MOST_INTERRUPTED_SECONDS),
      ],
    };
  });

function limit(what: string, seen: number, most: number): string[] {
  return seen > most ? [`${seen.toFixed(1)} ${what}, at most ${most}`] : [];
}

const PARTS: readonly (readonly [string, readonly string[], (name: string) => Promise<Row>])[] = [
  ['trainers', Object.keys(MISBEHAVING), trainers],
  ['files', Object.keys(HOSTILE_FILES), files],
  ['interrupts', Object.keys(INTERRUPTIBLE), interrupts],
];

let wrong = 0;
for (const [part, names, measure] of PARTS) {
  if (values.only?.includes(part) === false) continue;
  const rows: Row[] = [];
  process.stdout.write(`${part}\n`);
  for (const name of names.filter((each) => values.name === undefined || each.includes(values.name))) {
    const row = await measure(name);
    rows.push(row);
    const behind = row.behind === undefined ? '' : `  ${row.behind.toFixed(2)} s behind its deadline`;
    const work = row.work === undefined ? '' : `  ${row.work.toFixed(1)} s of the processor`;
    const size = row.bytes === 0 ? '-' : `${(row.bytes / 2 ** 20).toFixed(0)} MiB`;
    process.stdout.write(
      `  ${name.padEnd(52)} ${row.seconds.toFixed(1).padStart(6)} s ${size.padStart(9)}${work}${behind}\n`,
    );
    for (const line of row.wrong) process.stdout.write(`    ! ${line}\n`);
  }
  const failed = rows.filter((row) => row.wrong.length > 0).length;
  wrong += failed;
  const most = (of: (row: Row) => number): number => Math.max(0, ...rows.map(of));
  const behind = most((row) => row.behind ?? 0);
  process.stdout.write(
    `${rows.length - failed} of ${rows.length} ${part} as stated; at most ${most(({ seconds }) => seconds).toFixed(1)} s, ${(most(({ bytes }) => bytes) / 2 ** 20).toFixed(0)} MiB${behind > 0 ? `, ${behind.toFixed(2)} s behind a deadline` : ''}\n\n`,
  );
}
process.exitCode = wrong > 0 ? 1 : 0;
