// A row that is tokens already, with its labels or mask. Whose token is whose is read from the conversation that the
// row has kept, or recognised by the template's headers, or not known.
import type { Ids, Role } from '../vocabulary.ts';
import { IGNORE_INDEX } from '../vocabulary.ts';
import { chatRow } from './chat.ts';
import type { Fault } from './flags.ts';
import type { Made, Range, TokenRow, ViewOptions } from './row.ts';
import { stopsOf, turnsIn } from './shape/recognise.ts';
import type { IdsShape } from './shape/shapes.ts';
import { withTurns } from './trained/turns.ts';

export function idsRow(shape: IdsShape, options: ViewOptions): Made {
  const { ids, labels, masks } = shape;
  const other = otherLength(shape);
  if (other !== undefined) return { faults: [other], assumed: [] };
  if (labels === undefined && masks.length === 0 && shape.chat === undefined)
    return unlabelled(shape, options);
  const own = fromConversation(shape, options);
  const trained =
    labels !== undefined
      ? labels.map((label) => label !== IGNORE_INDEX)
      : masks.length > 0
        ? ids.map((_, at) => masks.every(({ values }) => values[at] !== 0))
        : (own?.row?.trained ?? ids.map(() => true));
  const row = bare(shape, trained, options);
  const how =
    shape.assumed ??
    (labels !== undefined
      ? 'input_ids: trained where labels are not -100'
      : masks.length > 0
        ? `input_ids: trained where ${masks.map(({ name }) => name).join(' and ')} is 1`
        : 'input_ids without labels or mask, beside a conversation: its answers are trained (assumed)');
  const known = own?.row ?? turnsIn(ids, row.real, options);
  if (known === undefined) return { row, faults: own?.faults ?? [], assumed: [how] };
  const { roles, turns, answers, said } = known;
  return { row: { ...row, roles, turns, answers, said }, faults: own?.faults ?? [], assumed: [how] };
}

// --- helpers ---

/** Trainers train every token of such a row, unless they are told otherwise. */
function unlabelled(shape: IdsShape, options: ViewOptions): Made {
  const target = options.trainOn ?? 'all';
  const row = withTurns(
    bare(
      shape,
      shape.ids.map(() => true),
      options,
    ),
    target,
    options,
  );
  const what = { all: 'every token', assistant: 'every answer' }[target as string] ?? 'the last answer';
  const why = options.trainOn === undefined ? 'assumed, --train-on changes it' : '--train-on';
  const assumed = [`input_ids without labels or mask: ${what} is trained (${why})`];
  if (row !== undefined) return { row, faults: [], assumed };
  const sentence = `No turns of a conversation are to be recognised in the ids, so --train-on ${target} has no meaning for them.`;
  return { faults: [{ id: 'unplaced', sentence, columns: [] }], assumed };
}

/** The row's own conversation, where its rendering is what stands in the ids. */
function fromConversation(shape: IdsShape, options: ViewOptions): Made | undefined {
  const { chat, ids, attention } = shape;
  const { writer } = options;
  if (chat === undefined || writer === undefined) return undefined;
  const made = chatRow(chat, writer, options);
  const { row } = made;
  if (row === undefined) return made;
  const real = realOf(ids, attention, options);
  const within = ids.slice(real.from, real.to);
  const shared = row.ids.findIndex((id, at) => id !== within[at]);
  // A row may be cut short, or have a stop token put behind.
  const fits = shared < 0 || (shared === within.length && within.length > 0);
  if (!fits)
    return {
      faults: [
        ...made.faults,
        {
          id: 'ids-are-of-another-rendering',
          sentence: `From token ${real.from + shared} on, the ids are not those of the row's conversation as this template renders it.`,
          columns: [real.from + shared],
        },
      ],
      assumed: [],
    };
  return { ...made, row: placed(row, real, ids.length) };
}

/** The conversation's row at its place within padding, as far as the ids go. */
function placed(row: TokenRow, real: Range, width: number): TokenRow {
  const by = real.from;
  const end = real.to;
  const behind = Math.max(0, end - by - row.ids.length);
  const clip = <R extends Range>(range: R): R => ({
    ...range,
    from: Math.min(range.from + by, end),
    to: Math.min(range.to + by, end),
  });
  const filled = <T>(values: readonly T[], padding: T): T[] =>
    Array.from({ length: width }, (_, at) => (at < by || at >= end ? padding : (values[at - by] ?? padding)));
  const padding = (from: number, to: number) => (to > from ? [{ name: 'padding', from, to }] : []);
  return {
    ...row,
    roles: filled<Role>(
      [...row.roles, ...Array.from({ length: behind }, () => 'prompt' as const)],
      'padding',
    ),
    trained: filled(row.trained, false),
    turns: [
      ...padding(0, by),
      ...row.turns.map(clip).filter(({ from, to }) => to > from),
      // Such as a generation prompt, or a stop token put behind.
      ...(behind > 0 ? [{ name: 'template', from: end - behind, to: end }] : []),
      ...padding(end, width),
    ],
    answers: row.answers.flatMap(({ stop, told, ...answer }) => {
      const { from, to } = clip(answer);
      if (to === from) return [];
      const cut = to < answer.to + by;
      const own = told === undefined ? {} : { told };
      return [{ from, to, cut, ...own, ...(stop === undefined || cut ? {} : { stop: stop + by }) }];
    }),
    said: row.said.map(clip).filter(({ from, to }) => to > from),
    real,
  };
}

function bare(
  { ids, labels, attention, positions }: IdsShape,
  trained: readonly boolean[],
  options: ViewOptions,
): TokenRow {
  const real = realOf(ids, attention, options);
  const roles = ids.map(
    (_, at): Role => (at < real.from || at >= real.to ? 'padding' : trained[at] ? 'completion' : 'prompt'),
  );
  return {
    ids,
    trained,
    roles,
    turns: [
      { name: 'padding', from: 0, to: real.from },
      { name: 'row', from: real.from, to: real.to },
      { name: 'padding', from: real.to, to: ids.length },
    ].filter(({ from, to }) => to > from),
    answers: [],
    said: [],
    straddles: [],
    real,
    given: {
      ...(labels === undefined ? {} : { labels }),
      ...(attention === undefined ? {} : { attention }),
      ...(positions === undefined ? {} : { positions }),
    },
    lost: 0,
  };
}

/** Without attention_mask, runs of the padding id at both ends, unless that id ends answers as well. */
function realOf(ids: Ids, attention: Ids | undefined, options: ViewOptions): Range {
  const pad = options.tokenizer?.padTokenId;
  const isReal =
    attention !== undefined
      ? (at: number): boolean => attention[at] !== 0
      : pad === undefined || stopsOf(options).has(pad)
        ? (): boolean => true
        : (at: number): boolean => ids[at] !== pad;
  const from = ids.findIndex((_, at) => isReal(at));
  const to = ids.findLastIndex((_, at) => isReal(at)) + 1;
  return from < 0 ? { from: 0, to: 0 } : { from, to };
}

function otherLength({ ids, labels, masks, attention, positions }: IdsShape): Fault | undefined {
  const beside = [
    ...(labels === undefined ? [] : [{ name: 'labels', values: labels }]),
    ...masks,
    ...(attention === undefined ? [] : [{ name: 'attention_mask', values: attention }]),
    ...(positions === undefined ? [] : [{ name: 'position_ids', values: positions }]),
  ];
  const other = beside.find(({ values }) => values.length !== ids.length);
  if (other === undefined) return undefined;
  return {
    id: 'lengths-differ',
    sentence: `The row has ${ids.length} input_ids and ${other.values.length} ${other.name}.`,
    columns: [],
  };
}
