// Around one optimiser step: who scores with which weights. The first ratio is 1, the reference stays, the policy moves,
// and the sampler follows.
import {
  type Band,
  type Batch,
  bandOf,
  batch,
  batchLabels,
  discard,
  type Finding,
  isHalf,
  MODEL_TERMS,
  modelTokens,
  numberFinding,
  type Ok,
  type Property,
  type Ragged,
  type Subject,
  show,
  type World,
} from '../../src/index.ts';

const base = {
  stage: 'update',
  level: 'must',
  ops: ['update'],
  needs: [modelTokens],
  given: ({ hello }: World) => batch({ tokens: hello.tokens, minRows: 1 }),
  labels: batchLabels,
  coverage: { 'unequal prompts': 0.2, 'several rows': 0.3 },
} as const;

/** Scores in half precision move by a share of a nat or not at all; of so many, one does. */
const FEW = 8;
/** Tokens that are stale by no chance: an engine in half precision may hit one old score. */
const STALE = 3;

/** The first completion token whose two scores differ. */
function differ(
  subject: Subject,
  left: Ragged,
  right: Ragged,
  sentence: (where: string, left: string, right: string) => string,
  band = bandOf(subject, MODEL_TERMS),
): Finding | undefined {
  for (const [row, values] of left.entries()) {
    const token = values.findIndex((value, at) => !band.close(right[row]?.[at], value));
    if (token < 0) continue;
    const [one, other] = [values[token], right[row]?.[token]];
    const where = `completion token ${token} of row ${row}`;
    return numberFinding({
      kind: 'score',
      sentence: sentence(where, show(one), show(other)),
      band,
      pairs: [{ where, expected: one, observed: other }],
    });
  }
  return undefined;
}

/** Whether the engine's scores are the old ones wherever they are not the new ones. */
function stale(subject: Subject, before: Ragged, after: Ragged, sampler: Ragged): boolean {
  const band = bandOf(subject, MODEL_TERMS);
  const off = sampler.flatMap((row, at) =>
    row.flatMap((value, token) =>
      band.close(value, after[at]?.[token]) ? [] : [band.close(value, before[at]?.[token])],
    ),
  );
  return off.length >= STALE && off.every((old) => old);
}

/** What an engine may be off by, whatever its trainer computes in. */
function engineBand(subject: Subject): Band {
  const band = bandOf({ ...subject, hello: { ...subject.hello, dtype: 'bfloat16' } }, MODEL_TERMS);
  return { ...band, reason: band.reason.replace('the trainer computes in', 'the engine may compute in') };
}

const step = async (subject: Pick<Subject, 'ask'>, drawn: Batch): Promise<Ok<'update'>> => {
  if (drawn.completions.every((ids) => ids.length === 0)) return discard('there is no completion token');
  return subject.ask('update', { prompt_ids: drawn.prompts, completion_ids: drawn.completions });
};

export const updateProperties: readonly Property<Batch>[] = [
  {
    ...base,
    id: 'update/first-ratio-is-one',
    title: 'In the first pass after a rollout, the policy scores every token as it was stored for the ratio',
    why: 'Another batch shape, temperature, dropout or prompt in one of the two passes, and every ratio is clipped or biased from the first step.',
    catches: ['LP-16', 'LP-12', 'LP-05', 'TPL-07', 'LP-08'],
    async check(subject, drawn) {
      const { old, before } = await step(subject, drawn);
      if (old === undefined) return discard('the answer has no old', 'trainer');
      return differ(
        subject,
        old,
        before,
        (where, stored, now) =>
          `The log-probability of ${where} was stored as ${stored}; before any step the policy gives ${now}, so the first ratio is not 1.`,
      );
    },
  },
  {
    ...base,
    id: 'update/every-request-starts-with-the-same-weights',
    title: 'Asked again, the policy scores every token before the step as it did the first time',
    why: 'If a request starts from the weights that the last one left, its result depends on the requests before it.',
    catches: ['LP-14'],
    async check(subject, drawn) {
      const { before } = await step(subject, drawn);
      const { before: again } = await step(subject.anew, drawn);
      return differ(
        subject,
        before,
        again,
        (where, first, second) =>
          `Before its step the policy gave ${where} ${first}, and ${second} before the step of the next request, which is the same: the weights were not put back.`,
      );
    },
  },
  {
    ...base,
    id: 'update/policy-starts-at-the-reference',
    title: 'Before the first step, policy and reference score every token alike',
    why: 'A KL that is not 0 at the start compares with another network, or with the same one wrapped differently.',
    catches: ['LP-15', 'LP-12'],
    needs: [
      ...base.needs,
      ({ hello }) =>
        hello.ops.update?.starts_at_reference
          ? undefined
          : 'op `update` does not say that the policy starts_at_reference',
    ],
    async check(subject, drawn) {
      const { before, ref_before: reference } = await step(subject, drawn);
      if (reference === undefined) return discard('the answer has no ref_before', 'trainer');
      return differ(
        subject,
        before,
        reference,
        (where, policy, ref) =>
          `Before the first step, policy and reference give ${where} ${policy} and ${ref}: the KL starts at another network.`,
      );
    },
  },
  {
    ...base,
    level: 'should',
    id: 'update/reference-stays',
    title: 'An optimiser step does not change what the reference scores',
    why: 'A reference that shares its weights with the policy keeps the KL at 0 while the policy drifts away.',
    catches: ['LP-15', 'KL-04'],
    async check(subject, drawn) {
      const { ref_before: before, ref_after: after } = await step(subject, drawn);
      if (before === undefined || after === undefined)
        return discard('the answer has no reference', 'trainer');
      return differ(
        subject,
        before,
        after,
        (where, was, is) => `The reference gave ${where} ${was} before the step and ${is} after it.`,
      );
    },
  },
  {
    ...base,
    id: 'update/policy-moves',
    title: 'An optimiser step changes what the policy scores',
    why: 'Scores kept from the old weights, a frozen network or a loss without gradient: the run goes on, and nothing is learnt.',
    catches: ['LP-14', 'ZL-02', 'LOSS-12', 'KL-04', 'NUM-01'],
    async check(subject, drawn) {
      const { before, after } = await step(subject, drawn);
      // NaN is unequal to everything, and would pass for a move.
      for (const [when, scores] of [
        ['Before', before],
        ['After', after],
      ] as const) {
        const row = scores.findIndex((values) => values.some(Number.isNaN));
        if (row >= 0)
          return {
            kind: 'not finite',
            sentence: `${when} an optimiser step the policy gives NaN to completion token ${scores[row]?.findIndex(Number.isNaN)} of row ${row}.`,
          };
      }
      if (isHalf(subject) && before.flat().length < FEW)
        return discard('so few scores may all be rounded to what they were in half precision', 'trainer');
      const moved = before.some((row, at) => row.some((value, token) => value !== after[at]?.[token]));
      return moved
        ? undefined
        : {
            kind: 'still',
            sentence: `After an optimiser step the policy gives all ${before.flat().length} completion tokens exactly the scores that it gave before.`,
          };
    },
  },
  {
    ...base,
    id: 'update/sampler-has-the-new-weights',
    title: 'After a step, the inference engine scores every token as the policy does',
    why: 'A prefix cache or a weight push that was forgotten: the sampler goes on with the old policy, and on-policy training is not.',
    catches: ['LP-14', 'LP-16'],
    async check(subject, drawn) {
      const { before, after, sampler_after: sampler } = await step(subject, drawn);
      if (sampler === undefined) return discard('the answer has no sampler_after', 'trainer');
      return differ(
        subject,
        after,
        sampler,
        (where, policy, engine) =>
          `After the step, the policy gives ${where} ${policy} and the inference engine ${engine}.`,
        // Engines run in half precision under trainers that do not; but then no scores are the old ones exactly.
        stale(subject, before, after, sampler) ? undefined : engineBand(subject),
      );
    },
  },
];
