// What a trainer refused, by request: which one, how often, in whose words, and which properties are lost by it. A reason
// alone names what was refused last; who wrote the adapter wants to know which answer is missing.
import { isOptional } from '../protocol/fields.ts';
import { type Args, type Hello, OPS, type Op } from '../protocol/message.ts';
import type { Trainer } from '../trainer/trainer.ts';
import type { Message } from '../vocabulary.ts';
import type { Marks, PropertyResult, Refusal, RefusalReason, RequestTally, RunEnd } from './events.ts';
import { isLostToRefusals, isMuchRefused } from './refused/lost.ts';
import { givenIn, unjudgedOf } from './refused/unjudged.ts';

export interface Requests {
  /** The trainer, each of whose answers is counted for this property. */
  counting(trainer: Trainer, property: string): Trainer;
  /** Of a property, what most of its refused requests were, with the words: "`tokenize` on route sft is refused: ...". */
  reasonOf(property: string): string | undefined;
  readonly tally: RequestTally;
}

/** A trainer that says something else each time is not told apart without end. */
const MOST_REASONS = 200;

export function countRequests(): Requests {
  const answered: Record<string, Marks> = {};
  const given: Record<string, Marks> = {};
  const reasons: Record<string, RefusalReason> = {};
  const tally: RequestTally = { answered, given, refused: reasons };

  const refused = (op: Op, why: string, property: string, marks: readonly string[]): void => {
    const key = `${op} ${why.replaceAll(/\d+/g, '#')}`;
    if (reasons[key] === undefined && Object.keys(reasons).length < MOST_REASONS)
      reasons[key] = { op, why, marks: noMarks(), of: {} };
    const reason = reasons[key];
    if (reason === undefined) return;
    count(reason.marks, marks);
    count(from(reason.of, property), marks);
  };

  return {
    tally,
    counting: (trainer, property) => ({
      hello: trainer.hello,
      async ask(op, args, how) {
        const outcome = await trainer.ask(op, args, how);
        if (outcome.kind === 'ok') {
          count(from(answered, op), marksOf(op, args));
          count(from(given, op), givenIn(op, outcome.ok));
        } else if (outcome.kind !== 'failure') refused(op, outcome.why, property, marksOf(op, args));
        return outcome;
      },
      line: (op, args) => trainer.line(op, args),
      helloLine: () => trainer.helloLine(),
      restart: () => trainer.restart(),
      stop: () => trainer.stop(),
      stderrTail: () => trainer.stderrTail(),
    }),
    reasonOf(property) {
      const reason = mostOf(tally, property);
      const marks = reason?.of[property];
      if (reason === undefined || marks === undefined) return undefined;
      return `${requestWords(reason.op, shared(marks).filter(isArgument))} is refused: ${reason.why}`;
    },
  };
}

/** What a whole run lacks: answers that were refused, and what no property could judge without more answers. */
export function lacksOf(
  tally: RequestTally,
  results: readonly PropertyResult[],
  hello: Hello,
): Pick<RunEnd, 'refusals' | 'unjudged'> {
  const refusals = refusalsOf(tally, results);
  const unjudged = unjudgedOf(tally, hello);
  return {
    ...(refusals.length === 0 ? {} : { refusals }),
    ...(unjudged.length === 0 ? {} : { unjudged }),
  };
}

/** What was refused and cost something, the dearest first. */
function refusalsOf(tally: RequestTally, results: readonly PropertyResult[]): readonly Refusal[] {
  const costs = new Map<RefusalReason, { lost: string[]; weakened: string[] }>();
  for (const result of results) {
    const { id } = result;
    const lost = isLostToRefusals(result);
    const weakened = isMuchRefused(result);
    const reason = lost || weakened ? mostOf(tally, id) : undefined;
    if (reason === undefined) continue;
    const cost = costs.get(reason) ?? { lost: [], weakened: [] };
    costs.set(reason, cost);
    (lost ? cost.lost : cost.weakened).push(id);
  }
  return [...costs]
    .sort(([, a], [, b]) => b.lost.length - a.lost.length || b.weakened.length - a.weakened.length)
    .map(([{ op, why, marks }, cost]) => ({
      op,
      request: distinguishing(marks, tally.answered[op]),
      times: marks.total,
      why,
      ...cost,
    }));
}

/** Of runs that each judged some of the properties. */
export function joinedTally(tallies: readonly RequestTally[]): RequestTally {
  const answered: Record<string, Marks> = {};
  const given: Record<string, Marks> = {};
  const refused: Record<string, RefusalReason> = {};
  for (const tally of tallies) {
    for (const [op, marks] of Object.entries(tally.answered)) addMarks(from(answered, op), marks);
    for (const [op, marks] of Object.entries(tally.given ?? {})) addMarks(from(given, op), marks);
    for (const [key, reason] of Object.entries(tally.refused)) {
      refused[key] ??= { op: reason.op, why: reason.why, marks: noMarks(), of: {} };
      addMarks(refused[key].marks, reason.marks);
      for (const [id, marks] of Object.entries(reason.of)) addMarks(from(refused[key].of, id), marks);
    }
  }
  return { answered, given, refused };
}

/** The reason for most of what a property was refused. */
function mostOf({ refused }: RequestTally, property: string): RefusalReason | undefined {
  const times = (reason: RefusalReason): number => reason.of[property]?.total ?? 0;
  const [most] = Object.values(refused).sort((a, b) => times(b) - times(a));
  return most === undefined || times(most) === 0 ? undefined : most;
}

/** "`tokenize` on route sft with add_generation_prompt true". */
export function requestWords(op: string, marks: readonly string[]): string {
  return [`\`${op}\``, ...marks].join(' ');
}

const noMarks = (): Marks => ({ total: 0, counts: {} });

function from(all: Record<string, Marks>, key: string): Marks {
  all[key] ??= noMarks();
  return all[key];
}

function count(marks: Marks, seen: readonly string[]): void {
  marks.total++;
  for (const mark of seen) marks.counts[mark] = (marks.counts[mark] ?? 0) + 1;
}

function addMarks(marks: Marks, more: Readonly<Marks>): void {
  marks.total += more.total;
  for (const [mark, times] of Object.entries(more.counts))
    marks.counts[mark] = (marks.counts[mark] ?? 0) + times;
}

const shared = ({ total, counts }: Marks): string[] =>
  Object.entries(counts).flatMap(([mark, times]) => (times === total ? [mark] : []));

/** What all refused requests have, less what all answered ones have, too. */
function distinguishing(refused: Marks, answered: Marks | undefined): string[] {
  const all = shared(refused);
  if (answered === undefined) return all.filter(isArgument);
  return all.filter((mark) => answered.counts[mark] !== answered.total);
}

/** Arguments with few values, which an adapter may answer or not; any other text is the case's own. */
const NAMED: Readonly<Record<string, (value: string) => string>> = {
  route: (value) => `on route ${value}`,
  padding_side: (value) => `with padding_side ${value}`,
  mode: (value) => `in mode ${value}`,
  kl_estimator: (value) => `with kl_estimator ${value}`,
};

const SYSTEM = 'of a conversation with a system message';
const TOOLS = 'of a conversation with messages of role tool';
const TURNS = 'of a conversation with several turns';
const isArgument = (mark: string): boolean => ![SYSTEM, TOOLS, TURNS].includes(mark);

/** What of a request an adapter may well treat in a way of its own. */
function marksOf<O extends Op>(op: O, args: Args<O>): readonly string[] {
  const marks: string[] = [];
  const specs: Readonly<Record<string, string>> = OPS[op].args;
  for (const [name, value] of Object.entries(args)) {
    const spec = specs[name] ?? '';
    if (value === undefined) continue;
    if (typeof value === 'boolean') marks.push(`with ${name} ${value}`);
    else if (typeof value === 'string' && NAMED[name] !== undefined) marks.push(NAMED[name](value));
    else if (isOptional(spec)) marks.push(`with ${name}`);
    if (spec === 'messages') marks.push(...marksOfMessages(value as readonly Message[]));
  }
  return marks;
}

function marksOfMessages(messages: readonly Message[]): string[] {
  const of = (wanted: Message['role']): number => messages.filter(({ role }) => role === wanted).length;
  return [
    ...(of('system') > 0 ? [SYSTEM] : []),
    ...(of('tool') > 0 ? [TOOLS] : []),
    ...(of('user') > 1 ? [TURNS] : []),
  ];
}
