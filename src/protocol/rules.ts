// The small rules that declarations and configurations are made of: each looks at one value and says what is wrong, path
// first, and knows the JSON Schema that says the same to an editor.
import type { Clamp } from '../vocabulary.ts';
import { nearestName, unknownName } from './nearest.ts';
import { isJsonObject, shown } from './result.ts';

/** A JSON Schema, draft 7. */
export type JsonSchema = Readonly<Record<string, unknown>>;

/** `T`: what it lets through. */
export interface Rule<T = unknown> {
  (value: unknown, path: string): string | undefined;
  readonly schema: JsonSchema;
  /** For the compiler only, never set. */
  readonly lets?: T;
}

type Judge = (value: unknown, path: string) => string | undefined;

export const flag: Rule<boolean> = ruled({ type: 'boolean' }, (value, path) =>
  typeof value === 'boolean' ? undefined : `${path} is ${shown(value)}, expected true or false`,
);

export const text: Rule<string> = ruled({ type: 'string' }, (value, path) =>
  typeof value === 'string' ? undefined : `${path} is ${shown(value)}, expected a string`,
);

/** A string that says something. */
export const filled: Rule<string> = ruled({ type: 'string', minLength: 1 }, (value, path) =>
  value === '' ? `${path} is empty` : text(value, path),
);

export const number: Rule<number> = ruled({ type: 'number' }, (value, path) =>
  Number.isFinite(value) ? undefined : `${path} is ${shown(value)}, expected a finite number`,
);

/** A finite number above 0. */
export const amount: Rule<number> = ruled({ type: 'number', exclusiveMinimum: 0 }, (value, path) =>
  Number.isFinite(value) && (value as number) > 0
    ? undefined
    : `${path} is ${shown(value)}, expected a number above 0`,
);

/** And no larger than this. */
export function amountUpTo(most: number): Rule<number> {
  return ruled({ ...amount.schema, maximum: most }, (value, path) =>
    typeof value === 'number' && value > most
      ? `${path} is ${value}, expected at most ${most}`
      : amount(value, path),
  );
}

export const numberOrNull: Rule<number | null> = ruled(
  { anyOf: [{ type: 'number' }, { type: 'null' }] },
  (value, path) => (value === null ? undefined : number(value, path)),
);

/** A bound on a number's size, or `[low, high]`, where null is no bound on that side. */
export const clampOrNull: Rule<Clamp | null> = ruled(
  {
    anyOf: [
      ...(numberOrNull.schema.anyOf as readonly JsonSchema[]),
      { type: 'array', items: numberOrNull.schema, minItems: 2, maxItems: 2 },
    ],
  },
  (value, path) => {
    if (!Array.isArray(value)) return numberOrNull(value, path);
    const [low, high] = value;
    const isPair = value.length === 2 && (low !== null || high !== null);
    if (!isPair || (typeof low === 'number' && typeof high === 'number' && low > high))
      return `${path} is ${shown(value)}, expected [low, high], of which one may be null`;
    return numberOrNull(low, `${path}[0]`) ?? numberOrNull(high, `${path}[1]`);
  },
);

/** A safe integer of at least `least`. */
export function atLeast(least: number): Rule<number> {
  const schema = { type: 'integer', minimum: least, maximum: Number.MAX_SAFE_INTEGER };
  return ruled(schema, (value, path) =>
    Number.isSafeInteger(value) && (value as number) >= least
      ? undefined
      : `${path} is ${shown(value)}, expected an integer of at least ${least}`,
  );
}

/** A whole number within bounds. */
export function wholeFrom(least: number, most: number): Rule<number> {
  return ruled({ type: 'integer', minimum: least, maximum: most }, (value, path) =>
    Number.isSafeInteger(value) && (value as number) >= least && (value as number) <= most
      ? undefined
      : `${path} is ${shown(value)}, expected an integer of ${least} to ${most}`,
  );
}

/** One of a few strings or numbers; the nearest is suggested. */
export function oneOf<const T extends string | number>(...known: readonly T[]): Rule<T> {
  return ruled({ enum: known }, (value, path) => {
    if (known.some((each) => each === value)) return undefined;
    const nearest = typeof value === 'string' ? nearestName(value, known.map(String)) : undefined;
    const hint = nearest === undefined ? '' : `, did you mean "${nearest}"?`;
    return `${path} is ${shown(value)}, expected ${known.map((each) => JSON.stringify(each)).join(' or ')}${hint}`;
  });
}

/** What one of these lets through; the complaint is that of the last. */
export function eitherOf<T>(...rules: readonly Rule<T>[]): Rule<T> {
  return ruled({ anyOf: rules.map(({ schema }) => schema) }, (value, path) => {
    const complaints = rules.map((rule) => rule(value, path));
    return complaints.includes(undefined) ? undefined : complaints.at(-1);
  });
}

export function listOf<T>(rule: Rule<T>): Rule<readonly T[]> {
  return ruled({ type: 'array', items: rule.schema }, (value, path) => {
    if (!Array.isArray(value)) return `${path} is ${shown(value)}, expected a list`;
    return first(value.map((item, i) => rule(item, `${path}[${i}]`)));
  });
}

/** A list of at least one. */
export function someOf<T>(rule: Rule<T>): Rule<readonly T[]> {
  const list = listOf(rule);
  return ruled({ ...list.schema, minItems: 1 }, (value, path) =>
    Array.isArray(value) && value.length === 0 ? `${path} is an empty list` : list(value, path),
  );
}

/** An object of any keys whose values all follow one rule. */
export function recordOf<T>(rule: Rule<T>): Rule<Readonly<Record<string, T>>> {
  return ruled({ type: 'object', additionalProperties: rule.schema }, (value, path) => {
    if (!isJsonObject(value)) return `${path} is ${shown(value)}, expected an object`;
    return first(Object.entries(value).map(([key, item]) => rule(item, `${path}.${key}`)));
  });
}

/** The same with at least one, and none without a name. */
export function recordOfSome<T>(rule: Rule<T>): Rule<Readonly<Record<string, T>>> {
  const all = recordOf(rule);
  const schema = { ...all.schema, minProperties: 1, propertyNames: { minLength: 1 } };
  return ruled(schema, (value, path) => {
    const names = isJsonObject(value) ? Object.keys(value) : undefined;
    if (names?.length === 0) return `${path} is an empty object`;
    return names?.includes('') ? `${path} has a key without a name` : all(value, path);
  });
}

/** One value for all of these names, or an object that has one for some of them. */
export function oneOrNamed<T, const Name extends string>(
  rule: Rule<T>,
  names: readonly Name[],
  what: string,
): Rule<T | Readonly<Partial<Record<Name, T>>>> {
  const named = record(Object.fromEntries(names.map((name) => [name, rule])), what);
  // Said once, or the schema would be as many times as long as there are names.
  const schema = { type: 'object', propertyNames: { enum: names }, additionalProperties: rule.schema };
  return ruled({ anyOf: [rule.schema, schema] }, (value, path) =>
    isJsonObject(value) ? named(value, path) : rule(value, path),
  );
}

/** An object with these keys; a name ending in `!` must be there. `what` names a key in complaints. */
export function record<T = unknown>(rules: Readonly<Record<string, Rule>>, what: string): Rule<T> {
  const byName = new Map(Object.entries(rules).map(([name, rule]) => [name.replace(/!$/, ''), rule]));
  const required = Object.keys(rules)
    .filter((name) => name.endsWith('!'))
    .map((name) => name.slice(0, -1));
  const schema = {
    type: 'object',
    properties: Object.fromEntries([...byName].map(([name, rule]) => [name, rule.schema])),
    ...(required.length === 0 ? {} : { required }),
    additionalProperties: false,
  };
  return ruled(schema, (value, path) => {
    if (!isJsonObject(value)) return `${path} is ${shown(value)}, expected an object`;
    for (const [key, item] of Object.entries(value)) {
      const rule = byName.get(key);
      if (rule === undefined) return `${path} has an ${unknownName(what, key, [...byName.keys()])}`;
      const complaint = rule(item, `${path}.${key}`);
      if (complaint !== undefined) return complaint;
    }
    const missing = required.find((name) => value[name] === undefined);
    return missing === undefined ? undefined : `${path}.${missing} is missing`;
  });
}

/** An object that has these keys, whatever is in them, and any others. */
export function having<T>(...names: readonly string[]): Rule<T> {
  return ruled({ type: 'object', required: names }, (value, path) => {
    if (!isJsonObject(value)) return `${path} is ${shown(value)}, expected an object`;
    const missing = names.find((name) => !(name in value));
    return missing === undefined ? undefined : `${path}.${missing} is missing`;
  });
}

function ruled<T>(schema: JsonSchema, judge: Judge): Rule<T> {
  return Object.assign(judge, { schema });
}

function first(complaints: readonly (string | undefined)[]): string | undefined {
  return complaints.find((complaint) => complaint !== undefined);
}
