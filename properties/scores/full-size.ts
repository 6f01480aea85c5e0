// Log-probabilities and entropies at a real vocabulary, where indices leave small integers, sums are long, and the last
// chunk of the head is a partial one. The reference is the row kernel's, on a GPU where there is one.
import {
  type Band,
  bandFrom,
  cancellation,
  discard,
  type FullSize,
  fullSize,
  fullSizeLogits,
  type Need,
  numberFinding,
  numbersOf,
  type Op,
  type Property,
  type RowNumbers,
  type Subject,
  show,
  tolerance,
} from '../../src/index.ts';

/** A line of base64 takes what a pipe takes; of lists of numbers it takes seconds. */
const base64: Need = ({ hello }) =>
  hello.tensors === 'base64'
    ? undefined
    : 'logits at a real vocabulary are sent as base64 only (hello.tensors, see PROTOCOL.md)';

/** Each takes a tenth of a second, and all see the same. */
const MOST_CASES = 12;

const base = {
  level: 'must',
  needs: [base64],
  given: fullSize,
  mostCases: MOST_CASES,
  labels: ({ vocabulary }: FullSize) => [`${vocabulary} ids`],
} as const;

/** Sums of V roundings that are independent; naive float32 sums were measured at half of this. */
function bandAt(subject: Subject, vocabulary: number, backend: string): Band {
  const dtype = subject.hello.dtype ?? 'float32';
  const half = dtype === 'bfloat16' || dtype === 'float16';
  // A GPU's own sums are in float32.
  const { absolute, relative } = tolerance(dtype === 'float64' && backend !== 'cpu-f64' ? 'float32' : dtype);
  const growth = half ? 1 : Math.max(1, Math.sqrt(vocabulary) / GROWTH);
  return bandFrom({
    absolute: absolute * growth,
    relative,
    reason: `the trainer computes in ${dtype}: off by at most ${Number((absolute * growth).toPrecision(2))}, or ${relative} of the value, over ${vocabulary} ids`,
  });
}
const GROWTH = 5;

/** Of what is a difference of log-probabilities, each rounded at its own size: in half precision that is most of it. */
function differenceBand(subject: Subject, { absolute, relative, reason }: Band): Band {
  const by = cancellation(subject, LARGEST_LOGPROB);
  return bandFrom({
    absolute: absolute + by,
    relative,
    reason: `${reason}; and by ${Number(by.toPrecision(2))} for differences of log-probabilities`,
  });
}
/** -log p of the least likely id of these logits, about. */
const LARGEST_LOGPROB = 32;

interface Reference {
  readonly args: {
    readonly input_ids: number[][];
    readonly attention_mask: number[][];
    readonly logits: number[][][];
  };
  /** Of the reference model, where it is asked for. */
  readonly ref_logits: number[][][];
  readonly numbers: RowNumbers;
  readonly band: Band;
  readonly why: string;
}

/** The request, and what the kernel says of its tokens but the first. */
async function referenceOf(subject: Subject, drawn: FullSize, reference = false): Promise<Reference> {
  const rows = fullSizeLogits(drawn);
  const predictors = rows.slice(0, -1);
  // The logits of the case after it, so that one case is one seed.
  const others = reference ? fullSizeLogits({ ...drawn, seed: drawn.seed + 1 }) : [];
  const { kernel, why } = await subject.kernel();
  const pieces = await kernel.rows({
    policy: { dtype: 'float32', data: flat(predictors, drawn.vocabulary) },
    ...(reference
      ? { reference: { dtype: 'float32', data: flat(others.slice(0, -1), drawn.vocabulary) } }
      : {}),
    targets: Int32Array.from(drawn.ids.slice(1)),
    vocab: drawn.vocabulary,
    temperature: 1,
  });
  return {
    args: {
      input_ids: [[...drawn.ids]],
      attention_mask: [drawn.ids.map(() => 1)],
      logits: [rows.map((row) => [...row])],
    },
    ref_logits: [others.map((row) => [...row])],
    numbers: numbersOf(pieces),
    band: bandAt(subject, drawn.vocabulary, kernel.name),
    why,
  };
}

/** Rows one after the other. */
function flat(rows: readonly Float32Array[], vocabulary: number): Float32Array {
  const data = new Float32Array(rows.length * vocabulary);
  for (const [at, row] of rows.entries()) data.set(row, at * vocabulary);
  return data;
}

function compared(
  drawn: FullSize,
  { band, why }: Reference,
  noun: string,
  expected: Float64Array,
  observed: readonly number[],
) {
  const pairs = [...expected].map((value, at) => ({
    where: `token ${at + 1} (id ${drawn.ids[at + 1]})`,
    expected: value,
    observed: observed[at + 1],
  }));
  const wrong = pairs.filter((pair) => !band.close(pair.observed, pair.expected));
  const [first] = wrong;
  if (first === undefined) return undefined;
  return numberFinding({
    kind: 'value',
    sentence: `Over ${drawn.vocabulary} ids the ${noun} of ${first.where} is ${show(first.observed)}; the logits before it give ${show(first.expected)}.`,
    band,
    pairs: wrong,
    note: `Reference: ${why}.`,
  });
}

const full = (op: Op, stage: Property['stage']) => ({ ...base, ops: [op], stage });

export const fullSizeProperties: readonly Property<FullSize>[] = [
  {
    ...full('logprobs', 'logprobs'),
    id: 'logprobs/equal-the-reference-at-full-size',
    title: 'Log-probabilities are right at a real vocabulary, to its last id',
    why: 'Ids that pass through a short integer or a half float, or a chunk of the head that is left out, are right in every small test.',
    catches: ['LP-11', 'NUM-05'],
    async check(subject, drawn) {
      const reference = await referenceOf(subject, drawn);
      const args = { ...reference.args, prompt_width: 1, temperature: 1 };
      const { logprobs } = await subject.ask('logprobs', args);
      return compared(drawn, reference, 'log-probability', reference.numbers.logprobs, logprobs[0] ?? []);
    },
  },
  {
    ...full('entropy', 'entropy'),
    id: 'entropy/equal-the-reference-at-full-size',
    title: 'The entropy is that of the whole vocabulary, to its last id',
    why: 'An entropy of the likeliest ids, or of all chunks but the last, is too small, and looks like a policy that has made up its mind.',
    catches: ['NUM-05'],
    async check(subject, drawn) {
      const reference = await referenceOf(subject, drawn);
      const completion_mask = [drawn.ids.map((_, at) => Number(at > 0))];
      const { entropy } = await subject.ask('entropy', {
        ...reference.args,
        completion_mask,
        prompt_width: 1,
      });
      if (entropy === undefined) return discard('the answer has no entropy a token', 'trainer');
      return compared(drawn, reference, 'entropy', reference.numbers.entropy, entropy[0] ?? []);
    },
  },
  {
    ...full('full_kl', 'kl'),
    id: 'kl/over-the-vocabulary-equals-the-reference-at-full-size',
    title: 'The exact KL is that of the whole vocabulary, to its last id',
    why: 'A KL of the likeliest ids, or of all chunks but the last, says nothing of where the policy has drifted to.',
    catches: ['NUM-05', 'KL-03'],
    async check(subject, drawn) {
      const reference = await referenceOf(subject, drawn, true);
      const { kl } = await subject.ask('full_kl', {
        ...reference.args,
        ref_logits: reference.ref_logits,
        completion_mask: [drawn.ids.map((_, at) => Number(at > 0))],
        prompt_width: 1,
        temperature: 1,
      });
      if (kl === undefined) return discard('the answer has no KL a token', 'trainer');
      const band = differenceBand(subject, reference.band);
      return compared(drawn, { ...reference, band }, 'KL', reference.numbers.kl, kl[0] ?? []);
    },
  },
];
