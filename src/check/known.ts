// Known failures: property id to reason, and the case that shows it. A known property that fails does not fail the
// run; one whose case holds again is stale, and does. Without a case, the generated ones decide.
import { readFileSync } from 'node:fs';

export interface KnownFailure {
  readonly reason: string;
  readonly link?: string;
  /** The case, as a failure prints it. */
  readonly given?: unknown;
}
export type KnownFailures = Readonly<Record<string, KnownFailure>>;

/** Reads `{"mask/...": {"reason": "...", "link": "...", "given": {...}}}`; link and given may be absent. */
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
    const { reason, link, given } = (entry ?? {}) as Record<string, unknown>;
    if (typeof reason !== 'string' || reason === '') return { problem: `${path}: "${id}" gives no reason.` };
    known[id] = {
      reason,
      ...(typeof link === 'string' ? { link } : {}),
      ...(given === undefined ? {} : { given }),
    };
  }
  return { known };
}
