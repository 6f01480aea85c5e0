// One call of a tool: `lossproof COMMAND` as a process of its own, as it is typed at a terminal. What it finds comes from the
// documents that the command writes; this file judges nothing.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pace } from '../../bounds.ts';
import { isJsonObject } from '../../outside/decoded.ts';
import { MOST_FILE_BYTES, readBytes, readEnd } from '../../outside/file.ts';
import { parseStrict } from '../../outside/json.ts';
import { type ChildExit, startChild } from '../../trainer/child.ts';
import { RING_BYTES, ring } from '../../trainer/ring.ts';
import type { Context } from '../context.ts';
import { TIED } from '../tied.ts';
import { type Given, type Tool, wordsOf } from './tools.ts';

export interface Ran {
  readonly exit: ChildExit;
  /** What the command wrote for programs; undefined where it ended before. */
  readonly document: unknown;
  /** The end of what it printed for people. */
  readonly printed: string;
}

export interface Progress {
  readonly progress: number;
  readonly total?: number;
  readonly message: string;
}

/** Runs it to its end, or until `signal`; then nothing of it lives any more. */
export async function runTool(
  tool: Tool,
  given: Given,
  { cwd, self }: Pick<Context, 'cwd'> & { readonly self: readonly string[] },
  { signal, tell }: { readonly signal: AbortSignal; readonly tell: (progress: Progress) => void },
): Promise<Ran> {
  const folder = mkdtempSync(join(tmpdir(), 'lossproof-mcp-'));
  const [findings, events] = [join(folder, 'findings.json'), join(folder, 'events.ndjson')];
  const [name = '', ...words] = wordsOf(tool, given);
  const outputs = [
    tool.document === 'json' ? '--json' : `--findings=${findings}`,
    ...(tool.events === true ? [`--events=${events}`] : []),
  ];
  const out = ring(tool.document === 'json' ? MOST_FILE_BYTES : RING_BYTES);
  const child = startChild(
    { command: [...self, name, ...outputs, ...words], cwd, env: { [TIED]: '1', NO_COLOR: '1' } },
    out.push,
  );
  child.endInput();
  const cancel = (): void => void child.kill();
  signal.addEventListener('abort', cancel);
  if (signal.aborted) cancel();
  let looks = 0;
  let told = 0;
  const look = setInterval(() => {
    looks++;
    const seconds = (looks * LOOK_MILLISECONDS) / 1000;
    const now =
      tool.events === true
        ? progressOf(readEnd(events, TAIL_BYTES))
        : { progress: seconds, message: `${name} has run for ${seconds} s` };
    // Clients refuse progress that stands still.
    if (now === undefined || now.progress <= told) return;
    told = now.progress;
    tell(now);
  }, LOOK_MILLISECONDS);
  try {
    const exit = await child.exited;
    const isJson = tool.document === 'json';
    const parsed = parseStrict(isJson ? out.text() : textOf(findings));
    // A traced script has standard output to itself; the verdict comes last.
    const printed = `${isJson ? '' : out.text()}${child.stderrTail()}`;
    return { exit, document: 'ok' in parsed ? parsed.ok : undefined, printed };
  } finally {
    clearInterval(look);
    signal.removeEventListener('abort', cancel);
    rmSync(folder, { recursive: true, force: true });
  }
}

// --- helpers ---

const LOOK_MILLISECONDS = pace(1_000);
/** Several events; the largest that is of use has a few hundred bytes. */
const TAIL_BYTES = 2 ** 18;

function textOf(file: string): string {
  const read = readBytes(file);
  return 'ok' in read ? read.ok.toString('utf8') : '';
}

/** How far the events have come: properties, and the cases of the one in hand. */
export function progressOf(events: string): Progress | undefined {
  let last: Progress | undefined;
  for (const line of events.split('\n')) {
    if (!/^\{"type":"(property-start|progress)"/.test(line)) continue;
    const parsed = parseStrict(line);
    if (!('ok' in parsed) || !isJsonObject(parsed.ok)) continue;
    const { type, id, index, done, total } = parsed.ok;
    if (type === 'property-start')
      last = { progress: Number(index), total: Number(total), message: `checking ${id}` };
    else if (last !== undefined)
      last = { ...last, progress: Math.floor(last.progress) + Number(done) / (Number(total) + 1) };
  }
  return last;
}
