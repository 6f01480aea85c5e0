// Does the stop token count, in completion_mask and in the completions that are extracted; and do completions without.
import { type Batch, batch } from '../../../generators/rollouts/batch.ts';
import type { Args } from '../../../protocol/message.ts';
import { blockBatch, completionVariants, flushLeftBatch, padRows } from '../../../reference/index.ts';
import { stopsOf } from '../../needs.ts';
import { blockArgs, plannedRows, sameIds } from '../../rows/rows.ts';
import { discard } from '../../subject.ts';
import { draw, misfitOf, type Probe } from '../probe.ts';

/** Where what never stopped is rejected, and what stopped is not, the trainer's completions always stop. */
export const alwaysStops: Probe<Batch> = {
  id: 'completions_always_stop',
  items: ['completions_always_stop'],
  ops: ['mask'],
  variants: async () => [
    { name: 'completions that never stopped are taken', items: {} },
    { name: 'completions that never stopped are refused', items: { completions_always_stop: true } },
  ],
  cases: (world) => threeRows(stopsOf(world, 'mask')),
  async fits(subject, given, variants) {
    const { completions, stops } = given;
    const ended = completions.map((ids) =>
      stops.includes(ids.at(-1) ?? -1) ? ids : [...ids, stops[0] ?? 0],
    );
    const stopped = await subject.attempt('mask', blockArgs({ ...given, completions: ended }));
    const all = await subject.attempt('mask', blockArgs(given));
    if (!('ok' in stopped)) return discard('it takes no completions');
    // An exception is no refusal.
    if (!('ok' in all) && all.failure !== undefined) return discard(all.refused);
    const where = 'completions that never stopped, taken';
    return variants.map(({ items }) =>
      misfitOf(
        [{ where, expected: Number(!items.completions_always_stop), observed: Number('ok' in all) }],
        () => 0.5,
      ),
    );
  },
};

export const stopInMask: Probe<Batch> = {
  id: 'mask',
  items: ['stop_token_in_mask', 'truncated_completions_trained'],
  ops: ['mask'],
  variants: async () =>
    [true, false].flatMap((stop_token_in_mask) =>
      [true, false].map((truncated_completions_trained) => ({
        name: `the stop token has mask ${Number(stop_token_in_mask)}, a completion that never stopped is ${truncated_completions_trained ? 'trained' : 'left out'}`,
        items: { stop_token_in_mask, truncated_completions_trained },
      })),
    ),
  cases: (world, drawn) => {
    const alwaysStops = world.semantics.completions_always_stop === true;
    const of = stopsOf(world, 'mask');
    return [...(alwaysStops ? [] : threeRows(of)), ...drawnApart(of, drawn, alwaysStops)];
  },
  async fits(subject, given, variants) {
    const rows = await plannedRows(subject, given);
    if (rows.some(({ lostStop }) => lostStop !== undefined)) return discard('a row lost its stop token');
    if (!rows.some(({ roles }) => roles.includes('stop'))) return discard('no row was stopped');
    return variants.map(({ items }) =>
      misfitOf(
        rows.flatMap(({ row, roles, mask }) =>
          roles.flatMap((role, column) => {
            if (role !== 'completion' && role !== 'stop') return [];
            const whole = items.truncated_completions_trained || roles.includes('stop');
            const expected = whole && (role === 'completion' || items.stop_token_in_mask) ? 1 : 0;
            return [
              {
                where: `the ${role} token in column ${column} of row ${row}`,
                expected,
                observed: mask[column],
              },
            ];
          }),
        ),
        () => 0.5,
      ),
    );
  },
};

export const stopInCompletion: Probe<Batch> = {
  id: 'extract',
  items: ['stop_token_in_completion'],
  ops: ['extract'],
  variants: async () =>
    EXTRACTED.map(({ name, kept }) => ({ name, items: { stop_token_in_completion: kept } })),
  cases: (world, drawn) => [
    ...threeRows(stopsOf(world, 'extract')),
    ...draw(batch({ ...stopsOf(world, 'extract'), minRows: 2 }), drawn),
  ],
  async fits(subject, given, variants) {
    const args = extractArgs(given, subject.hello.ops.extract?.padding_side?.[0] ?? 'left');
    const { completion_ids: observed } = await subject.ask('extract', args);
    const legal = args.sampled_ids.map((ids) =>
      completionVariants(ids, { pad: given.pad, stops: new Set(given.stops) }),
    );
    return variants.map(({ name }) =>
      misfitOf(
        legal.flatMap((ways, row) => {
          const ids = ways.find((way) => way.name === name)?.ids ?? [];
          return sameIds(ids, observed[row] ?? [])
            ? []
            : [
                {
                  where: `the length of the completion of row ${row}`,
                  expected: ids.length,
                  // Ids that differ at the right length: no length is right.
                  observed: observed[row]?.length === ids.length ? Number.NaN : observed[row]?.length,
                },
              ];
        }),
        () => 0.5,
      ),
    );
  },
};

const EXTRACTED = [
  { name: 'stop kept', kept: true },
  { name: 'stop cut', kept: false },
  { name: 'whole width', kept: true },
  { name: 'padding cut', kept: true },
] as const;

type Stops = ReturnType<typeof stopsOf>;

/**
 * Batches whose padding is no stop token, wherever that is the harness's choice: what happens to one that is both tells what
 * happens to padding.
 */
function drawnApart(of: Stops, count: number, alwaysStops = false): Batch[] {
  const all = draw(batch({ ...of, minRows: 2, alwaysStops }), count === 0 ? 0 : MANY + count);
  return all.filter(({ pad, stops }) => of.tokens !== undefined || !stops.includes(pad)).slice(0, count);
}

/** Of which enough have such padding: a few in ten do. */
const MANY = 40;

/** A row that stops early, one that stops late: padding behind the first tells a cut from a raw slice. */
function threeRows(of: Stops): Batch[] {
  const [drawn] = drawnApart(of, 1);
  const stop = drawn?.stops[0];
  if (drawn === undefined || stop === undefined) return [];
  const plain = drawn.prompts.flat().find((id) => id !== drawn.pad && !drawn.stops.includes(id));
  if (plain === undefined) return [];
  return [
    {
      pad: drawn.pad,
      stops: drawn.stops,
      prompts: [[plain], [plain, plain, plain], [plain, plain]],
      completions: [
        [plain, stop],
        [plain, plain, plain, stop],
        [plain, plain, plain, plain],
      ],
    },
  ];
}

function extractArgs(given: Batch, side: 'left' | 'right'): Args<'extract'> {
  const { prompts, completions, pad, stops } = given;
  const padded = padRows(prompts, { side, pad });
  return {
    padding_side: side,
    prompt_ids: prompts,
    input_ids: padded.ids,
    attention_mask: padded.attention_mask,
    sequences: (side === 'left' ? blockBatch : flushLeftBatch)(prompts, completions, pad).sequences,
    sampled_ids: padRows(completions, { side: 'right', pad }).ids,
    pad_token_id: pad,
    eos_token_ids: stops,
  };
}
