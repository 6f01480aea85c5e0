// The trainer's own model through its own batching: the score of a row is its own business.
import fc from 'fast-check';
import {
  type Batch,
  bandOf,
  batch,
  batchLabels,
  discard,
  type Finding,
  type Ids,
  isHalf,
  MODEL_TERMS,
  many,
  modelTokens,
  numberFinding,
  ordinaryIds,
  type Property,
  type Ragged,
  redrawn,
  relations,
  type Subject,
  show,
  type World,
} from '../../src/index.ts';
import { otherId, REPLACEMENTS, REPLACEMENTS_HALF } from './other-ids.ts';

const given =
  (minRows: number) =>
  (world: World): fc.Arbitrary<Batch> => {
    const drawn = batch({ tokens: world.hello.tokens, minRows, long: true });
    if (world.hello.ops.score?.unfinished !== true) return drawn;
    return fc.tuple(drawn, fc.nat(EMPTY_ONE_IN - 1)).map(([whole, at]) => withEmpty(whole, at));
  };

/** One batch in so many loses all tokens of its first completion, and one those of its second. */
const EMPTY_ONE_IN = 8;

/** The sampler was aborted before the first token of this row; some other row has tokens. */
const withEmpty = (drawn: Batch, row: number): Batch =>
  drawn.completions.length < 2
    ? drawn
    : { ...drawn, completions: drawn.completions.map((ids, at) => (at === row ? [] : ids)) };
const base = {
  stage: 'score',
  level: 'must',
  ops: ['score'],
  needs: [modelTokens],
  labels: batchLabels,
} as const;
const coverage = { 'unequal prompts': 0.3, 'repeated prompt': 0.15 };

const score = async (subject: Subject, prompts: Ragged, completions: Ragged): Promise<Ragged> =>
  (await subject.ask('score', { prompt_ids: prompts, completion_ids: completions })).logprobs;

function differ(subject: Subject, before: Ragged, after: Ragged, what: string): Finding | undefined {
  const band = bandOf(subject, MODEL_TERMS);
  for (const [row, values] of before.entries()) {
    const token = values.findIndex((value, at) => !band.close(after[row]?.[at], value));
    if (token >= 0) {
      return numberFinding({
        kind: 'score',
        sentence: `The log-probability of completion token ${token} of row ${row} is ${show(values[token])}, but ${show(after[row]?.[token])} ${what}.`,
        band,
        pairs: values
          .map((value, at) => ({
            where: `row ${row}, completion token ${at}`,
            expected: value,
            observed: after[row]?.[at],
          }))
          .filter(({ expected, observed }) => !band.close(observed, expected)),
      });
    }
  }
  return undefined;
}

export const scoreRelations: readonly Property<Batch>[] = relations<'score', Batch>({
  op: 'score',
  stage: 'score',
  noun: 'The score',
  terms: MODEL_TERMS,
  needs: [modelTokens],
  given: given(2),
  args: ({ prompts, completions }) => ({ prompt_ids: prompts, completion_ids: completions }),
  labels: batchLabels,
  coverage,
  allBut: [],
  relations: {
    'batch-mates': {
      catches: ['PAD-04', 'PAD-05', 'EOS-02', 'NUM-03', 'LP-16', 'LP-23'],
      why: 'Positions that count padding, or attention that sees it, make every score depend on the longest prompt of the batch.',
    },
    stacked: { catches: ['LP-16'] },
    'same-twice': {
      catches: ['LP-12', 'LP-14'],
      why: 'Dropout left on makes the first ratio differ from 1 and the first KL from 0.',
    },
  },
});

export const scoreProperties: readonly Property<Batch>[] = [
  {
    ...base,
    id: 'score/one-logprob-a-completion-token',
    title: 'Every completion token has one log-probability, never above zero',
    why: 'Fewer numbers than tokens means that some token is paired with the probability of another.',
    catches: ['LP-01', 'EOS-11', 'MSK-08', 'LP-11', 'LP-23'],
    given: given(1),
    async check(subject, drawn) {
      const observed = await score(subject, drawn.prompts, drawn.completions);
      const most = bandOf(subject, MODEL_TERMS).absolute;
      for (const [row, completion] of drawn.completions.entries()) {
        const values = observed[row] ?? [];
        if (values.length !== completion.length)
          return {
            kind: 'count',
            sentence: `Row ${row} has ${completion.length} completion tokens and ${values.length} log-probabilities.`,
          };
        const token = values.findIndex((value) => !(value <= most));
        if (token >= 0)
          return {
            kind: 'positive',
            sentence: `The log-probability of completion token ${token} of row ${row} is ${values[token]}.`,
          };
      }
      return undefined;
    },
  },
  {
    ...base,
    id: 'score/depends-on-the-prompt',
    title: 'With every token of the prompts replaced, some score changes',
    why: 'Completions scored without their prompt, or after another one, are rated by a distribution that nothing was sampled from: every ratio and every KL is wrong, and smooth.',
    catches: ['TPL-07', 'TRN-03', 'LP-16'],
    given: (world) =>
      redrawn(given(1)(world), ({ completions }) => completions.flat().length >= LEAST_SCORES),
    coverage,
    async check(subject, drawn) {
      if (drawn.completions.flat().length < LEAST_SCORES) return discard('too few scores to tell', 'trainer');
      const before = (await score(subject, drawn.prompts, drawn.completions)).flat();
      const times = isHalf(subject) ? REPLACEMENTS_HALF : REPLACEMENTS;
      for (let by = 1; by <= times; by++) {
        const prompts = drawn.prompts.map((ids) => ids.map((id) => otherId(subject, id, by)));
        const after = (await score(subject, prompts, drawn.completions)).flat();
        if (after.some((value, at) => value !== before[at])) return undefined;
      }
      return {
        kind: 'ignored',
        sentence: `Every token of every prompt was replaced by another id, ${times} times over, and none of the ${before.length} scores changed: the completions are not scored after the prompt.`,
      };
    },
  },
  {
    ...base,
    id: 'score/looks-only-back',
    title: 'Changing a completion token leaves the scores before it alone and changes its own',
    why: 'A model that sees the tokens after the one it predicts scores them as nearly certain. Scores paired with the wrong token weigh the decision before or after it.',
    catches: ['LP-01', 'LP-03', 'LP-16'],
    given: given(1),
    coverage,
    async check(subject, drawn) {
      const stops = subject.hello.tokens?.eos_token_ids ?? [];
      // The stop token stays: without it, the row would be another one.
      const bodies = drawn.completions.map((ids) => ids.filter((id) => !stops.includes(id)).length);
      const longest = Math.max(...bodies);
      if (longest === 0) return discard('no completion has a token before its stop token');
      const before = await score(subject, drawn.prompts, drawn.completions);
      const places: { readonly token: number; readonly tried: number; readonly changed: number }[] = [];
      for (const token of new Set([0, Math.floor(longest / 2), longest - 1])) {
        let changed = 0;
        let tried = 0;
        for (let by = 1; by <= REPLACEMENTS; by++) {
          const replaced = drawn.completions.map((ids, row) =>
            token < (bodies[row] ?? 0) ? replaceAt(ids, token, otherId(subject, ids[token] ?? 0, by)) : ids,
          );
          const after = await score(subject, drawn.prompts, replaced);
          const finding = differ(
            subject,
            before.map((values) => values.slice(0, token)),
            after.map((values) => values.slice(0, token)),
            `when completion token ${token}, after it, is replaced by another id`,
          );
          if (finding !== undefined) return { ...finding, kind: 'ahead' };
          for (const [row, body] of bodies.entries()) {
            if (token >= body) continue;
            tried++;
            if (after[row]?.[token] !== before[row]?.[token]) changed++;
          }
        }
        places.push({ token, tried, changed });
      }
      // In half precision one place may stay as it is by rounding, and not all of them.
      const sum = (of: 'tried' | 'changed'): number => places.reduce((all, place) => all + place[of], 0);
      const whole = { token: undefined, tried: sum('tried'), changed: sum('changed') };
      const quiet = [whole, ...(isHalf(subject) ? [] : places)].find(
        ({ tried, changed }) => changed === 0 && tried >= LEAST_SCORES,
      );
      if (quiet === undefined)
        return whole.changed === 0 ? discard('too few scores to tell', 'trainer') : undefined;
      return {
        kind: 'paired',
        sentence: `${quiet.token === undefined ? 'Completion tokens were' : `Completion token ${quiet.token} was`} replaced by other ids, ${quiet.tried} times in all, and no score of a replaced token changed: the scores belong to other tokens.`,
      };
    },
  },
  {
    ...base,
    id: 'score/probabilities-add-up-to-at-most-one',
    title: 'The probabilities of different next tokens add up to at most one',
    why: 'Raw logits, a temperature that divides log-probabilities, or a softmax over another axis gives numbers that look like log-probabilities. Ratios and KL computed from them belong to no distribution.',
    catches: ['LP-21', 'LP-05'],
    // Short prompts: each is repeated in every row of a request.
    given: (world) => batch({ tokens: world.hello.tokens }),
    mostCases: 5,
    async check(subject, { prompts }) {
      const [prompt = []] = prompts;
      const ids = spread(subject);
      let sum = 0;
      for (let from = 0; from < ids.length; from += ROWS) {
        const part = ids.slice(from, from + ROWS).map((id) => [id]);
        sum += (
          await score(
            subject,
            part.map(() => prompt),
            part,
          )
        )
          .flat()
          .reduce((all, value) => all + Math.exp(value), 0);
      }
      if (sum <= 1 + leeway(subject)) return undefined;
      return {
        kind: 'sum',
        sentence: `After the prompt of row 0, the probabilities of ${many(ids.length, 'different next token')} add up to ${show(sum)}, so the scores are not a log-softmax over the vocabulary.`,
      };
    },
  },
];

/** Rows of one request, as many as the largest batch of other properties. */
const ROWS = 64;
/** Of a larger vocabulary, so many ids over all of it: their sum is at most 1 as well. */
const MOST_IDS = 512;
/** Rounding of 512 numbers. In half precision each logarithm may be off by hundredths. */
const leeway = (subject: Subject): number => (isHalf(subject) ? 0.25 : 0.01);

/** Ordinary ids over the whole vocabulary. */
function spread(world: World): Ids {
  const ids = world.hello.tokens === undefined ? [] : ordinaryIds(world.hello.tokens);
  const step = Math.max(1, ids.length / MOST_IDS);
  return Array.from({ length: Math.min(ids.length, MOST_IDS) }, (_, at) => ids[Math.floor(at * step)] ?? 0);
}

/** Fewer scores may all stay the same by rounding, in half precision; both replacements of one token do, now and then. */
const LEAST_SCORES = 4;

const replaceAt = (ids: Ids, at: number, id: number): Ids =>
  ids.map((kept, index) => (index === at ? id : kept));
