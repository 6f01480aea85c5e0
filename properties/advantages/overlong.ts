// The price of going on for too long: free up to a buffer before the limit, then dearer with every token.
import {
  bandOf,
  discard,
  numberFinding,
  type Observed,
  type Overlong,
  overlong,
  overlongLabels,
  type Property,
  redrawn,
  relations,
  type Subject,
  show,
  softOverlong,
} from '../../src/index.ts';

/** What is added to the reward; a limit or a buffer of 0 may be refused, in whatever way. */
async function ask(subject: Subject, args: Overlong): Promise<readonly number[]> {
  const outcome = await subject.attempt('overlong_penalty', args);
  return 'ok' in outcome ? outcome.ok.penalties : discard(`it refuses: ${outcome.refused}`, 'trainer');
}

const base = {
  stage: 'reward',
  ops: ['overlong_penalty'],
  given: overlong,
  labels: overlongLabels,
  coverage: { 'length in the buffer': 0.15, 'length beyond the limit': 0.1 },
} as const;

/** Without a buffer there is nothing to be dearer in. */
const buffered = () => redrawn(overlong(), ({ buffer }) => buffer > 0);

const setting = ({ max_length: limit, buffer }: Overlong): string =>
  `with max_length ${limit} and a buffer of ${buffer}`;

/**
 * The reward of what was cut off is taken away, at the limit or behind it, and nothing else: a legal rule of its own, and
 * no soft punishment. Told over every length of the buffer and of as many behind the limit, so that neither a slope that is
 * lost at its end is one, nor a buffer that lies behind the limit.
 */
async function isStep(subject: Subject, drawn: Overlong): Promise<boolean> {
  const { max_length: limit, buffer } = drawn;
  const each = Array.from({ length: Math.min(buffer, MOST_ASKED) }, (_, at) => at);
  const inside = each.slice(1).map((back) => limit - back);
  const behind = each.map((over) => limit + 1 + over);
  const penalties = await ask(subject, {
    ...drawn,
    lengths: [limit, ...inside, ...behind, limit + 1 + buffer],
  });
  const [atLimit = Number.NaN, ...others] = penalties;
  const [first = Number.NaN, ...more] = others.slice(inside.length);
  const free = others.slice(0, inside.length).every((penalty) => penalty === 0);
  return free && first < 0 && more.every((penalty) => penalty === first) && [0, first].includes(atLimit);
}
/** A buffer may be thousands of tokens; its end tells a slope from a step. */
const MOST_ASKED = 64;

export const overlongProperties: readonly Property<Overlong>[] = [
  {
    ...base,
    level: 'must',
    id: 'reward/overlong-is-free-before-the-buffer',
    title: 'A length up to max_length - buffer costs nothing, and no length is paid for',
    why: 'A penalty that begins too early, or has its sign reversed, teaches a length that was never asked for.',
    catches: [],
    async check(subject, drawn) {
      const penalties = await ask(subject, drawn);
      // Without a buffer, whether the limit itself is too long is the trainer's choice.
      const free = drawn.max_length - Math.max(1, drawn.buffer);
      const wrong = (penalty: number, length: number): boolean =>
        penalty > 0 || (length <= free && penalty < 0);
      const row = drawn.lengths.findIndex((length, at) => wrong(penalties[at] ?? 0, length));
      return row < 0
        ? undefined
        : {
            kind: 'not free',
            sentence: `A length of ${drawn.lengths[row]} has the penalty ${show(penalties[row])} ${setting(drawn)}; expected ${(drawn.lengths[row] ?? 0) <= free ? '0' : 'no gain'}.`,
          };
    },
  },
  {
    ...base,
    level: 'must',
    id: 'reward/overlong-costs-more-with-length',
    title: 'The last length of the buffer costs something, and no longer one costs less',
    why: 'A penalty that is lost at the limit, where completions pile up, or that starts again after it, stops no run-on.',
    given: buffered,
    catches: [],
    async check(subject, drawn) {
      if (drawn.buffer === 0) return discard('there is no buffer');
      const lengths = [...drawn.lengths, drawn.max_length].sort((a, b) => a - b);
      const penalties = await ask(subject, { ...drawn, lengths });
      const band = bandOf(subject);
      const at = (row: number): number => penalties[row] ?? Number.NaN;
      const limit = lengths.indexOf(drawn.max_length);
      if (at(limit) >= 0 && !(await isStep(subject, drawn)))
        return {
          kind: 'no cost',
          sentence: `The full length of ${drawn.max_length} has the penalty ${show(at(limit))} ${setting(drawn)}; expected less than 0.`,
        };
      const row = lengths.findIndex(
        (_, each) => each > 0 && at(each) > at(each - 1) && !band.close(at(each), at(each - 1)),
      );
      return row < 0
        ? undefined
        : {
            kind: 'falls back',
            sentence: `A length of ${lengths[row]} has the penalty ${show(at(row))}, the shorter one of ${lengths[row - 1]} ${show(at(row - 1))}, ${setting(drawn)}.`,
          };
    },
  },
  {
    ...base,
    level: 'should',
    id: 'reward/overlong-grows-evenly-over-the-buffer',
    title: 'Over the buffer the penalty grows evenly to its full size at max_length',
    why: 'A step, or a slope over something else than the buffer, is not the soft punishment that was asked for.',
    given: buffered,
    catches: [],
    async check(subject, drawn) {
      if (drawn.buffer === 0) return discard('there is no buffer');
      const lengths = drawn.lengths.filter((length) => length <= drawn.max_length);
      const penalties = await ask(subject, { ...drawn, lengths: [...lengths, drawn.max_length] });
      const full = penalties.at(-1) ?? Number.NaN;
      const band = bandOf(subject);
      const pairs = lengths.map((length, row) => ({
        where: `length ${length}`,
        // -0 is shown as 0.
        expected: Math.abs(full) * softOverlong(length, drawn.max_length, drawn.buffer) + 0,
        observed: penalties[row],
      }));
      const wrong = pairs.filter(({ expected, observed }) => !band.close(observed, expected));
      const [first] = wrong;
      if (first === undefined) return undefined;
      if (drawn.buffer > 1 && (await isStep(subject, drawn)))
        return discard('what is too long loses its reward, and nothing grows over a buffer', 'trainer');
      return numberFinding({
        kind: 'slope',
        sentence: `A ${first.where} has the penalty ${show(first.observed)} ${setting(drawn)}, where the limit itself has ${show(full)}; expected ${show(first.expected)}.`,
        band,
        pairs: wrong,
        note: 'DAPO (arXiv 2503.14476), equation 13, times any factor.',
      });
    },
  },
  ...relations<'overlong_penalty', Overlong>({
    op: 'overlong_penalty',
    stage: 'reward',
    prefix: 'reward/overlong-',
    noun: 'The overlong penalty',
    given: overlong,
    args: (drawn) => drawn,
    labels: overlongLabels,
    // Who needs a buffer refuses to do without one, rightly.
    coverage: { 'length in the buffer': 0.1 },
    observe: async (subject, args): Promise<Observed> => ({
      fields: { penalties: await ask(subject, args) },
    }),
    allBut: [],
    relations: { finite: { catches: ['VAL-08', 'NUM-01'] } },
  }),
];
