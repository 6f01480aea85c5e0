// How the arguments of a trainer are read: what one of its classes declares, and the reading of a value.
import type { Semantics } from '../../vocabulary.ts';

export type Values = Readonly<Record<string, unknown>>;

/** What a trainer's arguments declare, and the arguments that say so. */
export interface Declared {
  readonly semantics: Semantics;
  readonly because: readonly string[];
}

export type Declare = (values: Values) => Declared;

/** Not given, or switched off. */
export function isOff(value: unknown): boolean {
  return value === undefined || value === null || value === false || value === 0;
}

export function numberOf(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isFinite(value) ? value : undefined;
}
