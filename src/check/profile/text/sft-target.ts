// Which tokens of a conversation supervised fine-tuning trains, read off the runs of labels: no template need be known.
import { CHOICES, IGNORE_INDEX, type Message, type Semantics } from '../../../vocabulary.ts';
import { asksOnce } from '../../needs.ts';
import type { Subject, World } from '../../property.ts';
import { discard } from '../../subject.ts';
import type { Misfit, Probe } from '../probe.ts';

type Target = NonNullable<Semantics['sft_target']>;

export const sftTarget: Probe<readonly Message[]> = {
  id: 'sft_target',
  items: ['sft_target'],
  ops: ['tokenize', 'sft_batch'],
  anyOp: true,
  lack: (world) =>
    tokenizes(world) || world.hello.ops.sft_batch !== undefined
      ? undefined
      : 'op `tokenize` has no route "sft"',
  variants: async () =>
    CHOICES.sft_target.values.map((sft_target) => ({
      name: sft_target,
      items: { sft_target },
    })),
  // A long history and a short last answer, so that the middle of the row is history.
  cases: (world) =>
    asksOnce(world, 'tokenize', 'sft_batch') ? [conversation(1)] : [conversation(2), conversation(3)],
  async fits(subject, messages, variants) {
    const labels = await labelsOf(subject, messages);
    if (labels === undefined) return discard('the answer has no labels');
    const answers = messages.filter(({ role }) => role === 'assistant').length;
    const seen = runsOf(labels);
    return variants.map(({ items }) => misfit(items.sft_target, labels.length, answers, seen));
  },
};

const tokenizes = ({ hello: { ops } }: World): boolean =>
  ops.tokenize !== undefined && (ops.tokenize.route ?? ['sft']).includes('sft');

/** Those of the row alone, or of a batch of one without what is not attended to. */
async function labelsOf(
  subject: Subject,
  messages: readonly Message[],
): Promise<readonly number[] | undefined> {
  if (tokenizes(subject)) {
    const request = { route: 'sft', messages, add_generation_prompt: false } as const;
    return (await subject.ask('tokenize', request)).labels;
  }
  const { labels, attention_mask } = await subject.ask('sft_batch', { conversations: [messages] });
  return labels[0]?.filter((_, column) => attention_mask[0]?.[column] === 1);
}

/** Behind the last answer a template may write a line break, and more, that no trainer trains. */
const TAIL = 3;

function misfit(
  target: Target | undefined,
  width: number,
  answers: number,
  runs: readonly { readonly from: number; readonly to: number }[],
): Misfit | undefined {
  const [first, last] = [runs[0], runs.at(-1)];
  const wanted = target === 'assistant' ? answers : 1;
  if (first === undefined || last === undefined || runs.length !== wanted)
    return { where: 'the number of trained stretches', expected: wanted, observed: runs.length, off: 2 };
  if (width - last.to > TAIL)
    return { where: 'the end of the last trained stretch', expected: width, observed: last.to, off: 2 };
  // Nothing predicts column 0, so its label may be missing.
  if (target === 'all')
    return first.from <= 1
      ? undefined
      : { where: 'the first trained column', expected: 0, observed: first.from, off: 2 };
  const least = target === 'assistant' ? 2 : width / 2;
  return first.from >= least
    ? undefined
    : { where: 'the first trained column, at least', expected: least, observed: first.from, off: 2 };
}

/** Stretches [from, to) of columns that are trained. */
function runsOf(labels: readonly number[]): { from: number; to: number }[] {
  const runs: { from: number; to: number }[] = [];
  labels.forEach((label, column) => {
    if (label === IGNORE_INDEX) return;
    const last = runs.at(-1);
    if (last?.to === column) last.to = column + 1;
    else runs.push({ from: column, to: column + 1 });
  });
  return runs;
}

function conversation(turns: number): Message[] {
  return Array.from({ length: turns }, (_, turn): Message[] => [
    { role: 'user', content: 'Which of the two rivers is the longer one, and why do people ask?' },
    {
      role: 'assistant',
      content: turn === turns - 1 ? 'yes' : 'The second, because maps show it so and schools teach it.',
    },
  ]).flat();
}
