// One saved case as it stands in a file, and that file read: people move such files, edit them, and get them from others,
// so that nothing in one is believed before it was looked at.
import { createHash } from 'node:crypto';
import type { Decoded } from '../../outside/decoded.ts';
import { readJson } from '../../outside/file.ts';
import { isJsonObject, shown } from '../../protocol/result.ts';
import type { Failure } from '../events.ts';

export interface SavedCase {
  readonly id: string;
  readonly property: string;
  readonly given: unknown;
  readonly sentence: string;
  readonly trainer: string;
  readonly command: string;
  /** Which of several trainers of a configuration it was. */
  readonly name?: string;
  readonly seed: number;
  readonly path?: string;
  /** Request lines, hello first. */
  readonly lines: readonly string[];
  readonly version: string;
}

/** Short enough to type; 24 bits are plenty for the few failures that one folder holds. */
const ID_LENGTH = 6;
/** Ids become names of files: nothing but these ever does. */
const ID = /^[0-9a-z]{1,32}$/;
/** A case is a few rows; its request lines may hold logits. */
const MOST_BYTES = 64 * 2 ** 20;

/** The same case of the same property has the same id. */
export function caseId(property: string, given: unknown): string {
  return createHash('sha256')
    .update(`${property}\n${JSON.stringify(given)}`)
    .digest('hex')
    .slice(0, ID_LENGTH);
}

export const isCaseId = (id: unknown): id is string => typeof id === 'string' && ID.test(id);

/** A failure as it is saved. */
export function savedCase(
  property: string,
  failure: Failure,
  { trainer, command, name, version }: Pick<SavedCase, 'trainer' | 'command' | 'name' | 'version'>,
): SavedCase {
  return {
    id: failure.caseId,
    property,
    given: failure.given,
    sentence: failure.finding?.sentence ?? failure.trainerFailure?.message ?? '',
    trainer,
    command,
    ...(name === undefined ? {} : { name }),
    seed: failure.seed,
    ...(failure.path === undefined ? {} : { path: failure.path }),
    lines: failure.lines,
    version,
  };
}

/** One saved case, or what is wrong with the file, in words that follow its name. */
export function readSavedCase(path: string): Decoded<SavedCase> {
  const read = readJson(path, { most: MOST_BYTES });
  if ('complaint' in read) return { complaint: `cannot be read: ${read.complaint}` };
  const value = read.ok;
  if (!isJsonObject(value)) return { complaint: 'is no saved case: it holds no JSON object' };
  const { id, property, lines } = value;
  if (!isCaseId(id))
    return { complaint: `is no saved case: its id is ${shown(id)}, expected letters and digits` };
  if (typeof property !== 'string')
    return { complaint: `is no saved case: its property is ${shown(property)}` };
  if (!('given' in value)) return { complaint: 'is no saved case: it has no "given"' };
  if (!Array.isArray(lines) || !lines.every((line) => typeof line === 'string'))
    return { complaint: 'is no saved case: its lines are no list of texts' };
  const other = OTHERS.find(
    ([name, type, optional]) => !(optional && value[name] === undefined) && typeof value[name] !== type,
  );
  if (other !== undefined)
    return {
      complaint: `is no saved case: its ${other[0]} is ${shown(value[other[0]])}, expected a ${other[1]}`,
    };
  return { ok: value as unknown as SavedCase };
}

const OTHERS: readonly (readonly [name: keyof SavedCase, type: 'string' | 'number', optional: boolean])[] = [
  ['sentence', 'string', true],
  ['trainer', 'string', true],
  ['command', 'string', true],
  ['version', 'string', true],
  ['name', 'string', true],
  ['path', 'string', true],
  ['seed', 'number', true],
];
