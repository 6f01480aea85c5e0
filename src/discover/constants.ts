// What tells ways of calling one function apart: another mode, a term that is switched on.
import type { Way } from './dialogue.ts';

/** The constants of a call that the way has not. */
export function constants(way: Way, call: string): string {
  const own: readonly string[] = way.call.match(CONSTANT) ?? [];
  const more = (call.match(CONSTANT) ?? []).filter((each) => !own.includes(each));
  return more.length === 0 ? call : more.join(', ');
}

const CONSTANT = /(?:\b\w+=)?(?:'[^']*'|(?<![\w.])-?\d[\w.]*)/g;
