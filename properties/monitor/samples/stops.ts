// How a completion ends: at its first stop token, with nothing behind it but padding. Conversations of several turns in
// one completion are told by the header of a user or a tool behind the stop token, and left alone.
import type { MonitorRule, RuleWorld, Sample } from '../../../src/index.ts';
import { type Batch, type Fault, type Judgement, shareRule } from './batch.ts';
import { type Marks, marksOf, withoutEnd } from './marks.ts';
import { quote } from './text.ts';

export const stopRules: readonly MonitorRule[] = [
  shareRule({
    id: 'monitor/completions-end-at-their-stop-token',
    title: 'After its first stop token a completion has only padding',
    level: 'should',
    why: 'Tokens sampled after the end of the answer are trained and rewarded like the answer. A stop token that appears again and again is one that sampling does not stop at.',
    catches: ['EOS-03', 'EOS-05', 'EOS-09'],
    advice:
      'Give sampling every stop token of the model (generation_config.json lists them), and mask everything after the first.',
    share: 0.2,
    least: 4,
    faulty: 2,
    does: 'go on after their stop token',
    silent: 'no completion shows its stop token: the file has neither ids nor special tokens',
    judge: endJudge,
    confirm: (batch) => !isPadded(batch),
  }),
  shareRule({
    id: 'monitor/finish-reasons-fit-the-ids',
    title: 'A completion that ended by a stop token has it, and one that was cut has none',
    level: 'may',
    why: 'A stop token after a cut completion was never sampled, and a missing one is never trained: the model unlearns to stop, or learns to stop where it did not.',
    catches: ['EOS-06', 'EOS-07', 'EOS-11'],
    advice:
      'Train the ids as they were sampled. Stop texts end a completion without a token; then this is no fault.',
    share: 0.5,
    least: 8,
    faulty: 4,
    does: 'do not fit their finish reason',
    silent: 'no sample has both ids and a finish reason, and the stop tokens are known only with a tokenizer',
    judge: finishJudge,
  }),
];

function endJudge(world: RuleWorld): (sample: Sample) => Judgement {
  const marks = marksOf(world);
  return (sample) => {
    const { completionIds: ids, completion } = sample;
    if (ids !== undefined && world.tokens !== undefined) return endOfIds(ids, world.tokens, marks);
    if (completion === undefined) return undefined;
    const judged = endOfText(completion, marks);
    // Places in the text are none in the ids.
    return ids === undefined || judged === undefined || judged === 'fine'
      ? judged
      : { kind: judged.kind, which: judged.which };
  };
}

type Tokens = NonNullable<RuleWorld['tokens']>;

function endOfIds(ids: readonly number[], tokens: Tokens, marks: Marks): Judgement {
  const stops = new Set(tokens.stopIds);
  const first = ids.findIndex((id) => stops.has(id));
  if (first < 0 || first === ids.length - 1) return 'fine';
  const rest = ids.slice(first + 1);
  const from = first + 1;
  const stop = tokens.textOf(ids[first] ?? -1);
  if (rest.every((id) => id === tokens.padId)) return 'fine';
  if (rest.every((id) => stops.has(id) || id === tokens.padId)) {
    // Without a pad token of its own, a row is filled with what stops it.
    if (tokens.padId === undefined) return 'fine';
    return {
      kind: 'repeated stop token',
      which: `has ${rest.filter((id) => stops.has(id)).length + 1} stop tokens in a row, from token ${first} '${stop}' on`,
      marks: [[from, ids.length]],
    };
  }
  const after = tokens.decode(rest.slice(0, SHOWN_IDS));
  const judged = behindStop(after, marks, () => {
    const count = ids.filter((id) => stops.has(id)).length;
    return count > 1 && stops.has(ids.at(-1) ?? -1);
  });
  if (judged === undefined || judged === 'fine') return judged;
  return { ...judged, which: `${judged.which} after token ${first} '${stop}'`, marks: [[from, ids.length]] };
}

/** Ids behind the stop token that tell what comes there. */
const SHOWN_IDS = 32;

function endOfText(text: string, marks: Marks): Judgement {
  const found = marks.stops
    .map((stop) => ({ stop, at: text.indexOf(stop) }))
    .filter(({ at }) => at >= 0)
    .toSorted((left, right) => left.at - right.at)[0];
  // Most files skip special tokens, and then say nothing.
  if (found === undefined) return undefined;
  const { stop, at } = found;
  const from = at + stop.length;
  // An answer that speaks of the token quotes it.
  if (/[`'"“‘(]$/.test(text.slice(0, at))) return undefined;
  const rest = text.slice(from);
  let left = rest.trim();
  for (const mark of [...marks.stops, ...marks.pads]) left = left.replaceAll(mark, '');
  // Padding may be the stop token, and without a tokenizer nobody knows.
  if (left.trim() === '') return 'fine';
  const judged = behindStop(rest, marks, () => rest.includes(stop) && rest.trimEnd().endsWith(stop));
  if (judged === undefined || judged === 'fine') return judged;
  return { ...judged, which: `${judged.which} after ${quote(stop)}`, marks: [[from, text.length]] };
}

function behindStop(after: string, marks: Marks, endsWell: () => boolean): Fault | 'fine' | undefined {
  const rest = after.trimStart();
  // The line end that a template writes behind a turn.
  if (withoutEnd(rest, marks) === '') return 'fine';
  if (marks.answers.some((header) => rest.startsWith(header.trim())))
    return { kind: 'answers itself', which: `goes on with another answer ${quote(rest)}` };
  // Several turns of one rollout, whose users and tools were not sampled.
  if (marks.headers.some((header) => rest.startsWith(header))) return undefined;
  if (endsWell()) return undefined;
  return { kind: 'tokens after the stop', which: `goes on with ${quote(after)}` };
}

/** Rows of one width are a rectangle as a batch is padded, whatever it is padded with. */
function isPadded({ widths, faults, judged }: Batch): boolean {
  return judged > 1 && widths.size === 1 && faults.every(({ fault }) => fault.kind === 'repeated stop token');
}

function finishJudge(world: RuleWorld): (sample: Sample) => Judgement {
  let kept = false;
  return ({ completionIds: ids, finish }) => {
    const { tokens } = world;
    if (ids === undefined || ids.length === 0 || finish === undefined || tokens === undefined)
      return undefined;
    const stops = new Set(tokens.stopIds);
    let end = ids.length;
    while (
      end > 1 &&
      ids[end - 1] === tokens.padId &&
      !(stops.has(ids[end - 1] ?? -1) && !stops.has(ids[end - 2] ?? -1))
    )
      end--;
    const last = ids[end - 1] ?? -1;
    const stopped = stops.has(last);
    if (finish === 'stop') {
      kept ||= stopped;
      // A file may leave stop tokens out of all completions.
      if (stopped || !kept) return stopped ? 'fine' : undefined;
      return {
        kind: 'stop token missing',
        which: `ended by a stop token and ends with token ${end - 1} '${tokens.textOf(last)}', though others of this run have theirs`,
        marks: [[end - 1, end]],
      };
    }
    // Of several turns, the last may have stopped and the row be full.
    if (!stopped || ids.slice(0, end - 1).some((id) => stops.has(id))) return 'fine';
    return {
      kind: 'stop token appended',
      which: `was cut at the limit, and ends with the stop token '${tokens.textOf(last)}' all the same`,
      marks: [[end - 1, end]],
    };
  };
}
