// What a run trains on what, as far as its log tells: runs of other tasks have other losses, and are not judged beside each
// other. Where the loss begins is not asked: that is what is to be found.
import type { RuleWorld } from '../../../src/index.ts';
import { kindOfRun, type RunKind } from '../run-kind.ts';
import { declaredNumber, declaredText } from '../world.ts';
import { paceOf } from './levels.ts';

export interface Task {
  /** Undefined: nothing tells; so for each. */
  readonly kind: RunKind | undefined;
  readonly model: string | undefined;
  readonly data: string | undefined;
  /** Sizes that a model has by its architecture. */
  readonly sizes: ReadonlyMap<string, number>;
  /** Rows of one pass over the data, for one device and without accumulation where these are not declared. */
  readonly rows: number | undefined;
  /** `rows` counts accumulation and devices. */
  readonly wholeRows: boolean;
}

export function taskOf(world: RuleWorld): Task {
  const batch = declaredNumber(
    world,
    'per_device_train_batch_size',
    'train_batch_size',
    'batch_size',
    'data.train_batch_size',
  );
  const steps = paceOf(world);
  const accumulated = declaredNumber(world, 'gradient_accumulation_steps');
  const devices = declaredNumber(world, 'world_size', 'n_gpu');
  return {
    kind: kindOfRun(world),
    model: nameIn(declaredText(world, ...MODELS)),
    data: nameIn(declaredText(world, ...DATA)),
    sizes: new Map(
      SIZES.flatMap((name) => {
        const size = declaredNumber(world, name);
        return size === undefined ? [] : [[name, size] as const];
      }),
    ),
    rows:
      batch === undefined || steps === undefined
        ? undefined
        : batch * steps * (accumulated ?? 1) * (devices ?? 1),
    wholeRows: accumulated !== undefined && devices !== undefined,
  };
}

/** A sentence; undefined where nothing tells them apart. */
export function differenceOfTasks(run: Task, baseline: Task): string | undefined {
  const { kind, model, data, rows } = run;
  if (kind !== undefined && baseline.kind !== undefined && kind !== baseline.kind)
    return `one is ${kind}, the other ${baseline.kind}.`;
  if (model !== undefined && baseline.model !== undefined && !isSame(model, baseline.model))
    return `one declares the model ${model}, the other ${baseline.model}.`;
  for (const [name, size] of run.sizes) {
    const other = baseline.sizes.get(name);
    if (other !== undefined && other !== size)
      return `one declares a model whose ${name} is ${size}, the other one of ${other}.`;
  }
  if (data !== undefined && baseline.data !== undefined && !isSame(data, baseline.data))
    return `one declares the data set ${data}, the other ${baseline.data}.`;
  if (rows === undefined || baseline.rows === undefined) return undefined;
  const times = Math.max(rows / baseline.rows, baseline.rows / rows);
  // Accumulation and devices that nobody declares come in powers of two.
  const hidden = !run.wholeRows || !baseline.wholeRows;
  const power = 2 ** Math.round(Math.log2(times));
  if (times < OTHER_SIZE || (hidden && Math.abs(times / power - 1) < NEAR)) return undefined;
  const count = (value: number): string => Math.round(value).toLocaleString('en');
  return `a pass over the data is about ${count(rows)} rows in one and ${count(baseline.rows)} in the other (steps per pass times size of batch).`;
}

// --- helpers ---

const MODELS = [
  'model_name_or_path',
  '_name_or_path',
  'model_name',
  'actor_rollout_ref.model.path',
  'pretrain',
];
const DATA = ['dataset_name', 'dataset', 'dataset_path', 'data.train_files', 'train_file', 'prompt_data'];
const SIZES = ['vocab_size', 'hidden_size', 'num_hidden_layers'];
/** Parts that are held out, and rows that are too long, make less. */
const OTHER_SIZE = 1.5;
const NEAR = 0.06;

/** The last part of a path: the same model lies elsewhere on another machine. A digest says nothing. */
function nameIn(path: string | undefined): string | undefined {
  const last = path
    ?.split(/[/\\]/)
    .filter((part) => part !== '')
    .at(-1);
  return last === undefined || /^[0-9a-f]{20,}$/i.test(last) ? undefined : last;
}

function isSame(one: string, other: string): boolean {
  return one.toLowerCase() === other.toLowerCase();
}
