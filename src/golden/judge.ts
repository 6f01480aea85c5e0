// What becomes of one entry: the recorded one beside what the trainer says today.
import type { Finding, World } from '../check/property.ts';
import type { TrainerFailure } from '../trainer/failure.ts';
import type { DType } from '../vocabulary.ts';
import type { Reply } from './ask.ts';
import { GOLDEN_SET, type GoldenCase } from './case.ts';
import { compared, comparedDeclaration } from './compare.ts';
import { coarserBand } from './differences.ts';
import { type Entry, type Fields, quotedValue, type Said, sorted, writtenArgs } from './entry.ts';

/** All but `same` and `unasked` fail. `unasked`: not recorded, and this trainer cannot be asked. */
export type Judged =
  | { readonly state: 'same' }
  | { readonly state: 'unasked' }
  | { readonly state: 'changed' | 'missing' | 'unknown' | 'stale'; readonly finding: Finding }
  | { readonly state: 'error'; readonly failure: TrainerFailure };

export function judgeDeclared(recorded: Entry | undefined, now: Entry | undefined): Judged {
  const id = now?.id ?? recorded?.id ?? '';
  if (recorded === undefined) return unknown('Nothing is recorded of what the trainer declares here');
  if (now?.said.kind !== 'answer' || recorded.said.kind !== 'answer') return gone(id);
  const finding = comparedDeclaration(id, recorded.said.fields, now.said.fields);
  return finding === undefined ? { state: 'same' } : { state: 'changed', finding };
}

/** `dtype`: what the recorded answers were computed in. */
export function judgeCase(
  golden: GoldenCase | undefined,
  recorded: Entry | undefined,
  reply: Reply | undefined,
  world: World,
  dtype: DType,
): Judged {
  if (golden === undefined || reply === undefined) return gone(recorded?.id ?? '');
  if (reply.kind === 'failure') return { state: 'error', failure: reply.failure };
  if (reply.kind === 'unasked') return recorded === undefined ? { state: 'unasked' } : missing(reply.why);
  if (recorded === undefined)
    return unknown(`Nothing is recorded for this case, and the trainer ${DOES[reply.said.kind]} it`);
  const other = otherArgs(golden, recorded, reply.args);
  if (other !== undefined) return { state: 'stale', finding: { kind: 'stale', sentence: other } };
  const setting = { world, op: golden.op, args: reply.args, band: coarserBand(world, dtype) };
  const finding = compared(setting, recorded.said, reply.said);
  return finding === undefined ? { state: 'same' } : { state: 'changed', finding };
}

// --- helpers ---

const DOES: Readonly<Record<Said['kind'], string>> = {
  answer: 'answers',
  refused: 'refuses',
  skipped: 'skips',
};

function unknown(sentence: string): Judged {
  return { state: 'unknown', finding: { kind: 'unknown', sentence: `${sentence}.` } };
}

function missing(why: string): Judged {
  const sentence = `An answer is recorded, and the trainer cannot be asked any more: ${why}.`;
  return { state: 'missing', finding: { kind: 'missing', sentence } };
}

function gone(id: string): Judged {
  const sentence = `"${id}" is recorded, and golden set ${GOLDEN_SET} has no such case.`;
  return { state: 'stale', finding: { kind: 'stale', sentence } };
}

/** Why the recorded entry answers another request; undefined where it is the same. */
function otherArgs({ op }: GoldenCase, recorded: Entry, args: Fields): string | undefined {
  if (recorded.op !== op) return `It was recorded of op \`${recorded.op}\`, and asks \`${op}\` now.`;
  const now = writtenArgs(op, args);
  const names = [...new Set([...Object.keys(recorded.args), ...Object.keys(now)])];
  // A formatter may have put the keys of the file in another order.
  const text = (value: unknown): string | undefined => JSON.stringify(sorted(value));
  const changed = names.filter((name) => text(recorded.args[name]) !== text(now[name]));
  const [first] = changed;
  if (first === undefined) return undefined;
  const more = changed.length > 1 ? ` (and ${changed.length - 1} more of its arguments)` : '';
  return `The case is another one than recorded: \`${first}\` was ${quotedValue(recorded.args[first])}, and is ${quotedValue(now[first])}${more}. Special ids, capabilities or the golden set changed.`;
}
