// Events as JSON lines, for other programs. Progress is left out: it says nothing that property-end does not.
import type { RunEvent } from '../check/events.ts';

/** One line with its newline, or '' for an event that is not written. */
export function eventLine(event: RunEvent): string {
  return event.type === 'progress' ? '' : `${JSON.stringify(event, plainNumber)}\n`;
}

/** JSON has no NaN, and null would hide one: numbers that are not finite become text. */
function plainNumber(_key: string, value: unknown): unknown {
  return typeof value === 'number' && !Number.isFinite(value) ? String(value) : value;
}
