// Known failures: property id to reason, the case that shows it, and the kind of trouble. A property that fails as
// recorded does not fail the run; one that fails otherwise, holds again, or was never judged does. What a file becomes
// after a run is known-update.ts.
import { isJsonObject } from '../../outside/decoded.ts';
import { readJson } from '../../outside/file.ts';
import type { Failure } from '../events.ts';
import type { CaseOutcome } from '../subject.ts';

export interface KnownFailure {
  readonly reason: string;
  readonly link?: string;
  /** The case, as a failure prints it. Without one, the generated cases decide. */
  readonly given?: unknown;
  /** As `kindOf` names it. Without one, any failure of the property is this one, and no error of the trainer is. */
  readonly kind?: string;
  /** Further kinds that the property fails in, and that are lived with for the same reason. */
  readonly kinds?: readonly string[];
  /** It came with a ready-made adapter: whoever runs it did not write it, and is not blamed where it says nothing. */
  readonly bundled?: true;
  /** Of several causes, each with a case of its own; what else stands here is of the first, with the reasons and kinds of all. */
  readonly causes?: readonly KnownFailure[];
}
export type KnownFailures = Readonly<Record<string, KnownFailure>>;

/** Several causes of one property's failures; undefined where there is none. */
export function together(causes: readonly KnownFailure[]): KnownFailure | undefined {
  const [first, ...rest] = causes;
  if (first === undefined || rest.length === 0) return first;
  const kinds = causes.flatMap(kindsOf).filter((kind) => kind !== first.kind);
  return {
    ...first,
    reason: causes.map(({ reason }) => reason).join(' '),
    kinds: [...new Set(kinds)],
    causes,
  };
}

/** Without its first cause; undefined where that was the only one. */
export function withoutFirst({ causes = [] }: KnownFailure): KnownFailure | undefined {
  return together(causes.slice(1));
}

/** The reason of an entry that no person has looked at. */
export const UNEXPLAINED = 'not explained yet';

/** The kind of a finding, or `error: crash` and the like. */
export function kindOf({
  finding,
  trainerFailure,
}: {
  readonly finding?: Failure['finding'] | undefined;
  readonly trainerFailure?: Failure['trainerFailure'] | undefined;
}): string {
  return finding?.kind ?? `error: ${trainerFailure?.kind ?? 'unknown'}`;
}

/** Undefined: the failures are the recorded ones. Otherwise what it was, and what it is or what stands beside it now. */
export function changeOf(known: KnownFailure, failures: readonly Failure[]): string | undefined {
  const [first] = failures;
  const stranger = failures.find((failure) =>
    known.kind === undefined ? failure.finding === undefined : !hasKind(known, failure),
  );
  if (stranger === undefined) return undefined;
  const was = known.kind === undefined ? 'a failure' : kindsOf(known).map(inQuotes).join(' and ');
  const now = inQuotes(kindOf(stranger));
  return `it was recorded as ${was} (${known.reason}), and ${stranger === first ? `is ${now} now` : `${now} stands beside it now`}`;
}

/** Whether a case in trouble is one of the kinds that are recorded. */
export function isOf(known: KnownFailure, outcome: CaseOutcome): boolean {
  if (outcome.kind === 'fails') return hasKind(known, outcome);
  return outcome.kind === 'error' && hasKind(known, { trainerFailure: outcome.failure });
}

/** An exception may be recorded by its words as well: `error: IndexError: list index out of range`. */
function hasKind(known: KnownFailure, failure: Parameters<typeof kindOf>[0]): boolean {
  const raised = failure.finding === undefined && failure.trainerFailure?.kind === 'error';
  const words = raised ? `error: ${failure.trainerFailure?.message.replace(/^\w+ raised: /, '')}` : undefined;
  const kinds = kindsOf(known);
  return kinds.includes(kindOf(failure)) || (words !== undefined && kinds.includes(words));
}

const kindsOf = ({ kind, kinds = [] }: KnownFailure): readonly string[] =>
  kind === undefined ? kinds : [kind, ...kinds];
const inQuotes = (kind: string): string => `"${kind}"`;

/** Reads `{"mask/...": {"reason": "...", "link": "...", "given": {...}, "kind": "...", "kinds": ["..."]}}`; only the reason must be there. */
export function readKnown(path: string): { known: KnownFailures } | { problem: string } {
  const read = readJson(path);
  if ('complaint' in read) return { problem: `${path} cannot be read as JSON: ${read.complaint}` };
  const value = read.ok;
  if (!isJsonObject(value)) {
    return { problem: `${path} must hold an object of property ids.` };
  }
  const known: (readonly [id: string, entry: KnownFailure])[] = [];
  for (const [id, entry] of Object.entries(value)) {
    const { reason, link, given, kind, kinds } = (entry ?? {}) as Record<string, unknown>;
    if (typeof reason !== 'string' || reason === '') return { problem: `${path}: "${id}" gives no reason.` };
    if (kind !== undefined && typeof kind !== 'string')
      return { problem: `${path}: the kind of "${id}" must be a text, such as "nan" or "error: crash".` };
    if (kinds !== undefined && !isTexts(kinds))
      return { problem: `${path}: the kinds of "${id}" must be a list of texts, such as ["nan"].` };
    known.push([
      id,
      {
        reason,
        ...(typeof link === 'string' ? { link } : {}),
        ...(kind === undefined ? {} : { kind }),
        ...(kinds === undefined ? {} : { kinds }),
        ...(given === undefined ? {} : { given }),
      },
    ]);
  }
  return { known: Object.fromEntries(known) };
}

const isTexts = (value: unknown): value is readonly string[] =>
  Array.isArray(value) && value.every((each) => typeof each === 'string');

/** What such a file holds. */
export function knownText(known: KnownFailures): string {
  return `${JSON.stringify(known, null, 2)}\n`;
}
