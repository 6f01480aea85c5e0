// Trainers that are right over a small vocabulary, and wrong over a real one.
import { type Args, entropyOf, fullKlOf, type Ids } from '../../../src/index.ts';
import { type Mutant, wrong } from '../mutant.ts';

const LAYOUT = { alignment: 'token', span: 'row' } as const;

/** log-softmax of a row at an id, over the ids that a head has. */
function logprob(row: readonly number[], id: number, ids = row.length): number {
  const kept = row.slice(0, ids);
  const most = kept.reduce((a, b) => Math.max(a, b), Number.NEGATIVE_INFINITY);
  return (
    (row[id] ?? Number.NaN) - most - Math.log(kept.reduce((sum, logit) => sum + Math.exp(logit - most), 0))
  );
}

const tokens = (args: Args<'logprobs'>, of: (row: readonly number[], id: number) => number) => ({
  logprobs: args.input_ids.map((ids: Ids, b) =>
    ids.map((id, t) => (t === 0 ? 0 : of(args.logits[b]?.[t - 1] ?? [], id))),
  ),
});

/** Ids a chunk of a fused head takes. */
const CHUNK = 1_024;
const whole = (size: number): number => (size < CHUNK ? size : size - (size % CHUNK));

const made = (parts: Omit<Parameters<typeof wrong>[0], 'layout' | 'tensors'>): Mutant =>
  wrong({ ...parts, layout: LAYOUT, tensors: 'base64' });

export const wrongAtFullSize: readonly Mutant[] = [
  // Ids were kept as int16 to save memory. Fix: int32.
  made({
    name: 'ids-in-sixteen-bits',
    title: 'Ids are gathered through 16 bits',
    ops: {
      logprobs: (args) =>
        tokens(args, (row, id) =>
          logprob(row, new Int16Array([id])[0] === id ? id : (id & 0x7fff) % row.length),
        ),
    },
  }),
  // The kernel's last block of ids was launched only where it was full. Fix: round the grid up, and mask.
  made({
    name: 'last-chunk-of-the-head',
    title: 'The last partial chunk of the vocabulary is left out of the softmax',
    ops: {
      logprobs: (args) => tokens(args, (row, id) => logprob(row, id, whole(row.length))),
      entropy: ({ logits }) => ({
        entropy: logits.map((rows) =>
          rows.map((_, t) =>
            t === 0 ? 0 : entropyOf((rows[t - 1] ?? []).slice(0, whole(rows[0]?.length ?? 0))),
          ),
        ),
      }),
      full_kl: ({ logits, ref_logits: ref }) => ({
        kl: logits.map((rows, b) =>
          rows.map((_, t) => {
            const [p, q] = [rows[t - 1] ?? [], ref[b]?.[t - 1] ?? []];
            return t === 0 ? 0 : fullKlOf(p.slice(0, whole(p.length)), q.slice(0, whole(q.length)));
          }),
        ),
      }),
    },
  }),
];
