// One cell of the table of exit codes: a command in a folder that has what it needs, under a condition that is none of its doing.
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { MAIN } from '../../../scripts/misbehaving/measure.ts';
import { writeScript } from '../trace/traced-script.ts';
import { pythonCollate } from '../world.ts';
import { type Condition, ONE, RIGHT, type Stated, WRONG } from './stated.ts';

export interface Seen {
  /** `hangs`: it was killed. */
  readonly code: number | string | null;
  readonly text: string;
  /** What is wrong beside the code. */
  readonly wrong: readonly string[];
}

/** Milliseconds after which a command is taken for one that never ends. */
const LONG = 300_000;

const PRECIOUS = 'precious';
const OWN = '.lossproof';
/** What a terminal would obey, and a CI job. */
const HOSTILE_HOST = 'evil\u001b]52;c;eA==\u0007\u001b[2J\n::error::x';

/** A trainer that `mutate` can change. */
const CHANGEABLE = `
import lossproof
from trainer import padded

def collate(input_ids, labels, pad_token_id):
    width = max(map(len, input_ids))
    real = [[1] * len(row) for row in input_ids]
    return {
        "input_ids": padded(input_ids, width, pad_token_id),
        "attention_mask": padded(real, width, 0),
        "labels": padded(labels, width, -100),
    }

lossproof.serve(name="tiny", ops={"collate": collate})
`;

/** A trainer of which `profile` can tell something. */
const MEASURABLE = `
import lossproof

def kl(logprobs, ref_logprobs):
    return {"kl": [[one - other for one, other in zip(*rows)] for rows in zip(logprobs, ref_logprobs)]}

lossproof.serve(name="tiny", ops={"kl": kl})
`;

/** A folder in which each of the commands has what it needs; `remove` it. */
export async function prepared(): Promise<string> {
  const folder = emptyFolder();
  const write = (name: string, text: string): string => {
    writeFileSync(join(folder, name), text);
    return join(folder, name);
  };
  write(PRECIOUS, 'mine');
  write('right.py', pythonCollate());
  write('wrong.py', pythonCollate('[row[:-1] for row in rows]'));
  write('adapter.py', CHANGEABLE);
  write(
    'trainer.py',
    'def padded(rows, width, by):\n    return [row + [by] * (width - len(row)) for row in rows]\n',
  );
  write('measurable.py', MEASURABLE);
  write('mine.py', 'def kl(logprobs, ref_logprobs):\n    return logprobs\n');
  write('rows.jsonl', '{"input_ids": [1, 2, 3], "labels": [-100, 2, 3]}\n');
  const steps = [1, 2, 3, 4].map((step) => `{"step": ${step}, "loss": ${step === 1 ? '1' : 'NaN'}}\n`);
  write('log.jsonl', steps.join(''));
  // Both sides of 400 tokens agree.
  const tokens = Array.from({ length: 20 }, (_, at) => at + 3);
  const rollout = JSON.stringify({
    prompt_ids: [1, 2],
    completion_ids: tokens,
    rollout_log_probs: tokens.map((id) => -1 / id),
    old_log_probs: tokens.map((id) => -1 / id),
  });
  write('rollouts.jsonl', `${rollout}\n`.repeat(30));
  writeScript({ folder, write });
  for (const [words, trainer] of [
    [
      ['mutate', '--only', 'collate', '--cases', '5', '--seed', '3'],
      ['python3', 'adapter.py'],
    ],
    [['check', '--shard', '1/1', ...ONE], WRONG],
    [['check', ...ONE], WRONG],
    [['golden', 'record'], RIGHT],
  ] as const)
    await ran(folder, [...words, '--', ...trainer], 'none');
  return folder;
}

export async function seenIn(folder: string, stated: Stated, condition: Condition): Promise<Seen> {
  const cwd = emptyFolder();
  cpSync(folder, cwd, { recursive: true });
  const [saved = ''] = readdirSync(join(cwd, OWN, 'cases')).filter((name) => name.endsWith('.json'));
  const more = condition === 'outputPipe' ? (stated.output?.words ?? []) : [];
  const words = [...stated.command.split(' '), ...stated.words, ...more].map((word) =>
    word === 'SAVED' ? saved.replace('.json', '') : word,
  );
  lay(cwd, stated, condition);
  const trainer = stated.trainer === undefined ? [] : ['--', ...stated.trainer];
  const { code, text } = await ran(cwd, [...words, ...trainer], condition);
  if (condition === 'readOnly') for (const each of foldersIn(cwd)) chmodSync(each, 0o755);
  const wrong = [
    ...(/this is a defect|node:internal/.test(text) ? ['it talks of a defect'] : []),
    ...(isObeyed(text) ? ['it prints what a terminal or a CI job obeys'] : []),
    ...(readFileSync(join(cwd, PRECIOUS), 'utf8') === 'mine' ? [] : ['it writes through a link']),
    ...(condition.startsWith('lock') || !existsSync(join(cwd, OWN, 'last-run.ndjson.lock'))
      ? []
      : ['it leaves a lock']),
  ];
  rmSync(cwd, { recursive: true, force: true });
  return { code, text, wrong };
}

const isObeyed = (text: string): boolean =>
  ['\u0007', '\u001b', '\n::'].some((each) => `\n${text}`.includes(each));

function lay(cwd: string, { output }: Stated, condition: Condition): void {
  const own = (readdirSync(join(cwd, OWN), { recursive: true }) as string[])
    .map((name) => join(cwd, OWN, name))
    .filter((path) => statSync(path).isFile());
  if (condition === 'ownPipe') for (const path of own) makePipe(path);
  if (condition === 'outputPipe' && output !== undefined) makePipe(join(cwd, output.at));
  if (condition === 'readOnly') for (const path of foldersIn(cwd)) chmodSync(path, 0o555);
  const lock = LOCKS[condition];
  const locked = [...own.filter((path) => path.endsWith('.ndjson')), join(cwd, 'out.ndjson')];
  if (lock !== undefined) for (const path of locked) lock(`${path}.lock`, cwd);
}

const LOCKS: Partial<Record<Condition, (path: string, cwd: string) => void>> = {
  lockFolder: (path) => mkdirSync(join(path, 'full'), { recursive: true }),
  lockLive: (path) => writeLock(path, process.pid, hostname()),
  lockDead: (path) => writeLock(path, spawnSync('true').pid, hostname()),
  lockElsewhere: (path) => writeLock(path, 1, HOSTILE_HOST),
  lockPipe: makePipe,
  lockLink: (path, cwd) => symlinkSync(join(cwd, PRECIOUS), path),
};

const writeLock = (path: string, pid: number, host: string): void =>
  writeFileSync(path, JSON.stringify({ pid, host }));

function makePipe(path: string): void {
  rmSync(path, { recursive: true, force: true });
  execFileSync('mkfifo', [path]);
}

function foldersIn(cwd: string): string[] {
  const inside = (readdirSync(cwd, { recursive: true }) as string[]).map((name) => join(cwd, name));
  return [cwd, ...inside.filter((path) => statSync(path).isDirectory())];
}

/** By a shell, which alone can close a stream. */
const REDIRECTIONS: Partial<Record<Condition, string>> = {
  outClosed: '>&-',
  outFull: '>/dev/full',
  errFull: '2>/dev/full',
  inClosed: '<&-',
};

/** Root writes everywhere, unless it gives up the right to. */
const WITHOUT_RIGHTS = ['setpriv', '--bounding-set=-dac_override,-dac_read_search'];

function ran(
  cwd: string,
  words: readonly string[],
  condition: Condition,
): Promise<Pick<Seen, 'code' | 'text'>> {
  const isRoot = process.getuid?.() === 0;
  const first = condition === 'readOnly' && isRoot ? WITHOUT_RIGHTS : [];
  const script = `exec "$@" ${REDIRECTIONS[condition] ?? ''}`;
  const env: NodeJS.ProcessEnv = { ...process.env, NO_COLOR: '1' };
  if (condition === 'noHome') for (const name of HOMES) delete env[name];
  const child = spawn('sh', ['-c', script, 'sh', ...first, process.execPath, MAIN, ...words], { cwd, env });
  let text = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => {
      text += chunk.toString();
    });
  // Before the program has begun: its first word finds no reader.
  if (condition === 'readerGone') child.stdout.destroy();
  child.stdin.end();
  return new Promise((resolve) => {
    let hangs = false;
    const impatience = setTimeout(() => {
      hangs = true;
      child.kill('SIGKILL');
    }, LONG);
    child.on('close', (code, signal) => {
      clearTimeout(impatience);
      resolve({ code: hangs ? 'hangs' : (code ?? signal), text });
    });
  });
}

const HOMES = ['HOME', 'XDG_STATE_HOME', 'XDG_CONFIG_HOME', 'XDG_CACHE_HOME'];

function emptyFolder(): string {
  return mkdtempSync(join(tmpdir(), 'loss proof exits ü '));
}
