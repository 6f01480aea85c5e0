// Whether a saved case is one that its property could have drawn: the same fields, of the same types, of about the same
// size. What is not is never handed to a check, which trusts its cases and might loop over them for ever.
import fc from 'fast-check';
import { isJsonObject } from '../../outside/decoded.ts';
import type { Property, World } from '../property.ts';

/** Of a property: what of a case no generator of it makes, as a sentence; undefined where it may be run. */
export function implausible(
  world: World,
  property: Pick<Property, 'given'>,
): (given: unknown) => string | undefined {
  let known: { readonly shape: Shape; readonly most: number } | undefined;
  return (given) => {
    known ??= learned(fc.sample(property.given(world), { numRuns: SAMPLES, seed: SEED }));
    const { shape, most } = known;
    if (sizeOf(given, most) > most)
      return `it is more than ${ROOM} times as large as the largest case that lossproof draws`;
    return differs(given, shape, 'given');
  };
}

// --- helpers ---

/** Enough that what differs among cases differs among these. */
const SAMPLES = 100;
const SEED = 1;
/** Cases are drawn larger the longer a run goes on. */
const ROOM = 64;
const LEAST_ROOM = 10_000;
/** Whole numbers are often lengths; a list of so many is the most that is made of one. */
const LEAST_MAGNITUDE = 2 ** 24;
const MAGNITUDE_ROOM = 2 ** 10;

/** What stands in one place of the cases drawn. */
interface Shape {
  readonly types: Set<Type>;
  /** Of its numbers. */
  largest: number;
  /** Of its lists, whatever the place. */
  element?: Shape;
  readonly fields: Map<string, { readonly shape: Shape; objects: number }>;
  objects: number;
}

const noShape = (): Shape => ({ types: new Set(), largest: 0, fields: new Map(), objects: 0 });

function learned(drawn: readonly unknown[]): { readonly shape: Shape; readonly most: number } {
  const shape = noShape();
  let largest = 0;
  for (const each of drawn) {
    learn(shape, each);
    largest = Math.max(largest, sizeOf(each, Number.POSITIVE_INFINITY));
  }
  return { shape, most: Math.max(LEAST_ROOM, ROOM * largest) };
}

/** As it would be read again from its file: what is undefined in an object is not there. */
function learn(shape: Shape, value: unknown): void {
  shape.types.add(typeOf(value));
  if (Array.isArray(value)) {
    shape.element ??= noShape();
    for (const each of value) learn(shape.element, each);
  } else if (isJsonObject(value)) {
    shape.objects++;
    for (const [key, each] of Object.entries(value)) {
      if (each === undefined) continue;
      const field = shape.fields.get(key) ?? { shape: noShape(), objects: 0 };
      shape.fields.set(key, field);
      field.objects++;
      learn(field.shape, each);
    }
  } else if (Number.isFinite(value)) shape.largest = Math.max(shape.largest, Math.abs(Number(value)));
}

/** Values in it, counted no further than `most`. */
function sizeOf(value: unknown, most: number): number {
  let count = 0;
  const waiting: unknown[] = [value];
  while (waiting.length > 0 && count <= most) {
    const each = waiting.pop();
    count += typeof each === 'string' ? 1 + Math.floor(each.length / TEXT_OF_ONE) : 1;
    if (typeof each === 'object' && each !== null)
      for (const inner of Object.values(each)) waiting.push(inner);
  }
  return count;
}

const TEXT_OF_ONE = 16;

/** Against what stands in the same place of the cases drawn. Where none of them has anything, anything goes. */
function differs(value: unknown, shape: Shape | undefined, path: string): string | undefined {
  if (shape === undefined || shape.types.size === 0) return undefined;
  const { types, largest } = shape;
  const type = typeOf(value);
  if (!types.has(type) && !isFraction(type, types) && !isLostNumber(value, types))
    return `${path} is ${words(type)}, and every case drawn has ${[...types].map(words).join(' or ')} there`;
  if (Array.isArray(value)) {
    for (const [at, each] of value.entries()) {
      const found = differs(each, shape.element, `${path}[${at}]`);
      if (found !== undefined) return found;
    }
    return undefined;
  }
  if (isJsonObject(value)) {
    for (const [key, { objects }] of shape.fields)
      if (objects === shape.objects && !Object.hasOwn(value, key))
        return `${path}.${key} is missing, which every case drawn has`;
    for (const [key, each] of Object.entries(value)) {
      const found = differs(each, shape.fields.get(key)?.shape, `${path}.${key}`);
      if (found !== undefined) return found;
    }
    return undefined;
  }
  if (typeof value !== 'number' || !Number.isInteger(value)) return undefined;
  const room = Math.max(LEAST_MAGNITUDE, MAGNITUDE_ROOM * largest);
  return Math.abs(value) > room
    ? `${path} is ${value}, and no case drawn has more than ${largest} there`
    : undefined;
}

type Type = 'null' | 'whole' | 'number' | 'string' | 'boolean' | 'list' | 'object';

function typeOf(value: unknown): Type {
  if (value === null || value === undefined) return 'null';
  if (Array.isArray(value)) return 'list';
  if (typeof value === 'number') return Number.isInteger(value) ? 'whole' : 'number';
  return typeof value === 'string' || typeof value === 'boolean'
    ? (typeof value as 'string' | 'boolean')
    : 'object';
}

/** Fractions are now and then whole. */
const isFraction = (type: Type, types: ReadonlySet<Type>): boolean => type === 'whole' && types.has('number');

/** JSON has no NaN: it was written as null. */
const isLostNumber = (value: unknown, types: ReadonlySet<Type>): boolean =>
  value === null && types.has('number');

const WORDS: Readonly<Record<Type, string>> = {
  null: 'nothing',
  whole: 'a whole number',
  number: 'a number',
  string: 'a text',
  boolean: 'true or false',
  list: 'a list',
  object: 'an object',
};
const words = (type: Type): string => WORDS[type];
