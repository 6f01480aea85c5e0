// Examples that are longer than a packed row, where the op declares what becomes of them. The rows must be those of the
// examples that are left, cut or in pieces: the short ones whole beside them, and every label with its token.
import {
  type Capability,
  type Example,
  IGNORE_INDEX,
  type LimitedExamples,
  many,
  type Ok,
  overlongExamples,
  type Property,
  packLabels,
  placeExamples,
  type World,
} from '../../src/index.ts';
import { packing, shown } from './packed-rows.ts';

type Choice = NonNullable<Capability['overlong']>;

const choiceOf = ({ hello }: World): Choice | undefined => hello.ops.pack?.overlong;

export const packOverlong: readonly Property<LimitedExamples>[] = [
  {
    ...packing,
    id: 'pack/overlong-as-declared',
    title:
      'An example longer than a row is left out, cut, split or refused as declared, and costs no other example a token',
    why: 'Only long examples, which have the long answers, show these bugs: a last piece is lost, labels are cut at the other end than the ids, or a neighbour is left out as well.',
    catches: ['PCK-04', 'TRN-05'],
    needs: [
      (world) =>
        choiceOf(world) === undefined
          ? 'op `pack` does not declare what becomes of examples longer than a row (overlong)'
          : undefined,
    ],
    given: (world) => overlongExamples(world.hello.tokens),
    coverage: { 'several rows': 0.5, 'an example of one token': 0.1 },
    labels: packLabels,
    async check(subject, drawn) {
      const choice = choiceOf(subject) ?? 'refuse';
      const args = {
        input_ids: drawn.examples.map(({ ids }) => ids),
        labels: drawn.examples.map(({ labels }) => labels),
        max_length: drawn.limit,
        pad_token_id: drawn.pad,
      };
      const [at, length] = longestOf(drawn);
      const example = `Example ${at} has ${many(length, 'token')}, a row ${drawn.limit}, and op \`pack\` declares overlong "${choice}"`;
      if (choice === 'refuse') {
        const attempt = await subject.attempt('pack', args);
        return 'refused' in attempt
          ? undefined
          : { kind: 'not refused', sentence: `${example}: it is not refused.` };
      }
      const answer = await subject.ask('pack', args);
      if (fits(subject, drawn, answer, choice, { labels: true })) return undefined;
      const rows = answer.input_ids.map(shown).join(' ');
      const labels = `the labels ${answer.labels.map(shown).join(' ')}`;
      return fits(subject, drawn, answer, choice, { labels: false })
        ? {
            kind: 'labels',
            sentence: `${example}. The packed rows ${rows} have ${labels}: not those of their tokens.`,
          }
        : {
            kind: 'rows',
            sentence: `${example}. The packed rows ${rows} are not made of ${WHAT[choice]}: ${drawn.examples.map(({ ids }) => shown(ids)).join(' ')}.`,
          };
    },
  },
];

const WHAT: Readonly<Record<Exclude<Choice, 'refuse'>, string>> = {
  drop: 'the examples that fit, each whole and once',
  truncate: 'the examples, each once, the long ones cut at one end',
  split: 'all tokens of the examples, the long ones in pieces',
};

function longestOf({ examples }: LimitedExamples): readonly [at: number, length: number] {
  const lengths = examples.map(({ ids }) => ids.length);
  const longest = Math.max(...lengths);
  return [lengths.indexOf(longest), longest];
}

/** The rows can be read as what the choice makes of the examples, in one of the ways in which that is done. */
function fits(
  world: World,
  { examples, limit, pad }: LimitedExamples,
  answer: Ok<'pack'>,
  choice: Exclude<Choice, 'refuse'>,
  judge: { readonly labels: boolean },
): boolean {
  const stops = world.hello.tokens?.eos_token_ids ?? [];
  const read = (parts: readonly Example[], across: boolean): boolean => {
    const texts = parts.map((part) => JSON.stringify(part));
    return (
      placeExamples({
        rows: answer.input_ids.length,
        width: answer.input_ids[0]?.length ?? 0,
        lengths: parts.map(({ ids }) => ids.length),
        matches(part, offset, row, column) {
          if (answer.input_ids[row]?.[column] !== parts[part]?.ids[offset]) return false;
          const label = answer.labels[row]?.[column];
          // Nothing of its own predicts the first token of a part, nor of a row.
          const first = offset * column === 0 && label === IGNORE_INDEX;
          return !judge.labels || first || label === parts[part]?.labels[offset];
        },
        fills(row, column, first) {
          const [id, label] = [answer.input_ids[row]?.[column], answer.labels[row]?.[column]];
          if (id === undefined || ![pad, ...stops].includes(id)) return false;
          // A stop token that the packer puts behind a part may be trained.
          return !judge.labels || label === IGNORE_INDEX || (first && label === id && stops.includes(id));
        },
        kinds: parts.map((part) => texts.indexOf(JSON.stringify(part))),
        // Of a stream that is cut into rows, the rest may be left for later.
        required: (part) => isWorthwhile(parts[part]) && (!across || (parts[part]?.ids.length ?? 0) > limit),
        across,
        most: limit,
      }) !== undefined
    );
  };
  if (choice === 'drop')
    return read(
      examples.filter(({ ids }) => ids.length <= limit),
      false,
    );
  // A packer may keep a column for a stop token of its own.
  const sizes = [limit, Math.max(1, limit - 1)];
  if (choice === 'truncate')
    return sizes.some((size) =>
      [cutAt(0, size), cutAt(-size)].some((cut) =>
        read(
          examples.map((example) => (example.ids.length > limit ? cut(example) : example)),
          false,
        ),
      ),
    );
  return (
    // A stream of all examples, cut into rows, is split as well.
    read(examples, true) ||
    sizes.some((size) =>
      read(
        examples.flatMap((example) => (example.ids.length > limit ? piecesOf(example, size) : [example])),
        false,
      ),
    )
  );
}

/** No filter has a reason to leave it out. */
const isWorthwhile = (part: Example | undefined): boolean =>
  part !== undefined && part.ids.length > 1 && part.labels.slice(1).some((label) => label !== IGNORE_INDEX);

const cutAt =
  (from: number, to?: number) =>
  ({ ids, labels }: Example): Example => ({ ids: ids.slice(from, to), labels: labels.slice(from, to) });

const piecesOf = (example: Example, size: number): Example[] =>
  Array.from({ length: Math.ceil(example.ids.length / size) }, (_, at) =>
    cutAt(at * size, (at + 1) * size)(example),
  );
