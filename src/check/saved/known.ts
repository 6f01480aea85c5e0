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
  /** Labels of the property: of cases that lack one of them, this is not why they fail. */
  readonly labels?: readonly string[];
  /** It came with a ready-made adapter: whoever runs it did not write it, and is not blamed where it says nothing. */
  readonly bundled?: true;
  /** Of several causes, each with a case of its own; what else stands here is of the first, with the reasons and kinds of all. */
  readonly causes?: readonly KnownFailure[];
}
export type KnownFailures = Readonly<Record<string, KnownFailure>>;

/** What a case exercises, by the labels of its property. */
export type LabelsOf = (given: unknown) => readonly string[];

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
export function changeOf(
  known: KnownFailure,
  failures: readonly Failure[],
  labelsOf: LabelsOf,
): string | undefined {
  const [first] = failures;
  const stranger = failures.find((failure) =>
    known.kind === undefined ? failure.finding === undefined : !explains(known, failure, labelsOf),
  );
  if (stranger === undefined) return undefined;
  const lacking = lackingOf(known, stranger, labelsOf);
  if (lacking !== undefined)
    return `it was recorded where a case has ${lacking.map(inQuotes).join(' and ')} (${known.reason}), and fails in the same way without that now`;
  const was = known.kind === undefined ? 'a failure' : kindsOf(known).map(inQuotes).join(' and ');
  const now = inQuotes(kindOf(stranger));
  return `it was recorded as ${was} (${known.reason}), and ${stranger === first ? `is ${now} now` : `${now} stands beside it now`}`;
}

/** Whether a case in trouble is one of those that are recorded. */
export function isOf(known: KnownFailure, given: unknown, outcome: CaseOutcome, labelsOf: LabelsOf): boolean {
  if (outcome.kind === 'fails') return explains(known, { given, finding: outcome.finding }, labelsOf);
  return outcome.kind === 'error' && explains(known, { given, trainerFailure: outcome.failure }, labelsOf);
}

type Trouble = Parameters<typeof kindOf>[0] & Pick<Failure, 'given'>;

/** One of its causes has the kind, and the case what that cause needs. */
function explains(known: KnownFailure, failure: Trouble, labelsOf: LabelsOf): boolean {
  return causesOf(known).some(
    (cause) => hasKind(cause, failure) && lacks(cause, failure, labelsOf).length === 0,
  );
}

/** Where a kind is recorded, the labels that the case lacks. */
function lackingOf(known: KnownFailure, failure: Trouble, labelsOf: LabelsOf): readonly string[] | undefined {
  const cause = causesOf(known).find((each) => hasKind(each, failure));
  return cause === undefined ? undefined : lacks(cause, failure, labelsOf);
}

function lacks({ labels = [] }: KnownFailure, { given }: Trouble, labelsOf: LabelsOf): readonly string[] {
  if (labels.length === 0) return labels;
  const own = labelsOf(given);
  return labels.filter((label) => !own.includes(label));
}

const causesOf = (known: KnownFailure): readonly KnownFailure[] => known.causes ?? [known];

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

/** Reads `{"mask/...": {"reason": "...", "link": "...", "given": {...}, "kind": "...", "kinds": ["..."], "labels": ["..."]}}`; only the reason must be there. */
export function readKnown(path: string): { known: KnownFailures } | { problem: string } {
  const read = readJson(path);
  if ('complaint' in read) return { problem: `${path} cannot be read as JSON: ${read.complaint}` };
  const value = read.ok;
  if (!isJsonObject(value)) {
    return { problem: `${path} must hold an object of property ids.` };
  }
  const known: (readonly [id: string, entry: KnownFailure])[] = [];
  for (const [id, entry] of Object.entries(value)) {
    const { reason, link, given, kind, kinds, labels } = (entry ?? {}) as Record<string, unknown>;
    if (typeof reason !== 'string' || reason === '') return { problem: `${path}: "${id}" gives no reason.` };
    if (kind !== undefined && typeof kind !== 'string')
      return { problem: `${path}: the kind of "${id}" must be a text, such as "nan" or "error: crash".` };
    if (kinds !== undefined && !isTexts(kinds))
      return { problem: `${path}: the kinds of "${id}" must be a list of texts, such as ["nan"].` };
    if (labels !== undefined && !isTexts(labels))
      return {
        problem: `${path}: the labels of "${id}" must be a list of texts, as "All ... failing cases have" below a failure names them.`,
      };
    if (labels !== undefined && kind === undefined)
      return { problem: `${path}: "${id}" has labels and no kind of failure that they are of.` };
    known.push([
      id,
      {
        reason,
        ...(typeof link === 'string' ? { link } : {}),
        ...(kind === undefined ? {} : { kind }),
        ...(kinds === undefined ? {} : { kinds }),
        ...(labels === undefined ? {} : { labels }),
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
