// `gap --model`: rows scored with a model folder in the user's Python, with progress. Ctrl-C keeps what was scored.
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { againstModel, type Scored, type SideName } from '../../gap/model.ts';
import type { Recorded, Rollout } from '../../gap/read/read.ts';
import type { Judged } from '../../report/gap/model.ts';
import { ERASE_LINE } from '../../report/terminal.ts';
import { plural } from '../../report/text/plural.ts';
import { shorten } from '../../report/text/visible.ts';
import { type Context, isProblem, type Problem } from '../context.ts';
import { watchInterrupts } from '../interrupt.ts';
import { findPython } from '../trainer/python.ts';
import { type Scorer, startScorer } from './scorer.ts';

export interface ModelOptions {
  readonly model?: string;
  readonly python?: string;
}

export interface ModelRun {
  readonly judged: Judged;
  /** The rows that were scored, with the model's side where files have none. */
  readonly rollouts: readonly Rollout[];
  readonly interrupted: boolean;
}

/** Before anything is read. */
export function modelProblem({ model, python }: ModelOptions, { cwd }: Context): Problem | undefined {
  if (model === undefined)
    return python === undefined
      ? undefined
      : { problem: '--python belongs to --model: name the model folder' };
  if (existsSync(join(resolve(cwd, model), 'config.json'))) return undefined;
  return { problem: `--model: ${model} is no model folder: it has no config.json` };
}

export async function scoreWithModel(
  rollouts: readonly Recorded[],
  options: ModelOptions & { readonly model: string; readonly missing?: SideName | undefined },
  context: Context,
): Promise<ModelRun | Problem> {
  const python = findPython(options.python, context);
  if (typeof python !== 'string') return python;
  const drawn = drawnFrom(rollouts);
  const usable = drawn.filter(({ prompt }) => prompt.length > 0);
  if (usable.length === 0) return { problem: '--model needs prompt ids: no row has any' };
  const scorer = startScorer(python, resolve(context.cwd, options.model), context.env);
  const interrupts = watchInterrupts(context);
  interrupts.begin();
  interrupts.onPatienceOver(() => void scorer.stop());
  const passed =
    (name: string) =>
    (done: number): void => {
      if (!context.err.isTty || context.env.TERM === 'dumb') return;
      const text = `${options.model} in ${name}: ${done} of ${plural(usable.length, 'row')}`;
      context.err.write(`${ERASE_LINE}${shorten(text, context.err.columns - 1)}`);
    };
  try {
    const loaded = await load(scorer, 'float32');
    if (isProblem(loaded)) return failed(options.model, loaded);
    if (!usable.some((row) => isWithin(row, loaded.vocab)))
      return {
        problem: `--model: every row has ids beyond the ${loaded.vocab} of ${options.model}: it has another vocabulary than the rows`,
      };
    const exact = await pass(scorer, usable, loaded.vocab, {
      told: passed('float32'),
      signal: interrupts.signal,
    });
    if (isProblem(exact)) return failed(options.model, exact);
    const declared = interrupts.signal.aborted ? loaded : await load(scorer, 'auto');
    if (isProblem(declared) && !interrupts.signal.aborted) return failed(options.model, declared);
    const dtype = isProblem(declared) ? 'float32' : declared.dtype;
    const rounded =
      dtype === 'float32'
        ? []
        : await pass(scorer, usable, loaded.vocab, { told: passed(dtype), signal: interrupts.signal });
    if (isProblem(rounded)) return failed(options.model, rounded);
    const scored = usable.flatMap((rollout, at): Scored[] => {
      const [model, other] = [exact[at]?.logprobs, rounded[at]?.logprobs];
      const flipped = flippedIn(exact[at]?.routes, rounded[at]?.routes);
      return model === undefined
        ? []
        : [
            {
              rollout: filled(rollout, model, options.model),
              model,
              ...(other === undefined ? {} : { declared: other }),
              ...(flipped === undefined ? {} : { flipped }),
            },
          ];
    });
    const against = againstModel(scored, options.missing);
    if ('complaint' in against) return { problem: `--model: ${against.complaint}` };
    const left = leftOut(rollouts.length, scored.length);
    return {
      judged: {
        against,
        scoring: {
          folder: options.model,
          dtype,
          device: loaded.device,
          ...(left === undefined ? {} : { left }),
        },
      },
      rollouts: scored.map(({ rollout }) => rollout),
      interrupted: interrupts.signal.aborted,
    };
  } finally {
    if (context.err.isTty && context.env.TERM !== 'dumb') context.err.write(ERASE_LINE);
    interrupts.dispose();
    await scorer.stop();
  }
}

// --- helpers ---

/** Twice what names a cause; a small model on a CPU takes a minute for it. */
const MOST_ROWS = 400;
/** Neighbours share a prompt, which makes a temperature exact. */
const NEIGHBOURS = 8;
/** Of a request: often enough to show progress, and to stop. */
const ROWS_PER_REQUEST = 8;

/** With the model in place of a side that the row does not have. */
function filled(row: Recorded, model: Float64Array, folder: string): Rollout {
  const { sampling = model, trainer = model, names } = row;
  const name = `${folder} in float32`;
  return { ...row, sampling, trainer, names: { sampling: name, trainer: name, ...names } };
}

/** Runs of neighbours, evenly over the file. */
function drawnFrom(rollouts: readonly Recorded[]): readonly Recorded[] {
  if (rollouts.length <= MOST_ROWS) return rollouts;
  const step = Math.ceil(rollouts.length / (MOST_ROWS / NEIGHBOURS));
  return rollouts.filter((_, at) => at % step < NEIGHBOURS);
}

interface Loaded {
  readonly dtype: string;
  readonly device: string;
  readonly vocab: number;
}

async function load(scorer: Scorer, dtype: 'float32' | 'auto'): Promise<Loaded | Problem> {
  const answer = await scorer.ask({ load: dtype });
  if (isProblem(answer)) return answer;
  const { dtype: own, device, vocab } = answer as Readonly<Record<string, unknown>>;
  if (typeof own !== 'string' || typeof device !== 'string' || typeof vocab !== 'number')
    return { problem: 'its answer cannot be read' };
  return { dtype: own, device, vocab };
}

interface Passing {
  readonly told: (done: number) => void;
  readonly signal: AbortSignal;
}

interface Pass {
  readonly logprobs: Float64Array | undefined;
  /** Of a mixture of experts, a number for those that each token went to. */
  readonly routes: readonly number[] | undefined;
}

/** Of each row its log-probabilities; undefined where it has none, or was not reached. */
async function pass(
  scorer: Scorer,
  rows: readonly Recorded[],
  vocab: number,
  { told, signal }: Passing,
): Promise<readonly Pass[] | Problem> {
  const found: Pass[] = [];
  for (let from = 0; from < rows.length && !signal.aborted; from += ROWS_PER_REQUEST) {
    const batch = rows.slice(from, from + ROWS_PER_REQUEST);
    const known = batch.filter((row) => isWithin(row, vocab));
    const answer =
      known.length === 0
        ? { logprobs: [] }
        : await scorer.ask({ rows: known.map(({ prompt, ids }) => [prompt, ids]) });
    if (isProblem(answer)) {
      if (signal.aborted) break;
      return answer;
    }
    const { logprobs, routes } = answer as { readonly logprobs?: unknown; readonly routes?: unknown };
    const lists = Array.isArray(logprobs) ? logprobs : [];
    const ways = Array.isArray(routes) ? routes : [];
    let next = -1;
    for (const row of batch) {
      const isKnown = isWithin(row, vocab);
      if (isKnown) next++;
      found.push({
        logprobs: isKnown ? numbersOf(lists[next], row) : undefined,
        routes: isKnown && Array.isArray(ways[next]) ? (ways[next] as readonly number[]) : undefined,
      });
    }
    told(found.length);
  }
  return found;
}

function isWithin({ prompt, ids }: Recorded, vocab: number): boolean {
  const inside = (id: number): boolean => id >= 0 && id < vocab;
  return prompt.every(inside) && ids.every(inside);
}

function numbersOf(value: unknown, { ids }: Recorded): Float64Array | undefined {
  if (!Array.isArray(value) || value.length !== ids.length) return undefined;
  const numbers = Float64Array.from(value as readonly number[]);
  return numbers.every(Number.isFinite) ? numbers.map((each) => Math.min(0, each)) : undefined;
}

function flippedIn(
  one: readonly number[] | undefined,
  other: readonly number[] | undefined,
): Uint8Array | undefined {
  if (one === undefined || other === undefined) return undefined;
  return Uint8Array.from(one, (each, at) => (each === other[at] ? 0 : 1));
}

function leftOut(all: number, scored: number): string | undefined {
  if (scored === all) return undefined;
  return `${plural(all - scored, 'row')} not scored: at most ${MOST_ROWS} are, with prompt ids, and with ids within the vocabulary.`;
}

const failed = (folder: string, { problem }: Problem): Problem => ({
  problem: `--model: ${folder} could not be scored: ${problem.split('\n')[0] ?? ''}`,
});
