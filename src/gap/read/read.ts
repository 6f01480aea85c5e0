// Rollouts: the ids of a row, what the engine said of each when it sampled it, and what the trainer computed. A row may have one
// of the two sides. A row that has neither, or that cannot be read, is a sentence.
import { sampleOf } from '../../monitor/samples/samples.ts';
import { type Complaint, logprobsOf, type Numbers } from './logprobs.ts';
import { MASK_NAMES, SAMPLING_NAMES, TRAINER_NAMES, VERSION_NAMES } from './names.ts';

export interface Rollout {
  readonly prompt: Numbers;
  readonly ids: Numbers;
  readonly sampling: Float64Array;
  readonly trainer: Float64Array;
  /** Of each token: the policy wrote it. */
  readonly written: (at: number) => boolean;
  /** Of the weights that each token was sampled from. */
  readonly version?: (at: number) => number;
  /** Of the update that trained on it. */
  readonly step?: number;
  /** File and row. */
  readonly where?: string;
  /** The fields that the two sides were read from. */
  readonly names: Names;
}

/** As a file has it: with one side or both. */
export interface Recorded extends Omit<Rollout, 'sampling' | 'trainer' | 'names'> {
  readonly sampling?: Float64Array;
  readonly trainer?: Float64Array;
  readonly names: Partial<Names>;
}

export interface Names {
  readonly sampling: string;
  readonly trainer: string;
}

/** One object of a file as rollouts: vLLM gives several completions per prompt. `named`: fields that the user names. */
export function rolloutsOf(
  value: unknown,
  where: string,
  named: Partial<Names> = {},
): readonly (Recorded | Complaint)[] {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return [{ complaint: `${where} is no JSON object` }];
  return opened(value as Row).map((row) => {
    const read = rolloutOf(row, where, named);
    return 'complaint' in read ? { complaint: `${where}: ${read.complaint}` } : { ...read, where };
  });
}

/** Why rows without one of the sides cannot be compared. */
export const lacks = (side: keyof Names): string =>
  `no ${side === 'sampling' ? 'sampling log-probabilities' : 'log-probabilities of the trainer to compare with'}; looked for ${(side === 'sampling' ? SAMPLING_NAMES : TRAINER_NAMES).slice(0, SHOWN_NAMES).join(', ')}...; --${side} NAME names another field, and --model DIR computes them`;

// --- helpers ---

type Row = Readonly<Record<string, unknown>>;

/** The fields of a response beside those of each of its completions. */
function opened(row: Row): readonly Row[] {
  const several = [row.outputs, row.choices].find((each) => Array.isArray(each) && each.length > 0);
  const parts = Array.isArray(several) ? several.filter(isRow) : [{}];
  const meta = isRow(row.meta_info) ? row.meta_info : {};
  return parts.map((part) => {
    const whole: Row = { ...meta, ...row, ...part };
    // vLLM's own name of a completion's ids; elsewhere it is the whole row.
    return 'prompt_token_ids' in whole && 'token_ids' in whole
      ? { ...whole, completion_ids: whole.token_ids }
      : whole;
  });
}

const isRow = (value: unknown): value is Row =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function rolloutOf(row: Row, where: string, named: Partial<Names>): Recorded | Complaint {
  const sample = sampleOf(row, where, '');
  const ids = sample?.completionIds;
  if (sample === undefined || ids === undefined || ids.length === 0)
    return { complaint: 'no ids of the completion (completion_ids, response_ids, output_ids...)' };
  const sampling = fieldOf(row, named.sampling, SAMPLING_NAMES);
  const trainer = fieldOf(row, named.trainer, TRAINER_NAMES);
  if (sampling === undefined && (trainer === undefined || named.sampling !== undefined))
    return { complaint: lacks('sampling') };
  if (trainer === undefined && named.trainer !== undefined) return { complaint: lacks('trainer') };
  const written = writtenOf(row, ids.length);
  const none = ids.findIndex((id, at) => id < 0 && written(at));
  if (none >= 0)
    return {
      complaint: `completion token ${none} has the id ${ids[none]}, which no vocabulary has; write the mask beside padding (response_mask)`,
    };
  const prompt = sample.promptIds ?? [];
  const at = { ids, prompt: prompt.length };
  const one = sampling === undefined ? undefined : logprobsOf(row[sampling], { name: sampling, ...at });
  if (one !== undefined && 'complaint' in one) return one;
  const other = trainer === undefined ? undefined : logprobsOf(row[trainer], { name: trainer, ...at });
  if (other !== undefined && 'complaint' in other) return other;
  const version = versionOf(row, ids.length);
  return {
    prompt,
    ids,
    ...(one === undefined ? {} : { sampling: one }),
    ...(other === undefined ? {} : { trainer: other }),
    written,
    ...(version === undefined ? {} : { version }),
    ...(sample.step === undefined ? {} : { step: sample.step }),
    names: { ...(sampling === undefined ? {} : { sampling }), ...(trainer === undefined ? {} : { trainer }) },
  };
}

const SHOWN_NAMES = 4;

function fieldOf(row: Row, named: string | undefined, names: readonly string[]): string | undefined {
  return (named === undefined ? names : [named]).find(
    (name) => row[name] !== undefined && row[name] !== null,
  );
}

function writtenOf(row: Row, length: number): Rollout['written'] {
  const mask = MASK_NAMES.map((name) => row[name]).find(
    (each): each is unknown[] => Array.isArray(each) && each.length >= length,
  );
  const extra = (mask?.length ?? 0) - length;
  return (at) => mask === undefined || mask[at + extra] === 1 || mask[at + extra] === true;
}

/** A number or a number as text, for the row or for each token. */
function versionOf(row: Row, length: number): Rollout['version'] {
  const value = VERSION_NAMES.map((name) => row[name]).find((each) => each !== undefined && each !== null);
  if (Array.isArray(value) && value.length >= length) {
    const extra = value.length - length;
    return (at) => numberOf(value[at + extra]);
  }
  const one = numberOf(Array.isArray(value) ? value.at(-1) : value);
  return Number.isNaN(one) ? undefined : () => one;
}

/** `17`, `"17"`, `"step-17"`, `"v17"`: nothing else says which weights are older. */
function numberOf(value: unknown): number {
  if (typeof value === 'number') return value;
  return typeof value === 'string'
    ? Number(/^(?:[a-z]+[-_ ]?)?(\d+)$/i.exec(value)?.[1] ?? Number.NaN)
    : Number.NaN;
}
