// Which properties, by which ops, run the lines of a change: measured once, on the trainer as it is.
import type { Change } from './change.ts';
import type { Baseline } from './events.ts';

export interface Reaching {
  readonly properties: readonly string[];
  readonly ops: readonly string[];
}

/** `isImported`: it runs when the file is imported as well, so that whatever it leaves behind is there for every op. */
export function reachOf(change: Change, baseline: readonly Baseline[], isImported: boolean): Reaching {
  const properties: string[] = [];
  const ops = new Set<string>();
  for (const { id, reached } of baseline) {
    const own = Object.entries(reached).filter(([, files]) => runs(change, files[change.file] ?? []));
    for (const [op] of own) ops.add(op);
    if (own.length > 0 || isImported) properties.push(id);
  }
  return { properties, ops: [...ops].sort() };
}

/** Whether one of these lines is of the change's statement. */
export function runs({ lines: [first, last] }: Change, lines: readonly number[]): boolean {
  return lines.some((line) => line >= first && line <= last);
}
