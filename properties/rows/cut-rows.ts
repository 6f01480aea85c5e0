// What truncation answers, laid beside the examples that it was given. Refusing what is too long is an answer too.
import {
  cutExamples,
  cutLabels,
  type Example,
  type Finding,
  type Ids,
  IGNORE_INDEX,
  type LimitedExamples,
  type Ok,
  type Property,
  type Strip,
  type Subject,
  stripOf,
  type World,
} from '../../src/index.ts';

const given = (world: World) => cutExamples(world.hello.tokens);
export const truncation = {
  stage: 'truncate',
  level: 'must',
  ops: ['truncate'],
  given,
  labels: cutLabels,
  mayRefuse: ['a row is too long'],
  coverage: { 'unequal rows': 0.2, 'a row is too long': 0.25, 'a row just fits': 0.15 },
} as const;

export interface CutRow {
  /** Of the answer. */
  readonly row: number;
  /** Which example it is. */
  readonly at: number;
  readonly ids: Ids;
  readonly labels: Ids;
  readonly example: Example;
}

export interface Cut {
  readonly rows: readonly CutRow[];
  readonly answer: Ok<'truncate'>;
}

/** Undefined where the trainer refuses examples that are too long. */
export async function cut(subject: Subject, drawn: LimitedExamples): Promise<Cut | undefined> {
  const args = {
    input_ids: drawn.examples.map(({ ids }) => ids),
    labels: drawn.examples.map(({ labels }) => labels),
    max_length: drawn.limit,
  };
  const outcome = drawn.examples.some(({ ids }) => ids.length > drawn.limit)
    ? await subject.attempt('truncate', args)
    : { ok: await subject.ask('truncate', args) };
  if ('refused' in outcome) return undefined;
  const answer = outcome.ok;
  const kept = answer.kept ?? drawn.examples.map((_, at) => at);
  const rows = answer.input_ids.map((ids, row): CutRow => {
    const at = kept[row] ?? row;
    const example = drawn.examples[at] ?? { ids: [], labels: [] };
    return { row, at, ids, labels: answer.labels[row] ?? [], example };
  });
  return { rows, answer };
}

export const shown = (ids: Ids): string => `[${ids.join(', ')}]`;
export const trained = (labels: Ids): number => labels.filter((label) => label !== IGNORE_INDEX).length;
export const isLong = (example: Example, { limit }: LimitedExamples): boolean => example.ids.length > limit;

/** An example that no filter has a reason to leave out. */
export const isWorthwhile = ({ ids, labels }: Example): boolean =>
  ids.length > 1 && trained(labels.slice(1)) > 0;

/** A rule about each row alone. */
export function eachRow(
  rule: (at: CutRow, drawn: LimitedExamples, subject: Subject, cut: Cut) => Finding | undefined,
): Property<LimitedExamples>['check'] {
  return async (subject, drawn) => {
    const answer = await cut(subject, drawn);
    for (const at of answer?.rows ?? []) {
      const found = rule(at, drawn, subject, answer as Cut);
      if (found !== undefined) return { strips: [strip(subject, at)], ...found };
    }
    return undefined;
  };
}

export function strip(subject: Subject, { row, ids, labels }: CutRow, marks: readonly number[] = []): Strip {
  return stripOf(subject, { row, ids, roles: ids.map(() => 'prompt'), tracks: { labels }, marks });
}

/** A row as it is and, where it ends in a stop token that a trainer may have written over or behind the cut, without. */
export function readings(world: World, ids: Ids): readonly Ids[] {
  const end = ids.at(-1);
  const stops = world.hello.tokens?.eos_token_ids;
  const may = end !== undefined && (stops === undefined || stops.includes(end));
  return may ? [ids, ids.slice(0, -1)] : [ids];
}
