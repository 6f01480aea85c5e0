// What a sampler records of the token that it drew: log p of the distribution that it was drawn from, of logits /
// temperature, or of the bare logits. With everything on that the sampler offers, the three are three numbers.
import fc from 'fast-check';
import { logSoftmax } from '../../../reference/index.ts';
import type { Matrix, Semantics } from '../../../vocabulary.ts';
import { bandOf } from '../../numbers.ts';
import type { World } from '../../property.ts';
import { discard } from '../../subject.ts';
import { draw, misfitOf, type Probe, type Variant } from '../probe.ts';

interface Step {
  readonly logits: Matrix;
  readonly temperature: number;
  readonly top_k: number;
  readonly top_p: number;
}

interface RecordWay extends Variant {
  readonly mode: NonNullable<Semantics['sampling_logprobs']>;
}

export const samplingRecord: Probe<Step> = {
  id: 'sampling_logprobs',
  items: ['sampling_logprobs'],
  ops: ['sampling'],
  complete: true,
  lack: (world) =>
    (['temperature', 'top_k', 'top_p'] as const).some((name) => offers(world, name))
      ? undefined
      : 'has no effect: neither temperature nor truncation is offered',
  variants: async () => WAYS,
  cases: (world, drawn) =>
    draw(
      fc.record({
        logits: fc.array(fc.uniqueArray(fc.integer({ min: -32, max: 32 }), { minLength: 5, maxLength: 5 }), {
          minLength: 2,
          maxLength: 2,
        }),
        temperature: offers(world, 'temperature') ? fc.constantFrom(0.5, 2) : fc.constant(1),
        top_k: offers(world, 'top_k') ? fc.constantFrom(2, 3) : fc.constant(0),
        top_p: offers(world, 'top_p') ? fc.constantFrom(0.5, 0.75) : fc.constant(1),
      }),
      LEAST + drawn,
    ).map((step) => ({ ...step, logits: step.logits.map((row) => row.map((n) => n / GRAIN + 0)) })),
  async fits(subject, { logits, ...settings }, variants) {
    // The likeliest token, which no truncation leaves out. No stop token is held back.
    const sampled_ids = logits.map((row) => row.indexOf(Math.max(...row)));
    const [eos = 0] = subject.hello.tokens?.eos_token_ids ?? [];
    const { logprobs, sampled_logprobs: recorded } = await subject.ask('sampling', {
      ...settings,
      logits,
      sampled_ids,
      completion_ids: logits.map(() => []),
      eos_token_ids: [eos < (logits[0]?.length ?? 0) ? eos : 0],
      min_new_tokens: 0,
    });
    if (recorded === undefined) return discard('the answer has no sampled_logprobs');
    const band = bandOf(subject, logits[0]?.length);
    return (variants as readonly RecordWay[]).map(({ mode }) =>
      misfitOf(
        logits.map((row, b) => {
          const id = sampled_ids[b] ?? 0;
          const scale = mode === 'raw' ? 1 : settings.temperature;
          const of = mode === 'processed' ? logprobs[b] : logSoftmax(row.map((z) => z / scale));
          const where = `what is recorded of id ${id}, drawn from logits [${row.join(', ')}] at temperature ${settings.temperature}, top-k ${settings.top_k}, top-p ${settings.top_p}`;
          return { where, expected: of?.[id], observed: recorded[b] };
        }),
        band.allowed,
      ),
    );
  },
};

const WAYS: readonly RecordWay[] = (
  [
    ['processed', 'log p of the distribution that was drawn from'],
    ['temperature', 'log p of logits / temperature'],
    ['raw', 'log p of the bare logits'],
  ] as const
).map(([mode, name]) => ({ mode, name, items: { sampling_logprobs: mode } }));

const GRAIN = 16;
/** In some the likeliest token is nearly certain, whatever is done to it. */
const LEAST = 6;

function offers({ hello }: World, name: 'temperature' | 'top_k' | 'top_p'): boolean {
  return (hello.ops.sampling?.processors ?? ['temperature']).includes(name);
}
