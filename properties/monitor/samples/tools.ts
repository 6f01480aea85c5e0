// Tool calls in completions: JSON between tags, as Qwen, Hermes and most agents write them. Other formats (XML, Python,
// key and value) are not judged, nor is a call that the limit cut. A policy that learns the format writes many that are
// wrong at first; so a share counts once it was better, or once it does not get better.
import {
  type MonitorRule,
  parseStrict,
  type RuleWorld,
  type Sample,
  type Violation,
} from '../../../src/index.ts';
import { closesBefore, numberSetting, stepsOf } from './batch.ts';
import { quote } from './text.ts';

export const toolRules: readonly MonitorRule[] = [
  {
    id: 'monitor/tool-calls-are-well-formed',
    title: 'Tool calls are JSON with a name, and their share does not fall',
    stage: 'monitor',
    level: 'should',
    why: 'A policy whose calls stop parsing gets no observations and no reward; it is how a run with tools begins to collapse.',
    catches: [],
    advice:
      'Look at the steps before for a spike of the gradient norm or the KL; where no call was ever well-formed, compare the format in the prompt with the one that the environment parses.',
    roles: [],
    samples: true,
    settings: {
      share: { default: 0.5, what: 'Share of the calls of a step, 0 to 1, from which it is a failure.' },
      least: { default: 32, what: 'Calls that must be judged together; smaller steps are put together.' },
      steps: { default: 10, what: 'Steps in a row with that share, for a run that was never better.' },
    },
    watch: watchCalls,
  },
];

interface Wrong {
  readonly sample: Sample;
  readonly at: number;
  readonly end: number;
  readonly why: string;
}

function watchCalls(world: RuleWorld) {
  const share = numberSetting(world, 'share');
  const enough = numberSetting(world, 'least');
  const patience = numberSetting(world, 'steps');
  let [judged, total, wrong, bad] = [0, 0, 0, 0];
  let said = false;
  let best = Number.POSITIVE_INFINITY;
  let first: Wrong | undefined;
  let firstOfRun: Wrong | undefined;
  let [from, last]: (number | undefined)[] = [undefined, undefined];
  const close = (): Violation | undefined => {
    if (total < enough) return undefined;
    judged += total;
    const now = wrong / total;
    const told = { wrong, total, from, to: last, first };
    [total, wrong, first] = [0, 0, undefined];
    if (now < share) {
      best = Math.min(best, now);
      [bad, firstOfRun] = [0, undefined];
      return undefined;
    }
    bad++;
    firstOfRun ??= told.first;
    const fell = bad >= IN_A_ROW && best <= share * WAS_GOOD;
    if (said || (!fell && bad < patience) || told.first === undefined) return undefined;
    said = true;
    const { sample, at, end, why } = firstOfRun ?? told.first;
    return {
      kind: fell ? 'calls broke' : 'calls never parse',
      sentence: `${told.wrong} of ${told.total} tool calls${stepsOf(told)} are malformed${fell ? `, and of earlier ones no more than ${Math.round(best * 100)} %` : `, and so for ${bad} steps`}: the first is in ${sample.where}, where ${why}.`,
      ...(sample.step === undefined ? {} : { step: sample.step }),
      value: now,
      low: 0,
      high: share,
      sample,
      ...(sample.completionIds === undefined ? { marks: [[at, end] as const] } : {}),
    };
  };
  return {
    sample(sample: Sample): Violation | undefined {
      const calls = callsIn(sample);
      if (calls.length === 0) return undefined;
      const violation = closesBefore(sample, last, total, enough) ? close() : undefined;
      if (total === 0) from = sample.step;
      last = sample.step;
      for (const call of calls) {
        total++;
        if (call.why === undefined) continue;
        wrong++;
        first ??= { sample, at: call.at, end: call.end, why: call.why };
      }
      return violation;
    },
    end: close,
    judged: () => judged,
    why: () =>
      total > 0
        ? `it needs ${enough} tool calls in <tool_call> tags; it saw ${total}`
        : 'no completion has a <tool_call>',
  };
}

/** A share of 0.3 reaches 0.5 of 32 calls by chance in one step of seventy, three times in a row never. */
const IN_A_ROW = 3;
/** Of the share that fails: a step of a run whose calls were well-formed. */
const WAS_GOOD = 0.2;

interface Call {
  readonly at: number;
  readonly end: number;
  /** What is wrong with it. */
  readonly why?: string;
}

function callsIn({ completion, finish }: Sample): Call[] {
  if (completion === undefined || !completion.includes(OPEN)) return [];
  // Thoughts speak of calls; blanked and not cut, so that places stay.
  const text = completion.replaceAll(/<think>[\s\S]*?(?:<\/think>|$)/g, (thought) =>
    ' '.repeat(thought.length),
  );
  const calls: Call[] = [];
  for (let at = text.indexOf(OPEN); at >= 0; at = text.indexOf(OPEN, at + OPEN.length)) {
    const from = at + OPEN.length;
    const next = text.indexOf(OPEN, from);
    const closed = text.indexOf(CLOSE, from);
    const isClosed = closed >= 0 && (next < 0 || closed < next);
    const end = isClosed ? closed : next < 0 ? text.length : next;
    const body = text.slice(from, end).trim();
    const why = faultOf(body, isClosed || next >= 0, finish);
    if (why !== 'other format') calls.push({ at, end, ...(why === undefined ? {} : { why }) });
  }
  return calls;
}

const OPEN = '<tool_call>';
const CLOSE = '</tool_call>';

function faultOf(body: string, ended: boolean, finish: Sample['finish']): string | undefined {
  // Qwen3-Coder and GLM write tags inside; a bare word may be a name that tags follow.
  if (/^<|<(?:function|parameter|arg_key|arg_value|invoke)\b/.test(body)) return 'other format';
  // Python calls f(x=1), and GLM's call without arguments, which is a name alone.
  if (/^\[?[A-Za-z_][\w.]*\(|^[\w.-]+$/.test(body)) return 'other format';
  const read = parseStrict(body);
  if ('complaint' in read) {
    // The closing tag may be a stop text, and what the limit cut is no mistake of the format.
    if (!ended && finish !== 'stop') return 'other format';
    return `${quote(body)} is no JSON`;
  }
  const calls: readonly unknown[] = Array.isArray(read.ok) ? read.ok : [read.ok];
  const named = calls.every(
    (call) =>
      typeof call === 'object' && call !== null && NAMES.some((name) => name in call && call !== null),
  );
  return named ? undefined : `${quote(body)} names no tool`;
}

const NAMES = ['name', 'function', 'tool', 'tool_name', 'action', 'recipient_name'] as const;
