// Known failures: property id to reason, the case that shows it, and the kind of trouble. A property that fails as
// recorded does not fail the run; one that fails otherwise, holds again, or was never judged does. What a file becomes
// after a run is known-update.ts.
import { readFileSync } from 'node:fs';
import type { Failure } from '../events.ts';

export interface KnownFailure {
  readonly reason: string;
  readonly link?: string;
  /** The case, as a failure prints it. Without one, the generated cases decide. */
  readonly given?: unknown;
  /** As `kindOf` names it. Without one, any failure of the property is this one, and no error of the trainer is. */
  readonly kind?: string;
  /** It came with a ready-made adapter: whoever runs it did not write it, and is not blamed where it says nothing. */
  readonly bundled?: true;
}
export type KnownFailures = Readonly<Record<string, KnownFailure>>;

/** The reason of an entry that no person has looked at. */
export const UNEXPLAINED = 'not explained yet';

/** The kind of a finding, or `error: crash` and the like. */
export function kindOf({ finding, trainerFailure }: Pick<Failure, 'finding' | 'trainerFailure'>): string {
  return finding?.kind ?? `error: ${trainerFailure?.kind ?? 'unknown'}`;
}

/** Undefined: the failure is the recorded one. Otherwise what it was and what it is. */
export function changeOf(known: KnownFailure, failure: Failure): string | undefined {
  const now = kindOf(failure);
  if (known.kind === undefined ? failure.finding !== undefined : known.kind === now) return undefined;
  return `it was recorded as ${known.kind === undefined ? 'a failure' : `"${known.kind}"`} (${known.reason}), and is "${now}" now`;
}

/** Reads `{"mask/...": {"reason": "...", "link": "...", "given": {...}, "kind": "..."}}`; only the reason must be there. */
export function readKnown(path: string): { known: KnownFailures } | { problem: string } {
  let value: unknown;
  try {
    value = JSON.parse(readFileSync(path, 'utf8'));
  } catch (error) {
    return {
      problem: `${path} cannot be read as JSON: ${error instanceof Error ? error.message : String(error)}`,
    };
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return { problem: `${path} must hold an object of property ids.` };
  }
  const known: Record<string, KnownFailure> = {};
  for (const [id, entry] of Object.entries(value)) {
    const { reason, link, given, kind } = (entry ?? {}) as Record<string, unknown>;
    if (typeof reason !== 'string' || reason === '') return { problem: `${path}: "${id}" gives no reason.` };
    if (kind !== undefined && typeof kind !== 'string')
      return { problem: `${path}: the kind of "${id}" must be a text, such as "nan" or "error: crash".` };
    known[id] = {
      reason,
      ...(typeof link === 'string' ? { link } : {}),
      ...(kind === undefined ? {} : { kind }),
      ...(given === undefined ? {} : { given }),
    };
  }
  return { known };
}

/** What such a file holds. */
export function knownText(known: KnownFailures): string {
  return `${JSON.stringify(known, null, 2)}\n`;
}
