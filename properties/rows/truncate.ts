// Examples that are too long: what is cut off is one end, and all that fits stays.
import {
  cutSides,
  IGNORE_INDEX,
  isSubsequence,
  type LimitedExamples,
  many,
  type PaddingSide,
  type Property,
} from '../../src/index.ts';
import {
  type CutRow,
  cut,
  eachRow,
  isLong,
  isWorthwhile,
  readings,
  shown,
  strip,
  trained,
  truncation,
} from './cut-rows.ts';

export const truncateProperties: readonly Property<LimitedExamples>[] = [
  {
    ...truncation,
    id: 'truncate/keeps-tokens-of-the-example',
    title: 'A cut example keeps only its own tokens, in order',
    why: 'A row with the tokens of another example, or with padding in their place, is trained with labels that are not its own.',
    catches: ['PAD-08', 'TRN-01'],
    check: eachRow(({ row, at, ids, example }, _, subject) =>
      readings(subject, ids).some((left) => isSubsequence(left, example.ids))
        ? undefined
        : {
            kind: 'tokens',
            sentence: `Row ${row} is ${shown(ids)}, which is not what cutting leaves of example ${at}, ${shown(example.ids)}.`,
          },
    ),
  },
  {
    ...truncation,
    id: 'truncate/no-row-above-the-limit',
    title: 'No row is longer than the limit',
    why: 'A row above the limit is cut again by the next step of the pipeline, or the run ends out of memory.',
    catches: ['TRN-06'],
    check: eachRow(({ row, at, ids }, { limit }) =>
      ids.length <= limit
        ? undefined
        : {
            kind: 'too long',
            sentence: `Row ${row} (example ${at}) has ${many(ids.length, 'token')}, the limit is ${limit}.`,
          },
    ),
  },
  {
    ...truncation,
    id: 'truncate/what-fits-is-left-alone',
    title: 'An example that fits the limit is kept, once, and not cut',
    why: 'Short examples that are cut or lost because of a long one beside them are missing from the training, and nothing fails.',
    catches: ['TRN-06'],
    async check(subject, drawn) {
      const answer = await cut(subject, drawn);
      if (answer === undefined) return undefined;
      for (const [at, example] of drawn.examples.entries()) {
        const rows = answer.rows.filter((each) => each.at === at);
        if (rows.length > 1)
          return { kind: 'twice', sentence: `Example ${at} is in ${rows.length} rows: ${words(rows)}.` };
        // A filter for rows of one token, or without labels, is legal; so is room for a token that comes later: then no row is full.
        const room = !answer.rows.some(({ ids }) => ids.length === drawn.limit);
        if (example.ids.length > drawn.limit || (example.ids.length === drawn.limit && room)) continue;
        if (!isWorthwhile(example)) continue;
        const [row] = rows;
        if (row === undefined)
          return {
            kind: 'lost',
            sentence: `Example ${at} has ${many(example.ids.length, 'token')}, ${example.ids.length === drawn.limit ? 'as many as' : 'fewer than'} the limit of ${drawn.limit}, and is in no row.`,
          };
        if (row.ids.length < example.ids.length)
          return {
            kind: 'cut',
            sentence: `Example ${at}, ${shown(example.ids)}, is not above the limit of ${drawn.limit} tokens, but only ${shown(row.ids)} is left of it.`,
            strips: [strip(subject, row)],
          };
      }
      return undefined;
    },
  },
  {
    ...truncation,
    id: 'truncate/keeps-all-that-fits',
    title: 'A row is as long as its example or as the limit, whichever is less',
    level: 'should',
    why: 'Where room for a special token is taken off twice, every long example loses the end that it should have kept, and one that just fits loses its stop token.',
    catches: ['TRN-06'],
    check: eachRow(({ row, at, ids, example }, { limit }) => {
      const most = Math.min(limit, example.ids.length);
      if (ids.length >= most) return undefined;
      return {
        kind: 'too short',
        sentence: `Row ${row} has ${many(ids.length, 'token')}; of example ${at}, which has ${example.ids.length}, ${most} fit under the limit of ${limit}.`,
      };
    }),
  },
  {
    ...truncation,
    id: 'truncate/keeps-one-end',
    title:
      'A cut example, or its cut prompt and answer where that is declared, keeps its beginning or its end, the same in all rows',
    level: 'should',
    why: 'A row with a gap teaches the model to continue a text that was never written. A stop token after the cut teaches it to stop in the middle of a sentence.',
    catches: ['EOS-06', 'TRN-06'],
    async check(subject, drawn) {
      const answer = await cut(subject, drawn);
      const declared = subject.semantics.truncation_side;
      const long = (answer?.rows ?? []).filter(({ example }) => isLong(example, drawn));
      const inParts = partSides(long[0]).some((ends) => long.every((at) => partSides(at).includes(ends)));
      if (declared === 'parts' && inParts) return undefined;
      const question =
        declared === undefined && inParts
          ? { answers: ['"truncation_side": "parts"  (prompt and answer are cut apart)'] }
          : {};
      let sides: readonly PaddingSide[] = ['left', 'right'];
      for (const at of answer?.rows ?? []) {
        const own = cutSides(at.ids, at.example.ids);
        const left = sides.filter((side) => own.includes(side));
        if (left.length === 0)
          return {
            kind: own.length === 0 ? 'no end' : 'both ends',
            sentence:
              own.length === 0
                ? `Row ${at.row}, ${shown(at.ids)}, is neither the beginning nor the end of example ${at.at}, ${shown(at.example.ids)}.`
                : `Row ${at.row}, ${shown(at.ids)}, lost the ${own[0]} end of example ${at.at}, a row before it the other one.`,
            strips: [strip(subject, at)],
            ...question,
          };
        sides = left;
      }
      return undefined;
    },
  },
  {
    ...truncation,
    id: 'truncate/cuts-the-declared-side',
    title: 'Tokens are cut off on the side that is declared',
    why: 'Cut on the other side, a conversation loses its system message where it should have lost its last words, or its answer where it should have kept it.',
    catches: ['TRN-03', 'TRN-04'],
    needs: [
      ({ semantics }) =>
        semantics.truncation_side === undefined
          ? 'semantics.truncation_side is not declared'
          : semantics.truncation_side === 'parts'
            ? 'semantics.truncation_side is "parts": prompt and answer are cut apart'
            : undefined,
    ],
    check: eachRow(({ row, at, ids, example }, drawn, subject) => {
      const side = subject.semantics.truncation_side;
      const sides = readings(subject, ids).flatMap((left) => cutSides(left, example.ids));
      if (
        !isLong(example, drawn) ||
        side === undefined ||
        side === 'parts' ||
        sides.length === 0 ||
        sides.includes(side)
      )
        return undefined;
      return {
        kind: 'side',
        sentence: `Row ${row}, ${shown(ids)}, lost the ${sides[0]} end of example ${at}, ${shown(example.ids)}; truncation_side is "${side}".`,
        note: 'Expected is what hello.semantics.truncation_side declares.',
      };
    }),
  },
  {
    ...truncation,
    id: 'truncate/overlong-as-declared',
    title: 'Examples above the limit are cut or left out, as declared',
    why: 'A filter that runs before the cut loses every long example, and the data set is not the one that the run is named after.',
    catches: ['TRN-04'],
    coverage: { ...truncation.coverage, 'an answer is cut in two': 0.03 },
    needs: [
      ({ semantics }) =>
        semantics.overlong === undefined ? 'semantics.overlong is not declared' : undefined,
    ],
    async check(subject, drawn) {
      const answer = await cut(subject, drawn);
      if (answer === undefined) return undefined;
      const { overlong, truncation_side: side } = subject.semantics;
      const most = drawn.limit - 1;
      for (const [at, example] of drawn.examples.entries()) {
        if (!isLong(example, drawn)) continue;
        const present = answer.rows.some((row) => row.at === at);
        // What keeps no label may be left out of a training that cuts, and one token less may be kept.
        const kept =
          side === undefined || side === 'parts'
            ? example.labels.every((label) => label !== IGNORE_INDEX)
            : trained(
                side === 'right' ? example.labels.slice(1, most) : example.labels.slice(-most).slice(1),
              ) > 0;
        if (overlong === 'truncate' && !present && kept)
          return {
            kind: 'dropped',
            sentence: `Example ${at} has ${many(example.ids.length, 'token')} and the limit is ${drawn.limit}: it is in no row, although semantics.overlong is "truncate".`,
          };
        if (overlong === 'drop' && present)
          return {
            kind: 'kept',
            sentence: `Example ${at} has ${many(example.ids.length, 'token')} and the limit is ${drawn.limit}: it is in a row, although semantics.overlong is "drop".`,
          };
      }
      return undefined;
    },
  },
];

const words = (rows: readonly CutRow[]): string => rows.map(({ row }) => row).join(' and ');

/** How a row can be read as a prompt and an answer behind it that lost one end each: the ends, prompt first. */
function partSides(cut: CutRow | undefined): readonly string[] {
  const { ids, example } = cut ?? { ids: [], example: { ids: [], labels: [] } };
  const begin = example.labels.findIndex((label) => label !== IGNORE_INDEX);
  const seam = begin < 0 ? example.ids.length : begin;
  const [prompt, answer] = [example.ids.slice(0, seam), example.ids.slice(seam)];
  return [...ids, undefined].flatMap((_, at) => {
    const [head, tail] = [ids.slice(0, at), ids.slice(at)];
    return cutSides(head, prompt).flatMap((left) =>
      cutSides(tail, answer).map((right) => `${left} ${right}`),
    );
  });
}
