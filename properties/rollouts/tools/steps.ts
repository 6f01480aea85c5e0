// The environment's step at the text of one turn. It says of a text what the parser says, answers what fails, and
// keeps nothing from one episode to the next.
import fc from 'fast-check';
import {
  type CallKind,
  type CallText,
  type CallTexts,
  callLabels,
  callText,
  discard,
  meantOr,
  type Need,
  notMeant,
  type Property,
  show,
  type World,
} from '../../../src/index.ts';
import { MISTAKES, otherStatus } from './calls.ts';
import { base, capabilityOf, firstOf, hasTools, parsed, SILENT, shown, stepped, tagsOf } from './texts.ts';

/** Mistakes that no parser mends. */
const FAILED: readonly CallKind[] = ['not json', 'unknown tool', 'missing argument', 'no arguments', 'cut'];

/** What a step may say where a call is no JSON. */
const FREE_STATUSES: readonly string[] = ['call', 'no_call'];
const callsAreJson: Need = notMeant('free_text_calls');

export const stepProperties: readonly Property<CallTexts>[] = [
  {
    ...base('tool_step'),
    level: 'must',
    id: 'tools/no-step-raises',
    title: 'Every text is a step, with a finite reward and done 0 or 1',
    why: 'An environment that raises at a bad call loses the rollout that should have taught not to make it.',
    catches: [],
    check: (subject, given) =>
      firstOf(given, async ({ text, name }) => {
        const outcome = await subject.attempt('tool_step', { text });
        // A tool that is not there while it is tested may be refused on purpose.
        if (name !== undefined && 'refused' in outcome && outcome.failure === undefined) return SILENT;
        if ('refused' in outcome)
          return {
            kind: 'raises',
            sentence: `The text ${shown(text)} is no step: ${outcome.refused}. Answer an observation that says so.`,
          };
        const { reward, done } = outcome.ok;
        if (!Number.isFinite(reward))
          return { kind: 'reward', sentence: `The step for ${shown(text)} has the reward ${reward}.` };
        return done === 0 || done === 1
          ? undefined
          : { kind: 'done', sentence: `The step for ${shown(text)} has done ${done}, expected 0 or 1.` };
      }),
  },
  {
    ...base('tool_step'),
    level: 'must',
    ops: ['tool_step', 'parse_tool_call'],
    id: 'tools/steps-agree-with-the-parser',
    title: 'The environment gives a text the status that the parser gives it',
    why: 'Two parsers in one trainer disagree about what was a call: one runs it, the other punishes it.',
    catches: [],
    check: (subject, given) =>
      firstOf(given, async ({ text }) => {
        const [step, call] = [await stepped(subject, text), await parsed(subject, text)];
        if (step === undefined || call === undefined) return SILENT;
        return step.status === call.status
          ? undefined
          : {
              kind: 'status',
              sentence: `The text ${shown(text)} has the status "${call.status}" in the parser and "${step.status}" in the environment.`,
            };
      }),
  },
  {
    ...base('tool_step', MISTAKES),
    needs: [hasTools('tool_step'), callsAreJson],
    level: 'must',
    id: 'tools/steps-tell-mistakes-apart',
    title: 'A step has the status of what is wrong with its call',
    why: 'An environment that parses for itself runs what no tool takes, or counts one mistake as another.',
    catches: [],
    check: (subject, given) =>
      firstOf(given, async (drawn) => {
        const step = await stepped(subject, drawn.text);
        if (step === undefined) return SILENT;
        const other = otherStatus(drawn, step.status);
        const mayBeText = drawn.kind !== 'no call' && FREE_STATUSES.includes(step.status);
        return other && mayBeText ? { ...other, ...meantOr(subject, 'free_text_calls') } : other;
      }),
  },
  {
    ...base('tool_step', FAILED),
    level: 'should',
    id: 'tools/failed-calls-are-answered',
    title: 'A call that fails ends the episode, or is answered with an observation that is not empty',
    why: 'A policy that gets no reply makes the same call again until its budget is spent.',
    catches: [],
    check: (subject, given) =>
      firstOf(given, async (drawn) => {
        const step = await stepped(subject, drawn.text);
        if (step === undefined || step.status === 'call') return SILENT;
        const { observation, done } = step;
        return done === 1 || observation.trim() !== ''
          ? undefined
          : {
              kind: 'silent',
              sentence: `The text ${shown(drawn.text)} (${drawn.kind}) is answered with nothing, and the episode goes on.`,
            };
      }),
  },
  {
    ...base('tool_step', ['call', 'no call']),
    level: 'should',
    id: 'tools/calls-go-on-and-answers-end',
    title: 'The episode goes on after a well-formed call, and ends with an answer',
    why: 'An episode that ends at its first call never sees what the tool said; one that never ends trains on its limit.',
    catches: [],
    coverage: { call: 0.15, 'no call': 0.15 },
    check: (subject, given) =>
      firstOf(given, async ({ text, kind }) => {
        const step = await stepped(subject, text);
        if (step === undefined) return SILENT;
        const { done } = step;
        return done === (kind === 'call' ? 0 : 1)
          ? undefined
          : {
              kind,
              sentence: `After the ${kind === 'call' ? 'well-formed call' : 'answer'} ${shown(text)} the episode ${done === 1 ? 'ends' : 'goes on'}.`,
            };
      }),
  },
];

interface TwoCalls {
  readonly call: CallText;
  readonly other: CallText;
}

const two =
  (kinds: readonly CallKind[]) =>
  (world: World): fc.Arbitrary<TwoCalls> => {
    const one = (of: readonly CallKind[]) =>
      callText(capabilityOf(world, 'tool_step')?.tool_specs ?? [], tagsOf(world, 'tool_step'), of);
    return fc.record({ call: one(['call']), other: one(kinds) });
  };

const twoBase = {
  stage: 'tools',
  ops: ['tool_step'],
  needs: [hasTools('tool_step')],
  labels: ({ other }: TwoCalls) => callLabels({ texts: [other] }),
} as const;

export const twoStepProperties: readonly Property<TwoCalls>[] = [
  {
    ...twoBase,
    // A price for each call that runs is a legal one.
    level: 'should',
    id: 'tools/failed-calls-earn-no-more-than-good-ones',
    title: 'A call that fails earns no more than a well-formed one',
    why: 'Where a broken call is worth as much, nothing teaches the form; where it is worth more, the form is unlearned.',
    catches: [],
    given: two(FAILED),
    async check(subject, { call, other }) {
      const [good, failed] = [await stepped(subject, call.text), await stepped(subject, other.text)];
      if (good === undefined || failed === undefined) return discard('there is no step to judge');
      if (good.status !== 'call' || failed.status === 'call')
        return discard('the trainer takes one of them for the other', 'trainer');
      return failed.reward <= good.reward
        ? undefined
        : {
            kind: 'reward',
            sentence: `The text ${shown(other.text)} (${other.kind}) earns ${show(failed.reward)}, the well-formed call ${shown(call.text)} ${show(good.reward)}.`,
          };
    },
  },
  {
    ...twoBase,
    // Tools that search the net or tell the time are used.
    level: 'should',
    id: 'tools/same-step-twice',
    title: 'The same text gets the same step, also after other requests',
    why: 'State that an environment keeps from one episode (a budget, an open file) affects the next one.',
    catches: [],
    given: two(['call', 'not json']),
    async check(subject, { call, other }) {
      const before = await stepped(subject, call.text);
      await stepped(subject.anew, other.text);
      const after = await stepped(subject.anew, call.text);
      if (before === undefined || after === undefined) return discard('there is no step to judge');
      const part = (['status', 'observation', 'reward', 'done'] as const).find(
        (name) => before[name] !== after[name],
      );
      return part === undefined
        ? undefined
        : {
            kind: part,
            sentence: `The ${part} of the step for ${shown(call.text)} changes from ${JSON.stringify(before[part])} to ${JSON.stringify(after[part])} after a step for ${shown(other.text)}.`,
          };
    },
  },
];
