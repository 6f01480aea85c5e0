// What is wrong with a configuration, in one sentence; nothing else of a run is known here.
import { unknownName } from '../../protocol/nearest.ts';
import { isJsonObject } from '../../protocol/result.ts';
import type { ConfigKey } from './key.ts';
import { CONFIG_KEYS } from './keys.ts';
import { EXCLUSIVE } from './trainer-keys.ts';

/** `undefined` for a configuration that can be used. */
export function complaintAbout(value: unknown): string | undefined {
  if (!isJsonObject(value)) return 'the configuration must be an object (in a module: its default export)';
  const complaint = complaintIn(value, CONFIG_KEYS, '');
  if (complaint !== undefined) return complaint;
  if (namesBoth(value)) return EXCLUSIVE.complaint;
  const trainers = isJsonObject(value.trainers) ? value.trainers : {};
  const both = Object.keys(trainers).find((name) => namesBoth(trainers[name]));
  return both === undefined ? undefined : `trainers.${both}: ${EXCLUSIVE.complaint}`;
}

function namesBoth(held: unknown): boolean {
  return isJsonObject(held) && EXCLUSIVE.keys.every((key) => held[key] !== undefined);
}

/** No path and no word of a command may have one; the system ends them there, or refuses to start anything. */
function hasNul(value: unknown): boolean {
  return typeof value === 'string' ? value.includes('\0') : Array.isArray(value) && value.some(hasNul);
}

type Keys = Readonly<Record<string, ConfigKey>>;

function complaintIn(
  held: Readonly<Record<string, unknown>>,
  keys: Keys,
  before: string,
): string | undefined {
  for (const [key, value] of Object.entries(held)) {
    const name = before + key;
    const known = Object.hasOwn(keys, key) ? keys[key] : undefined;
    if (known === undefined)
      return unknownName(
        'key',
        name,
        Object.keys(keys).map((each) => before + each),
      );
    if (hasNul(value)) return `"${name}" has a NUL character`;
    const complaint = known.rule(value, name);
    if (complaint === undefined) continue;
    const inside = isJsonObject(value) ? complaintInside(value, known, name) : undefined;
    if (inside !== undefined) return inside;
    return known.detailed === true && isJsonObject(value) ? complaint : `"${name}" must be ${known.must}`;
  }
  return undefined;
}

/** Of a value that has keys of its own, or holds objects that have. */
function complaintInside(
  value: Readonly<Record<string, unknown>>,
  { keys, each }: ConfigKey,
  name: string,
): string | undefined {
  if (keys !== undefined) return complaintIn(value, keys, `${name}.`);
  if (each === undefined) return undefined;
  for (const [entry, held] of Object.entries(value)) {
    const complaint = isJsonObject(held) ? complaintIn(held, each, `${name}.${entry}.`) : undefined;
    if (complaint !== undefined) return complaint;
  }
  return undefined;
}
