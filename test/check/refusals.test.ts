// A request that a trainer refuses is named, with what it costs.
import { expect, test } from 'vitest';
import { labelProperties } from '../../properties/text/labels.ts';
import {
  type Args,
  objectTrainer,
  type Property,
  type RunEvent,
  reject,
  run,
  type Trainer,
} from '../../src/index.ts';
import { markdownSummary } from '../../src/report/machine/markdown.ts';
import { refusalLines } from '../../src/report/refusals.ts';
import { runsOf } from '../../src/report/runs.ts';
import { echoes, extracting } from './toy.ts';

/** SFT rows only: a prompt alone, which the label rules need as well, is refused. */
const wholeOnly = objectTrainer({
  hello: {
    protocol: 1,
    name: 'whole',
    tokens: { vocab_size: 200, pad_token_id: 0, eos_token_ids: [3] },
    ops: { tokenize: {} },
  },
  ops: {
    tokenize({ route, messages, add_generation_prompt: prompt }: Args<'tokenize'>) {
      if (route === 'sft' && prompt) return reject('it trains on whole conversations of 2 turns');
      const ids = messages.flatMap(({ content }) => [5, ...[...content].map(() => 7), 3]);
      return { input_ids: ids, labels: ids };
    },
  },
});

async function eventsOf(trainer: Trainer, properties: readonly unknown[]): Promise<readonly RunEvent[]> {
  const events: RunEvent[] = [];
  await run(
    {
      trainer,
      tokenizer: undefined,
      properties: properties as readonly Property[],
      seed: 7,
      cases: 30,
      command: 'test',
    },
    (event) => events.push(event),
  );
  return events;
}

const linesOf = (events: readonly RunEvent[]): string[] =>
  events.flatMap((event) => (event.type === 'run-end' ? refusalLines(event) : []));

test('names the request by what the refused ones have and the answered ones lack, and the properties that it costs', async () => {
  const rl = {
    ...echoes,
    id: 'tokenize/rl-answers',
    ops: ['tokenize'],
    labels: () => [],
    coverage: {},
    check: async (subject: Parameters<typeof echoes.check>[0]) => {
      for (const add_generation_prompt of [true, false])
        await subject.ask('tokenize', { route: 'rl', messages: [], add_generation_prompt });
    },
  };
  const events = await eventsOf(wholeOnly, [rl, ...labelProperties]);
  const [line, ...others] = linesOf(events);
  expect(others).toEqual([]);
  expect(line).toBe(
    `Refused 120 times: \`tokenize\` on route sft with add_generation_prompt true ("it trains on whole conversations of 2 turns"). Answer it, else 4 properties are lost: ${labelProperties.map(({ id }) => id).join(', ')}`,
  );
  const skipped = events.flatMap((event) => (event.type === 'property-end' ? [event.result] : [])).slice(1);
  for (const { verdict, reason } of skipped)
    expect([verdict, reason]).toEqual([
      'skipped',
      '`tokenize` on route sft with add_generation_prompt true is refused: it trains on whole conversations of 2 turns',
    ]);
  expect(markdownSummary(runsOf(events))).toContain('Refused 120 times');
});

test('says of what is refused now and then which properties judge less than four fifths without it', async () => {
  const events = await eventsOf(
    extracting((ids) => (ids.length > 5 ? reject(`${ids.length} ids are too many`) : ids)),
    [{ ...echoes, coverage: {} }],
  );
  expect(linesOf(events)).toEqual([
    expect.stringMatching(
      /^Refused \d+ times: `extract` \("\d ids are too many"\)\. 1 property judges less than 4\/5 of the cases without it: extract\/echoes$/,
    ),
  ]);
});

test('says nothing where nothing is lost', async () => {
  const events = await eventsOf(
    extracting((ids) => (ids.length > 7 ? reject('too many') : ids)),
    [{ ...echoes, coverage: {} }],
  );
  expect(linesOf(events)).toEqual([]);
});
