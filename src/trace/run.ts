// One run over a ledger: every property judged, as the same events that `check` emits, so that every report reads them.

import {
  type Failure,
  NOT_TRIED,
  type PropertyFacts,
  type PropertyResult,
  type Replay,
  type RunEvent,
} from '../check/events.ts';
import type { Finding } from '../check/property.ts';
import { caseId } from '../check/saved/saved-case.ts';
import type { Hello } from '../protocol/message.ts';
import { PROTOCOL } from '../protocol/message.ts';
import { VERSION } from '../version.ts';
import type { Semantics, Verdict } from '../vocabulary.ts';
import type { Ledger, LedgerProcess } from './ledger.ts';
import {
  type LedgerJudgement,
  type LedgerNotice,
  type LedgerProperty,
  mostCommon,
  nothingJudged,
} from './property.ts';

export { blindness, partlyBlind } from './blindness.ts';

/** What only the caller of a run knows. */
export interface RunFacts {
  /** The traced command, as typed. */
  readonly command: string;
  /** How a failure is seen again: usually by judging the recorded trace again. */
  readonly replay: Replay;
  /** ISO 8601 in UTC; by default when the first of the script's processes began. */
  readonly started?: string;
  /** What `--semantics` said. */
  readonly configured?: Semantics;
  /** What a property noticed and nobody has declared is asked, and fails the run until it is. */
  readonly strict?: boolean;
  /** Ids of properties of which the user says that what they noticed is meant. */
  readonly meant?: readonly string[];
}

/** Judges the ledger and returns the results; `emit` sees each event as it happens. Known failures are the caller's. */
export function judgeLedger(
  ledger: Ledger,
  properties: readonly LedgerProperty[],
  facts: RunFacts,
  emit: (event: RunEvent) => void,
): readonly PropertyResult[] {
  const { command, replay, configured } = facts;
  const started = facts.started ?? startOf(ledger);
  const begun = performance.now();
  emit({
    type: 'run-start',
    seed: NO_SEED,
    cases: ledger.rows.length,
    hello: helloOf(ledger),
    command,
    properties: properties.map(factsOf),
    version: VERSION,
    ...(started === undefined ? {} : { started }),
    ...(configured === undefined ? {} : { configured }),
    replay,
  });
  const notes: Told[] = [];
  const results = properties.map((property, index) => {
    emit({ type: 'property-start', id: property.id, index, total: properties.length });
    const before = performance.now();
    const { notices: all, ...judged } = resultOf(property, ledger);
    const meant = facts.meant?.includes(property.id) === true;
    const notices = all.flatMap((each) => answerable(property, each, meant));
    const questions = ASKED.includes(judged.verdict)
      ? notices.filter(
          ({ answers, asked }) => asked === true || (facts.strict === true && answers.length > 0),
        )
      : [];
    notes.push(...notices.filter((each) => !questions.includes(each)).map(toldOf));
    const result = {
      ...(questions.length > 0 ? askedOf(judged, questions) : judged),
      milliseconds: performance.now() - before,
    };
    emit({ type: 'property-end', result });
    return result;
  });
  emit({
    type: 'run-end',
    interrupted: false,
    milliseconds: performance.now() - begun,
    ...(notes.length === 0 ? {} : { notes }),
  });
  return results;
}

/** The traced script as a trainer introduces itself; it answers no op. */
export function helloOf({ processes, versions, settings }: Ledger): Hello {
  const main = mainOf(processes, ({ end }) => end?.modules_called === true);
  const libraries = Object.entries(versions).map(([name, version]) => `${name} ${version}`);
  const python = main === undefined ? [] : [`python ${main.python}`];
  const script = main === undefined ? '' : scriptOf(main.argv);
  return {
    protocol: PROTOCOL,
    name: [script, settings.trainer === undefined ? '' : `(${settings.trainer})`].filter(Boolean).join(' '),
    runtime: [...python, ...libraries].join(', '),
    ops: {},
    semantics: settings.semantics,
  };
}

/** The process whose command line is the script's: under Ray the driver, else the first that is so, or any. */
export function mainOf(
  processes: Ledger['processes'],
  isSo: (process: LedgerProcess) => boolean,
): LedgerProcess | undefined {
  return processes.find(({ name }) => name === 'driver') ?? processes.find(isSo) ?? processes[0];
}

// --- helpers ---

/** Nothing is drawn. */
const NO_SEED = 0;
/** Of the other findings so many are told in words; all of them are in the rows. */
const MOST_TOLD = 3;

function factsOf({ id, title, stage, level, why, catches }: LedgerProperty): PropertyFacts {
  return { id, title, stage, level, why, catches };
}

/** As reports take it; absent where no process says it in that form. */
function startOf({ processes }: Ledger): string | undefined {
  const [first] = processes.map(({ started }) => started).toSorted();
  return first !== undefined && INSTANT.test(first) ? first : undefined;
}

const INSTANT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/;

/** The script's file name, or the module that Python was told to run, of a command line with or without the interpreter. */
function scriptOf(argv: readonly string[]): string {
  const words = INTERPRETER.test(argv[0] ?? '') ? argv.slice(1) : argv;
  for (let at = 0; at < words.length; at++) {
    const word = words[at] ?? '';
    if (word === '-m' || word === '-c')
      return `python ${word} ${word === '-m' ? (words[at + 1] ?? '') : '...'}`;
    if (!word.startsWith('-')) return word.split(/[\\/]/).at(-1) ?? word;
    if (WITH_VALUE.has(word)) at++;
  }
  return argv.length === 0 ? '' : 'python';
}

const INTERPRETER = /(^|[\\/])(python|pypy)[\d.]*(\.exe)?$/;
/** Options of Python whose value is a word of its own. */
const WITH_VALUE = new Set(['-W', '-X', '--check-hash-based-pycs']);

type Noticed = PropertyResult & { readonly notices: readonly LedgerNotice[] };

function resultOf(property: LedgerProperty, ledger: Ledger): Noticed {
  const { id, title, level } = property;
  const bare = { id, title, level, ...NOT_TRIED, notices: [] };
  let judgement: LedgerJudgement;
  try {
    const missing = property.needs?.(ledger);
    if (missing !== undefined) return { ...bare, verdict: 'unsupported', reason: missing };
    judgement = property.judge(ledger);
  } catch (error) {
    // One bad check must not keep the others' findings from the user.
    const said = error instanceof Error ? error.message : String(error);
    const reason = `the check itself failed, which is a fault of lossproof: ${said}`;
    return { ...bare, verdict: 'error', reason };
  }
  const { judged, labels = {}, notices = [] } = judgement;
  const setAside = judgement.setAside.length;
  const why = mostCommon(judgement.setAside);
  const counted = { ...bare, cases: judged + setAside, setAside, labels, notices };
  const failure = failureOf(property, judgement);
  if (failure !== undefined) return { ...counted, verdict: 'fail', failure };
  if (judged > 0) return { ...counted, verdict: 'pass', ...(why === undefined ? {} : { reason: why }) };
  const reason =
    setAside > 0 ? nothingJudged(judgement.setAside) : 'no row of the kind that it checks was trained';
  return { ...counted, verdict: 'skipped', reason };
}

/** As it is told: with a line that answers it, unless it is a remark; nothing where the user has said that it is meant. */
function answerable({ id }: LedgerProperty, notice: LedgerNotice, meant: boolean): readonly LedgerNotice[] {
  if (notice.remark === true) return [{ ...notice, answers: [] }];
  if (notice.answers.length > 0) return [notice];
  return meant ? [] : [{ ...notice, answers: [`--meant ${id}`] }];
}

const toldOf = ({ sentence, answers }: LedgerNotice): Told => ({ sentence, answers });

type Told = Pick<LedgerNotice, 'sentence' | 'answers'>;

/** Of a strict run: what else fails, fails by itself. */
const ASKED: readonly Verdict[] = ['pass', 'skipped'];

function askedOf(result: PropertyResult, notices: readonly LedgerNotice[]): PropertyResult {
  return {
    ...result,
    verdict: 'ask',
    reason: notices.map(({ sentence }) => sentence).join(' '),
    answers: [...new Set(notices.flatMap(({ answers }) => answers))],
  };
}

function failureOf({ id }: LedgerProperty, judgement: LedgerJudgement): Failure | undefined {
  const [first] = judgement.findings;
  if (first === undefined) return undefined;
  const { given, ...finding } = first;
  return {
    caseId: caseId(id, given),
    finding: withOthers(finding, judgement),
    given,
    casesToFail: Math.max(1, judgement.judged),
    shrinks: 0,
    confirmed: 'not re-run',
    seed: NO_SEED,
    lines: [],
  };
}

/** The first finding, with the others told behind its note. */
function withOthers(finding: Finding, { findings, more }: LedgerJudgement): Finding {
  const others = findings.slice(1);
  const told = others.slice(0, MOST_TOLD).map(({ sentence }) => sentence);
  const rest = others.length - told.length + more;
  const also = told.length === 0 ? [] : [`Also: ${told.join(' ')}`];
  const counted = rest === 0 ? [] : [`And ${rest} more of the same rule.`];
  const note = [...(finding.note === undefined ? [] : [finding.note]), ...also, ...counted].join(' ');
  return note === '' ? finding : { ...finding, note };
}
