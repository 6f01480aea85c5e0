// What is wrong with a configuration, in one sentence; nothing else of a run is known here.
import { unknownName } from '../../protocol/nearest.ts';
import { isJsonObject } from '../../protocol/result.ts';
import { CONFIG_KEYS, type ConfigKey, EXCLUSIVE } from './keys.ts';

/** `undefined` for a configuration that can be used. */
export function complaintAbout(value: unknown): string | undefined {
  if (!isJsonObject(value)) return 'the configuration must be an object (in a module: its default export)';
  const complaint = complaintIn(value, CONFIG_KEYS, '');
  if (complaint !== undefined) return complaint;
  return EXCLUSIVE.keys.every((key) => value[key] !== undefined) ? EXCLUSIVE.complaint : undefined;
}

function complaintIn(
  held: Readonly<Record<string, unknown>>,
  keys: Readonly<Record<string, ConfigKey>>,
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
    const complaint = known.rule(value, name);
    if (complaint === undefined) continue;
    const inside =
      known.keys !== undefined && isJsonObject(value)
        ? complaintIn(value, known.keys, `${name}.`)
        : undefined;
    if (inside !== undefined) return inside;
    return known.detailed === true && isJsonObject(value) ? complaint : `"${name}" must be ${known.must}`;
  }
  return undefined;
}
