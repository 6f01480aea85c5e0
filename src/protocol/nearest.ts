// Unknown names are refused with the name that was probably meant.
import { closest, distance } from 'fastest-levenshtein';

/** `unknown key "lables", did you mean "labels"?`, or the known names where none is near. */
export function unknownName(what: string, name: string, known: readonly string[]): string {
  const nearest = nearestName(name, known);
  const hint =
    nearest !== undefined
      ? `did you mean "${nearest}"?`
      : known.length > 0
        ? `known: ${[...new Set(known)].join(', ')}`
        : 'none is known here';
  return `unknown ${what} "${name}", ${hint}`;
}

/** The known name within half the letters of this one; undefined where every name is further away. */
export function nearestName(name: string, known: readonly string[]): string | undefined {
  if (known.length === 0) return undefined;
  // Part of a name is the commoner slip than a typing error: "mask" for "completion_mask".
  const part = known.find((each) => name.length > 2 && (each.includes(name) || name.includes(each)));
  if (part !== undefined) return part;
  const nearest = closest(name, [...known]);
  return distance(name, nearest) <= Math.ceil(Math.max(name.length, nearest.length) / 2)
    ? nearest
    : undefined;
}
