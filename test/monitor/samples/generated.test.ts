// Generated conversations through the real templates, and models that know nothing: no rule blames a trainer that cuts,
// decodes and stops as it should, and the wrong cut is found in any of them.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { conversation } from '../../../src/generators/text/conversation.ts';
import { plainContent } from '../../../src/generators/text/text.ts';
import type { Sample } from '../../../src/monitor/series.ts';
import { families } from '../../../src/tokenizers/load.ts';
import type { Message } from '../../../src/vocabulary.ts';
import { QUESTIONS } from './healthy.ts';
import { type Family, family, findings, inSteps, render, ruleOf, skipSpecials, watch } from './watching.ts';

/** A run is a log of several steps, read in eight ways. */
const RUNS = 12;

interface Drawn {
  readonly messages: readonly Message[];
  readonly answer: string;
}

/** Answers and questions of nothing, and those that say the same again and again, have their own rules. */
const answer = plainContent().map((text) =>
  text.trim() === '' || /(.+?)\1{3}/su.test(text) ? 'Yes.' : text,
);

const batch = fc.array(
  fc.record({
    messages: conversation({ endsWith: 'user', turns: { min: 1, max: 2 }, content: answer }),
    answer,
  }),
  { minLength: 6, maxLength: 16, size: 'max' },
);

function logged({ tokenizer, tokens }: Family, { messages, answer }: Drawn, at: number): Sample {
  const promptIds = tokenizer.encode(render(tokenizer, messages));
  const completionIds = [...tokenizer.encode(answer), tokens.stopIds[0] ?? -1];
  const finish = at % 5 === 0 ? 'length' : 'stop';
  return {
    run: 'run',
    where: 'rollouts.jsonl',
    promptIds,
    completionIds: finish === 'stop' ? completionIds : completionIds.slice(0, -1),
    reward: (at * 5) % 3,
    finish,
  };
}

/** The ways in which one and the same log is written. */
function waysOf({ tokens }: Family, samples: readonly Sample[]): readonly (readonly Sample[])[] {
  const text = ({ promptIds, completionIds, ...rest }: Sample, clean: (text: string) => string): Sample => ({
    ...rest,
    prompt: clean(tokens.decode(promptIds ?? [])),
    completion: clean(tokens.decode(completionIds ?? [])),
  });
  const skipped = (each: Sample): Sample => text(each, (whole) => skipSpecials(whole, tokens));
  const kept = (each: Sample): Sample => text(each, (whole) => whole);
  return [
    samples,
    samples.map(kept),
    samples.map(skipped),
    samples.map((each) => ({ ...each, ...skipped(each) })),
  ];
}

describe.each(families)('%s', (name) => {
  const each = family(name);

  test('no log of generated conversations is blamed, however it is written', () => {
    fc.assert(
      fc.property(batch, (drawn) => {
        const samples = drawn.map((made, at) => logged(each, made, at));
        for (const way of waysOf(each, samples)) {
          expect(findings(inSteps(way, 8))).toEqual([]);
          expect(findings(inSteps(way, 8), { tokens: each.tokens })).toEqual([]);
        }
      }),
      { numRuns: RUNS },
    );
  });

  test('a cut by the count of tokens is found in any of them', () => {
    fc.assert(
      fc.property(batch, (drawn) => {
        const rows = drawn.map((made, at) => logged(each, made, at));
        // Each row but the longest is padded on the left; here by as much as shows the header.
        const cut = rows.map((row, at) => {
          const { promptIds = [], completionIds = [] } = row;
          const pads = Math.min(promptIds.length, 12 + (at % 7));
          return { ...row, completionIds: [...promptIds.slice(-pads), ...completionIds] };
        });
        const { violations } = watch(ruleOf('completions-begin-behind-the-header'), cut, {
          tokens: each.tokens,
        });
        expect(violations.map(({ kind }) => kind)).toEqual(['header']);
      }),
      { numRuns: RUNS },
    );
  });

  test.each([1, 2])('a model that samples any token is not blamed, seed %i', (seed) => {
    const random = fc.sample(
      fc.array(fc.nat(each.tokenizer.vocabSize - 1), { minLength: 40, maxLength: 40 }),
      {
        seed,
        numRuns: 160,
      },
    );
    const stops = new Set(each.tokens.stopIds);
    const samples = random.map((ids, at): Sample => {
      const end = ids.findIndex((id) => stops.has(id));
      return {
        run: 'run',
        where: 'rollouts.jsonl',
        promptIds: each.tokenizer.encode(each.ask(QUESTIONS[Math.floor(at / 4) % QUESTIONS.length] ?? '')),
        completionIds: end < 0 ? ids : ids.slice(0, end + 1),
        reward: ids[0] ?? 0,
      };
    });
    for (const way of waysOf(each, samples))
      expect(findings(inSteps(way, 8), { tokens: each.tokens })).toEqual([]);
  });
});
