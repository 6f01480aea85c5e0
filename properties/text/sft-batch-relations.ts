// A batch of conversations under changes that must not matter to a row: the order of the rows, their batch mates, and how
// they are padded.
import {
  type Finding,
  type Ids,
  type Need,
  type Ok,
  type Property,
  relations,
  type SftBatch,
  sameIds,
} from '../../src/index.ts';
import { argsOf, base, coverage, given, labels, padsOf } from './sft-batch-rows.ts';

interface Bare {
  readonly ids: readonly Ids[];
  readonly labels: readonly Ids[];
}

/** What the batch comes to when its padding is taken away: what is attended to, and its labels. */
function withoutPadding({ input_ids, attention_mask, labels: all }: Ok<'sft_batch'>): Bare {
  const real = (rows: readonly Ids[]): number[][] =>
    rows.map((row, at) => row.filter((_, column) => attention_mask[at]?.[column] === 1));
  return { ids: real(input_ids), labels: real(all) };
}

function difference(before: Bare, after: Bare, when: string): Finding | undefined {
  for (const [row, ids] of before.ids.entries()) {
    for (const [name, one, two] of [
      ['ids', ids, after.ids[row] ?? []],
      ['labels', before.labels[row] ?? [], after.labels[row] ?? []],
    ] as const) {
      if (!sameIds(one, two))
        return {
          kind: name,
          sentence: `The ${name} of row ${row}, padding left out, change from [${one.join(', ')}] to [${two.join(', ')}] ${when}.`,
        };
    }
  }
  return undefined;
}

const bothSides: Need = ({ hello }) =>
  (hello.ops.sft_batch?.padding_side ?? []).length > 1
    ? undefined
    : 'op `sft_batch` does not offer both values of padding_side';

const anySide: Property<SftBatch> = {
  ...base,
  id: 'sft-batch/independent-of-the-padding-side',
  title: 'On which side a batch is padded changes nothing but where its padding stands',
  why: 'Code that counts the prompt from column 0 is right until someone sets padding_side="left" for generation.',
  catches: ['MSK-16', 'PAD-06'],
  needs: [bothSides],
  coverage,
  async check(subject, drawn) {
    const [first, ...others] = subject.hello.ops.sft_batch?.padding_side ?? [];
    if (first === undefined) return undefined;
    const padded = async (side: 'left' | 'right'): Promise<Bare> =>
      withoutPadding(await subject.ask('sft_batch', argsOf({ ...drawn, side })));
    const before = await padded(first);
    for (const side of others) {
      const found = difference(before, await padded(side), `when rows are padded on the ${side}`);
      if (found !== undefined) return found;
    }
    return undefined;
  },
};

const severalPads: Need = (world) =>
  padsOf(world).length > 1 ? undefined : 'op `sft_batch` offers no pad_token_id, or one id only is known';

const anyPad: Property<SftBatch> = {
  ...base,
  id: 'sft-batch/independent-of-the-pad-id',
  title: 'Which id is used for padding changes nothing but the padding',
  why: 'A mask inferred from the pad id is wrong wherever that id is also a token, and pad is mostly the stop token.',
  catches: ['EOS-01', 'EOS-02'],
  needs: [severalPads],
  coverage,
  async check(subject, drawn) {
    const [first, ...others] = padsOf(subject);
    if (first === undefined) return undefined;
    const padded = async (pad: number): Promise<Bare> =>
      withoutPadding(await subject.ask('sft_batch', argsOf({ ...drawn, pad })));
    const before = await padded(first);
    for (const pad of others) {
      const found = difference(before, await padded(pad), `when padding has id ${pad} instead of ${first}`);
      if (found !== undefined) return found;
    }
    return undefined;
  },
};

const general = relations({
  op: 'sft_batch',
  stage: 'sft_batch',
  prefix: 'sft-batch/',
  noun: 'A conversation in its batch, padding left out,',
  given: (world) => given(world, 2),
  args: argsOf,
  labels,
  coverage,
  observe: async (subject, args) => {
    const { ids, labels: trained } = withoutPadding(await subject.ask('sft_batch', args));
    return { fields: { input_ids: ids, labels: trained } };
  },
  allBut: [],
  relations: { 'batch-mates': { catches: ['PAD-03', 'MSK-16'] } },
});

export const sftBatchRelations: readonly Property<SftBatch>[] = [anySide, anyPad, ...general];
