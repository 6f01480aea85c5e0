// The small rules that hello.ts is made of: each looks at one value and says what is wrong, path first.
import { nearestName, unknownName } from './nearest.ts';
import { isJsonObject, shown } from './result.ts';

export type Rule = (value: unknown, path: string) => string | undefined;

export const flag: Rule = (value, path) =>
  typeof value === 'boolean' ? undefined : `${path} is ${shown(value)}, expected true or false`;

export const text: Rule = (value, path) =>
  typeof value === 'string' ? undefined : `${path} is ${shown(value)}, expected a string`;

export const number: Rule = (value, path) =>
  Number.isFinite(value) ? undefined : `${path} is ${shown(value)}, expected a finite number`;

export const numberOrNull: Rule = (value, path) => (value === null ? undefined : number(value, path));

/** A safe integer of at least `least`. */
export function atLeast(least: number): Rule {
  return (value, path) =>
    Number.isSafeInteger(value) && (value as number) >= least
      ? undefined
      : `${path} is ${shown(value)}, expected an integer of at least ${least}`;
}

/** One of a few strings or numbers; the nearest is suggested. */
export function oneOf(...known: readonly (string | number)[]): Rule {
  return (value, path) => {
    if (known.some((each) => each === value)) return undefined;
    const nearest = typeof value === 'string' ? nearestName(value, known.map(String)) : undefined;
    const hint = nearest === undefined ? '' : `, did you mean "${nearest}"?`;
    return `${path} is ${shown(value)}, expected ${known.map((each) => JSON.stringify(each)).join(' or ')}${hint}`;
  };
}

export function listOf(rule: Rule): Rule {
  return (value, path) => {
    if (!Array.isArray(value)) return `${path} is ${shown(value)}, expected a list`;
    return first(value.map((item, i) => rule(item, `${path}[${i}]`)));
  };
}

/** An object of any keys whose values all follow one rule. */
export function recordOf(rule: Rule): Rule {
  return (value, path) => {
    if (!isJsonObject(value)) return `${path} is ${shown(value)}, expected an object`;
    return first(Object.entries(value).map(([key, item]) => rule(item, `${path}.${key}`)));
  };
}

/** An object with these keys; a name ending in `!` must be there. `what` names a key in complaints. */
export function record(rules: Readonly<Record<string, Rule>>, what: string): Rule {
  const byName = new Map(Object.entries(rules).map(([name, rule]) => [name.replace(/!$/, ''), rule]));
  const required = Object.keys(rules)
    .filter((name) => name.endsWith('!'))
    .map((name) => name.slice(0, -1));
  return (value, path) => {
    if (!isJsonObject(value)) return `${path} is ${shown(value)}, expected an object`;
    for (const [key, item] of Object.entries(value)) {
      const rule = byName.get(key);
      if (rule === undefined) return `${path} has an ${unknownName(what, key, [...byName.keys()])}`;
      const complaint = rule(item, `${path}.${key}`);
      if (complaint !== undefined) return complaint;
    }
    const missing = required.find((name) => value[name] === undefined);
    return missing === undefined ? undefined : `${path}.${missing} is missing`;
  };
}

function first(complaints: readonly (string | undefined)[]): string | undefined {
  return complaints.find((complaint) => complaint !== undefined);
}
