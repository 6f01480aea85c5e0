// Completions out of generated sequences: the ids that rewards are computed on and losses taken of. A trainer may
// keep or drop the stop token and may keep padding behind it, but it must do the same in every row.
import {
  type Args,
  type Batch,
  batch,
  batchCoverage,
  batchLabels,
  blockBatch,
  discard,
  flushLeftBatch,
  freeTokens,
  type Ids,
  type PaddingSide,
  type Property,
  padRows,
  relations,
  stopsOf,
  type World,
} from '../../src/index.ts';
import { cutAfterStop, firstDifference, misfit } from './extract-finding.ts';

const given = (world: World, minRows = 1) => batch({ ...stopsOf(world, 'extract'), minRows });
const coverage = (world: World): Readonly<Record<string, number>> => ({
  'unequal prompts': 0.3,
  'repeated prompt': 0.15,
  ...batchCoverage(world.hello.tokens, stopsOf(world, 'extract')),
});

/** What most rules of extraction share. */
const extractRule = {
  stage: 'extract',
  level: 'must',
  ops: ['extract'],
  given: (world: World) => given(world),
  labels: batchLabels,
} as const;

/** What op `extract` is handed, for prompts padded on one side. */
export function extractArgs(drawn: Batch, side: PaddingSide, extra = 0): Args<'extract'> {
  const { prompts, completions, pad, stops } = drawn;
  const width = Math.max(1, ...prompts.map((row) => row.length)) + extra;
  const padded = padRows(prompts, { side, pad, width });
  const sequences =
    side === 'left'
      ? blockBatch(prompts, completions, pad, { extraPrompt: extra }).sequences
      : flushLeftBatch(prompts, completions, pad).sequences;
  return {
    padding_side: side,
    prompt_ids: prompts,
    input_ids: padded.ids,
    attention_mask: padded.attention_mask,
    sequences,
    sampled_ids: padRows(completions, { side: 'right', pad }).ids,
    pad_token_id: pad,
    eos_token_ids: stops,
  };
}

const sideNeed =
  (side: PaddingSide) =>
  (world: World): string | undefined =>
    (world.hello.ops.extract?.padding_side ?? ['left']).includes(side)
      ? undefined
      : `the trainer does not pad prompts on the ${side}`;

function exact(side: PaddingSide): Property<Batch> {
  return {
    id: `extract/exact-under-${side}-padding`,
    title: `Under ${side} padding, the extracted completions are the sampled tokens`,
    ...extractRule,
    why: 'Prompt tokens in the completion are judged by the reward and trained by the loss as if the policy had said them.',
    catches: ['PAD-01', 'PAD-03', 'EOS-05', 'TOK-04', 'TOK-10'],
    needs: [sideNeed(side)],
    coverage,
    async check(subject, drawn) {
      const args = extractArgs(drawn, side);
      const { completion_ids } = await subject.ask('extract', args);
      return misfit(subject, drawn, args, completion_ids);
    },
  };
}

const side = (world: World): PaddingSide => world.hello.ops.extract?.padding_side?.[0] ?? 'left';

const paddingWidth: Property<Batch> = {
  id: 'extract/independent-of-padding-width',
  title: 'Two more columns of left padding change no completion',
  ...extractRule,
  why: 'A completion that depends on how long the longest prompt is changes with the batch it happens to be in.',
  catches: ['PAD-01', 'PAD-03'],
  needs: [sideNeed('left')],
  coverage,
  async check(subject, drawn) {
    const narrow = await subject.ask('extract', extractArgs(drawn, 'left'));
    const args = extractArgs(drawn, 'left', 2);
    const { completion_ids } = await subject.ask('extract', args);
    const what = 'without the extra padding';
    return firstDifference(subject, drawn, args, narrow.completion_ids, completion_ids, what);
  },
};

const batchMates: Property<Batch> = {
  id: 'extract/independent-of-batch-mates',
  title: 'The completion of a row is the same alone and in a batch',
  ...extractRule,
  why: 'An extraction that is right for a single row can be wrong for every batch.',
  catches: ['PAD-01', 'PAD-04'],
  given: (world) => given(world, 2),
  coverage,
  async check(subject, drawn) {
    const args = extractArgs(drawn, side(subject));
    const together = await subject.ask('extract', args);
    const alone: Ids[] = [];
    for (const [row, prompt] of drawn.prompts.entries()) {
      const only = { ...drawn, prompts: [prompt], completions: [drawn.completions[row] ?? []] };
      alone.push((await subject.ask('extract', extractArgs(only, side(subject)))).completion_ids[0] ?? []);
    }
    return firstDifference(subject, drawn, args, alone, together.completion_ids, 'alone');
  },
};

const padRenamed: Property<Batch> = {
  id: 'extract/unchanged-when-pad-is-renamed',
  title: 'The completions are the same when padding has an id of its own and when it equals the stop token',
  ...extractRule,
  why: 'Counting ids that differ from pad counts too few where pad is also a token of the prompt.',
  catches: ['EOS-01', 'EOS-02', 'PAD-01'],
  needs: [freeTokens],
  async check(subject, drawn) {
    const used = new Set([...drawn.prompts, ...drawn.completions].flat());
    const fresh = [0, 1, 3, 4, 5, 29].find((id) => !used.has(id) && !drawn.stops.includes(id));
    const equal = drawn.stops[0];
    if (fresh === undefined || equal === undefined) return discard('no id is free for padding');
    const own = { ...drawn, pad: fresh };
    const same = { ...drawn, pad: equal };
    const before = await subject.ask('extract', extractArgs(own, side(subject)));
    const args = extractArgs(same, side(subject));
    const after = await subject.ask('extract', args);
    const cut = before.completion_ids.map((ids) => cutAfterStop(ids, own));
    return firstDifference(subject, same, args, cut, after.completion_ids, 'with a pad id of its own');
  },
};

export const extractProperties: readonly Property<Batch>[] = [
  exact('left'),
  exact('right'),
  paddingWidth,
  batchMates,
  padRenamed,
  ...relations<'extract', Batch>({
    op: 'extract',
    stage: 'extract',
    noun: 'The extracted completion',
    given: (world) => given(world),
    args: (drawn, world) => extractArgs(drawn, side(world)),
    labels: batchLabels,
    coverage,
    allBut: ['batch-mates'],
    relations: {
      'renamed-ids': { catches: ['TOK-04', 'TOK-10', 'EOS-01'] },
      inputs: { catches: ['PAD-08'] },
    },
  }),
];
