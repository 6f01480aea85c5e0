// Known failures: property id to reason. A known property that fails does not fail the run; one that holds again
// is stale, and does.
import { readFileSync } from 'node:fs';

export type KnownFailures = Readonly<Record<string, { readonly reason: string; readonly link?: string }>>;

/** Reads `{"mask/...": {"reason": "...", "link": "..."}}`. */
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
  const known: Record<string, { reason: string; link?: string }> = {};
  for (const [id, entry] of Object.entries(value)) {
    const reason = (entry as { reason?: unknown } | null)?.reason;
    if (typeof reason !== 'string' || reason === '') return { problem: `${path}: "${id}" gives no reason.` };
    const link = (entry as { link?: unknown }).link;
    known[id] = typeof link === 'string' ? { reason, link } : { reason };
  }
  return { known };
}
