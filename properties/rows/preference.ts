// Pairs of a better and a worse completion, laid out in rows: both halves begin with the same prompt, each holds its own
// completion, and the masks know the one from the other.
import {
  type Coverage,
  type Finding,
  type Ids,
  locateRow,
  type Ok,
  type PairBatch,
  type Property,
  pairBatch,
  pairBatchLabels,
  type Role,
  type RowPlan,
  rolesOf,
  type Subject,
  stripOf,
  tokenAt,
  type World,
} from '../../src/index.ts';

export type Half = 'chosen' | 'rejected';
export const HALVES: readonly Half[] = ['chosen', 'rejected'];
export const other = (half: Half): Half => (half === 'chosen' ? 'rejected' : 'chosen');

const given = (world: World) => pairBatch(world.hello.tokens);
export const base = {
  stage: 'preference',
  level: 'must',
  ops: ['preference'],
  given,
  labels: pairBatchLabels,
} as const;
export const coverage = { 'halves of unequal length': 0.25, 'unequal prompts': 0.2 };

/** Where the trainer is fixed to its ids, pad is a stop token always or never. */
const stopsThatPad = ({ hello: { tokens } }: World): Coverage =>
  tokens === undefined || tokens.eos_token_ids.includes(tokens.pad_token_id)
    ? { 'pad is a stop token': 0.1 }
    : {};

export const argsOf = ({ prompts, chosen, rejected, pad }: PairBatch) => ({
  prompt_ids: prompts,
  chosen_ids: chosen,
  rejected_ids: rejected,
  pad_token_id: pad,
});

/** One row of one half. */
interface PairedRow {
  readonly half: Half;
  readonly row: number;
  readonly prompt: Ids;
  readonly completion: Ids;
  readonly ids: Ids;
  readonly attention: Ids;
  readonly mask: Ids;
  /** Absent: prompt and completion are not in it. */
  readonly plan: RowPlan | undefined;
  readonly roles: readonly Role[];
}

function rowsOf(drawn: PairBatch, answer: Ok<'preference'>): PairedRow[] {
  return HALVES.flatMap((half) =>
    drawn.prompts.map((prompt, row): PairedRow => {
      const completion = drawn[half][row] ?? [];
      const ids = answer[`${half}_input_ids`][row] ?? [];
      const attention = answer[`${half}_attention_mask`][row] ?? [];
      const plan = locateRow(ids, attention, prompt, completion, drawn.pad);
      const roles =
        plan === undefined
          ? ids.map((): Role => 'padding')
          : rolesOf(plan, ids.length, drawn.stops, completion);
      return {
        half,
        row,
        prompt,
        completion,
        ids,
        attention,
        mask: answer[`${half}_mask`][row] ?? [],
        plan,
        roles,
      };
    }),
  );
}

const ask = async (subject: Subject, drawn: PairBatch): Promise<PairedRow[]> =>
  rowsOf(drawn, await subject.ask('preference', argsOf(drawn)));

/** The row of this half is wrong in `marks`. */
function finding(
  subject: Subject,
  at: PairedRow,
  kind: string,
  sentence: string,
  tracks: Readonly<Record<string, Ids>> = {},
  marks: readonly number[] = [],
): Finding {
  return {
    kind,
    sentence,
    strips: [stripOf(subject, { row: at.row, ids: at.ids, roles: at.roles, tracks, marks })],
  };
}

export const list = (ids: Ids): string => `[${ids.join(', ')}]`;

/** What stands in the row instead, where that can be said. */
function mixedUp(drawn: PairBatch, at: PairedRow): { kind: string; words: string } | undefined {
  const holds = (prompt: Ids | undefined, completion: Ids | undefined): boolean =>
    prompt !== undefined &&
    completion !== undefined &&
    locateRow(at.ids, at.attention, prompt, completion, drawn.pad) !== undefined;
  if (holds(at.prompt, drawn[other(at.half)][at.row]))
    return { kind: 'swapped', words: `the ${other(at.half)} completion: the halves are swapped` };
  const mate = drawn.prompts.findIndex((_, row) => row !== at.row && holds(at.prompt, drawn[at.half][row]));
  if (mate >= 0) return { kind: 'unpaired', words: `the completion of row ${mate}` };
  const whole = drawn.prompts.findIndex(
    (prompt, row) => row !== at.row && holds(prompt, drawn[at.half][row]),
  );
  return whole < 0 ? undefined : { kind: 'unpaired', words: `prompt and completion of row ${whole}` };
}

const rowsHold: Property<PairBatch> = {
  ...base,
  id: 'preference/each-half-is-the-prompt-and-its-completion',
  title:
    'Row by row, both halves hold the same whole prompt and then their own whole completion, and padding',
  why: 'Halves that are swapped, or paired with the rows of others, teach the model to prefer what was rejected.',
  catches: ['PAD-08', 'TRN-01', 'PAD-03'],
  coverage,
  async check(subject, drawn) {
    for (const at of await ask(subject, drawn)) {
      if (at.plan !== undefined) continue;
      const mixed = mixedUp(drawn, at);
      const instead = mixed === undefined ? '' : ` It holds ${mixed.words}.`;
      return finding(
        subject,
        at,
        mixed?.kind ?? 'row',
        `Row ${at.row} of the ${at.half} half is ${list(at.ids)}, which is not prompt ${list(at.prompt)} and ${at.half} completion ${list(at.completion)} with padding (id ${drawn.pad}) around them.${instead}`,
      );
    }
    return undefined;
  },
};

const attentionFits: Property<PairBatch> = {
  ...base,
  id: 'preference/attention-covers-exactly-the-tokens',
  title: 'attention_mask is 1 on prompt and completion and 0 on padding, in both halves',
  why: 'A mask that is read off the ids hides real stop tokens where pad equals eos, those between the turns of a prompt as well.',
  catches: ['EOS-02', 'PAD-02'],
  coverage: stopsThatPad,
  async check(subject, drawn) {
    for (const at of await ask(subject, drawn)) {
      if (at.plan === undefined || at.plan.ambiguous) continue; // the one is said by another, the other says nothing
      const expected = at.roles.map((role): number => (role === 'padding' ? 0 : 1));
      const marks = expected.flatMap((value, column) => (at.attention[column] === value ? [] : [column]));
      const [first] = marks;
      if (first === undefined) continue;
      const token = tokenAt(subject, at.ids, first);
      return finding(
        subject,
        at,
        'attention',
        expected[first] === 1
          ? `${token} of row ${at.row} of the ${at.half} half is real, but attention_mask hides it.`
          : `${token} of row ${at.row} of the ${at.half} half is padding, but attention_mask lets the model see it.`,
        { expected, observed: at.attention },
        marks,
      );
    }
    return undefined;
  },
};

/** Columns of the completion, its last token apart where that is a stop token: a trainer may count it or not. */
function completionColumns(at: PairedRow): { body: number[]; stop: number | undefined } {
  const columns = at.roles.flatMap((role, column) =>
    role === 'completion' || role === 'stop' ? [column] : [],
  );
  const stop = at.roles.indexOf('stop');
  return { body: columns.filter((column) => column !== stop), stop: stop < 0 ? undefined : stop };
}

const masksFit: Property<PairBatch> = {
  ...base,
  id: 'preference/masks-are-the-completions',
  title:
    'chosen_mask and rejected_mask are 1 on the tokens of the completions and 0 on prompt and padding; on the stop tokens 1, or everywhere 0',
  why: 'Padding in the sum makes the shorter completion of a pair the better one; a prompt that counts is noise that cancels only where nothing is cut.',
  catches: ['MSK-06', 'MSK-01', 'MSK-04', 'PAD-09', 'EOS-01'],
  coverage,
  async check(subject, drawn) {
    const rows = (await ask(subject, drawn)).filter(({ plan }) => plan !== undefined && !plan.ambiguous);
    const stopsCount =
      subject.semantics.stop_token_in_mask === true ||
      rows.some((at) => at.mask[completionColumns(at).stop ?? -1] === 1);
    for (const at of rows) {
      const { body, stop } = completionColumns(at);
      const expected = at.ids.map((_, column) =>
        Number(body.includes(column) || (stopsCount && column === stop)),
      );
      const marks = expected.flatMap((value, column) => (at.mask[column] === value ? [] : [column]));
      const [first] = marks;
      if (first === undefined) continue;
      const token = `${tokenAt(subject, at.ids, first)} of row ${at.row} of the ${at.half} half`;
      const counted =
        first === stop
          ? `${token} is the stop token, and ${at.half}_mask leaves it out${subject.semantics.stop_token_in_mask === true ? '' : ', while others are counted'}.`
          : `${token} belongs to the completion, and ${at.half}_mask leaves it out.`;
      return finding(
        subject,
        at,
        first === stop ? 'stop' : 'mask',
        expected[first] === 1
          ? counted
          : `${token} is ${at.roles[first] === 'padding' ? 'padding' : 'prompt'}, and ${at.half}_mask counts it.`,
        { expected, observed: at.mask },
        marks,
      );
    }
    return undefined;
  },
};

export const preferenceProperties: readonly Property<PairBatch>[] = [rowsHold, attentionFits, masksFit];
