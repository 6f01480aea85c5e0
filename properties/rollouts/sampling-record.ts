// What a sampler records of the token that it drew, and what scoring makes of the same logits: the ratio of the two is
// 1 before the first step, or off by exactly what truncation left out.
import {
  bandOf,
  CHOICES,
  discard,
  type Finding,
  logSoftmax,
  type Ok,
  type Property,
  type SamplingStep,
  type Semantics,
  type Subject,
  samplingStep,
  show,
  stopsOf,
  type World,
} from '../../src/index.ts';
import { argsOf, base, heldBackIn, possible, processors } from './sampling.ts';

type Mode = NonNullable<Semantics['sampling_logprobs']>;
const WORDS: Readonly<Record<Mode, string>> = {
  processed: 'the distribution that was drawn from',
  temperature: 'logits / temperature',
  raw: 'the bare logits',
};

const allowedModes = ({ semantics }: World): readonly Mode[] =>
  semantics.sampling_logprobs === undefined
    ? CHOICES.sampling_logprobs.values
    : [semantics.sampling_logprobs];

/** Log-probabilities of row `row` (V,) that a sampler of this mode may record; held-back stops are left out, or not. */
function readings(
  drawn: SamplingStep,
  answer: Ok<'sampling'>,
  row: number,
  mode: Mode,
): (readonly number[])[] {
  const { logits = [] } = drawn.rows[row] ?? {};
  if (mode === 'processed') return [answer.logprobs[row] ?? []];
  if (mode === 'raw') return [logSoftmax(logits)];
  const scaled = logits.map((z) => z / drawn.temperature);
  const held = heldBackIn(drawn, row);
  return [logSoftmax(scaled), logSoftmax(scaled.map((z, id) => (held.includes(id) ? -Infinity : z)))];
}

const recorded: Property<SamplingStep> = {
  ...base,
  id: 'sampling/recorded-is-of-the-drawn-token',
  settles: ['sampling_logprobs'],
  title:
    'The recorded number is the log-probability of the drawn token, in the declared mode (or, undeclared, in one of the three)',
  why: 'The recorded number is the denominator of the ratio: that of another token, or of other logits, makes every weight wrong.',
  catches: ['LP-09', 'LP-08', 'LP-06', 'LP-07'],
  coverage: { 'drawn token is not the likeliest': 0.25 },
  async check(subject, drawn): Promise<Finding | undefined> {
    const args = argsOf(drawn, subject);
    const answer = await subject.ask('sampling', args);
    const { sampled_logprobs: values } = answer;
    if (values === undefined) return discard('the answer has no sampled_logprobs', 'trainer');
    const band = bandOf(subject, args.logits[0]?.length);
    const misfit = (mode: Mode): number =>
      values.findIndex((value, row) => {
        const id = args.sampled_ids[row] ?? -1;
        return !readings(drawn, answer, row, mode).some((reading) => band.close(value, reading[id]));
      });
    const modes = allowedModes(subject);
    if (modes.some((mode) => misfit(mode) < 0)) return undefined;
    const [mode = 'processed'] = modes;
    const row = misfit(mode);
    const [value, id] = [values[row] ?? Number.NaN, args.sampled_ids[row] ?? -1];
    const expected = readings(drawn, answer, row, mode)[0]?.[id];
    const instead = CHOICES.sampling_logprobs.values
      .filter((other) => !modes.includes(other))
      .find((other) => misfit(other) < 0);
    const another = (args.logits[row] ?? []).findIndex(
      (_, each) =>
        each !== id && readings(drawn, answer, row, mode).some((reading) => band.close(value, reading[each])),
    );
    const why =
      instead !== undefined
        ? ` It is that of ${WORDS[instead]}.`
        : another >= 0
          ? ` It is that of id ${another}, which was not drawn.`
          : '';
    return {
      kind: instead ?? (another >= 0 ? 'another token' : 'value'),
      sentence: `The recorded log-probability of id ${id}, drawn in row ${row}, is ${show(value)}; ${WORDS[mode]} ${mode === 'raw' ? 'give' : 'gives'} ${show(expected)}.${why}`,
      note:
        subject.semantics.sampling_logprobs === undefined
          ? `Nothing is declared (sampling_logprobs), and no mode fits all rows. ${band.reason}`
          : band.reason,
    };
  },
};

/** What op `logprobs` says of the drawn tokens under these logits. */
async function scored(subject: Subject, drawn: SamplingStep, ids: readonly number[]): Promise<number[]> {
  const { logprobs } = await subject.ask('logprobs', {
    input_ids: ids.map((id) => [0, id]),
    attention_mask: ids.map(() => [1, 1]),
    logits: drawn.rows.map(({ logits }) => [logits, logits]),
    prompt_width: 1,
    temperature: drawn.temperature,
  });
  return logprobs.map((row) => row[1] ?? Number.NaN);
}

/** Scoring divides by the temperature, and what is recorded is declared to have been divided, too. */
const temperatures = ({ hello, semantics }: World): boolean =>
  hello.ops.logprobs?.temperature === true &&
  semantics.temperature_in_scoring !== false &&
  (semantics.sampling_logprobs === 'processed' || semantics.sampling_logprobs === 'temperature');

const asScored: Property<SamplingStep> = {
  ...base,
  id: 'sampling/recorded-equals-scored',
  title:
    'Without truncation, the log-probability that the sampler records equals the one from scoring: the ratio is 1',
  why: 'Where the two differ before the first step, the trainer corrects for a difference that it made itself.',
  catches: ['LP-05', 'LP-08', 'LP-16', 'LP-09'],
  ops: ['sampling', 'logprobs'],
  given: (world) =>
    samplingStep(
      processors(world).filter((name) => name === 'temperature'),
      {
        temperatures: temperatures(world),
        ...stopsOf(world, 'sampling'),
      },
    ),
  coverage: (world) => ({
    'drawn token is not the likeliest': 0.25,
    ...(temperatures(world) && processors(world).includes('temperature')
      ? { 'temperature other than 1': 0.25 }
      : {}),
  }),
  async check(subject, drawn): Promise<Finding | undefined> {
    const args = argsOf(drawn, subject);
    const { sampled_logprobs: values } = await subject.ask('sampling', args);
    if (values === undefined) return discard('the answer has no sampled_logprobs', 'trainer');
    const scores = await scored(subject, drawn, args.sampled_ids);
    const band = bandOf(subject, args.logits[0]?.length);
    const row = values.findIndex((value, at) => !band.close(value, scores[at]));
    if (row < 0) return undefined;
    const ratio = Math.exp((scores[row] ?? Number.NaN) - (values[row] ?? Number.NaN));
    return {
      kind: 'ratio',
      sentence: `Id ${args.sampled_ids[row]}, drawn in row ${row} at temperature ${drawn.temperature}, is recorded with ${show(values[row])} and scored ${show(scores[row])} under the same logits: the ratio is ${show(ratio)} before any step.`,
      note: band.reason,
    };
  },
};

const keptMass: Property<SamplingStep> = {
  ...base,
  id: 'sampling/recorded-and-scored-differ-by-the-kept-mass',
  title:
    'With truncation at temperature 1, recorded minus scored is -log of the probability that was kept, or 0 where it is declared to be recorded before',
  why: 'Renormalised over what was kept, the record makes every ratio too small by that mass: a correction must know it exactly.',
  catches: ['LP-07', 'LP-17'],
  ops: ['sampling', 'logprobs'],
  needs: [
    (world) =>
      processors(world).some((name) => name !== 'temperature')
        ? undefined
        : 'op `sampling` does not truncate',
  ],
  given: (world) => samplingStep(processors(world), { temperatures: false, ...stopsOf(world, 'sampling') }),
  async check(subject, drawn): Promise<Finding | undefined> {
    const args = argsOf(drawn, subject);
    const answer = await subject.ask('sampling', args);
    const { sampled_logprobs: values } = answer;
    if (values === undefined) return discard('the answer has no sampled_logprobs', 'trainer');
    const scores = await scored(subject, drawn, args.sampled_ids);
    const band = bandOf(subject, args.logits[0]?.length);
    const missing = (row: number, kept: (id: number) => boolean): number =>
      -Math.log(
        logSoftmax(drawn.rows[row]?.logits ?? []).reduce(
          (sum, value, id) => sum + (kept(id) ? Math.exp(value) : 0),
          0,
        ),
      );
    const differences = (row: number, mode: Mode): number[] => {
      if (mode === 'processed') return [missing(row, (id) => possible(answer.logprobs[row]?.[id]))];
      const held = heldBackIn(drawn, row);
      return mode === 'raw' ? [0] : [0, missing(row, (id) => !held.includes(id))];
    };
    const misfit = (mode: Mode): number =>
      values.findIndex(
        (value, row) =>
          !differences(row, mode).some((more) => band.close(value, (scores[row] ?? Number.NaN) + more)),
      );
    const modes = allowedModes(subject);
    if (modes.some((mode) => misfit(mode) < 0)) return undefined;
    const [mode = 'processed'] = modes;
    const row = misfit(mode);
    return {
      kind: 'mass',
      sentence: `Id ${args.sampled_ids[row]}, drawn in row ${row}, is recorded with ${show(values[row])} and scored ${show(scores[row])}: the difference is ${show((values[row] ?? Number.NaN) - (scores[row] ?? Number.NaN))}, and should be ${show(differences(row, mode)[0])}. Record log-probabilities before truncation, or score over the same tokens.`,
      note: band.reason,
    };
  },
};

export const samplingRecords: readonly Property<SamplingStep>[] = [recorded, asScored, keptMass];
