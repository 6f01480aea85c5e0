// A row that is cut at a length is the business of the question about lengths alone (long.ts): every other rule sets it aside. Only
// a finding asks whether its rows are cut, so that rows which nothing is wrong with cost nothing.
import {
  type ChatPairs,
  type Dialogue,
  discard,
  type Ids,
  type Message,
  type Property,
  type SftBatch,
  type Subject,
} from '../../src/index.ts';
import { promptOf, routesOf, templateArg } from './conversation.ts';
import { attended, filler, HALVES, okOf } from './long.ts';
import { argsOf } from './sft-batch-rows.ts';

/** Below the lengths that anyone cuts at: a row that is wrong and short is wrong. */
const LEAST_CUT = 64;
/** More words than a trainer rounds a length by. */
const MORE_WORDS = 500;

type Messages = readonly Message[];
/** Which messages of a conversation change. */
type IsOf = (at: number, messages: Messages) => boolean;

/** What is cut: a row, what stands before its last answer, or that answer. */
const PARTS: readonly IsOf[] = [
  () => true,
  (at, messages) => at < messages.length - 1,
  (at, messages) => at === messages.length - 1,
];

/** The rows that are made of a case whose conversations are changed so; none where it is refused. */
type Rows<Case> = (
  subject: Subject,
  drawn: Case,
  edit: (messages: Messages) => Messages,
) => Promise<readonly Ids[]>;

/** Properties of cases of one kind, with those rows that are cut set aside. */
const asideWhereCut =
  <Case>(rowsOf: Rows<Case>) =>
  (properties: readonly Property<Case>[]): readonly Property<Case>[] =>
    properties.map((property) => ({
      ...property,
      async check(subject, drawn) {
        const found = await property.check(subject, drawn);
        if (found === undefined || !(await isCut((edit) => rowsOf(subject, drawn, edit), subject)))
          return found;
        return discard('a row is cut at a length, which another rule asks about', 'trainer');
      },
    }));

/** Some row is as long where its messages are longer, although it is shorter where they are. */
async function isCut(
  rowsOf: (edit: (messages: Messages) => Messages) => Promise<readonly Ids[]>,
  { hello }: Subject,
): Promise<boolean> {
  const lengths = async (edit: (messages: Messages) => Messages): Promise<readonly number[]> =>
    (await rowsOf(edit)).map(({ length }) => length);
  const changed = (isOf: IsOf, change: (content: string) => string): Promise<readonly number[]> =>
    lengths((messages) =>
      messages.map((message, at) =>
        isOf(at, messages) ? { ...message, content: change(message.content) } : message,
      ),
    );
  // A trainer that says how long its rows are is not asked about lengths: what it cuts above that is nobody's business.
  const least = Math.max(LEAST_CUT, hello.max_length ?? 0);
  const drawn = await lengths((messages) => messages);
  if (drawn.every((length) => length < least)) return false;
  for (const isOf of PARTS) {
    const longer = await changed(isOf, (content) => `${content}${filler(MORE_WORDS)}`);
    const same = drawn.flatMap((length, row) => (length >= least && longer[row] === length ? [row] : []));
    if (same.length === 0) continue;
    const shorter = await changed(isOf, () => 'a');
    if (same.some((row) => (shorter[row] ?? Infinity) < (drawn[row] ?? 0))) return true;
  }
  return false;
}

const ofDialogue: Rows<Dialogue> = async (subject, drawn, edit) => {
  const asked = [
    { messages: drawn.messages, prompt: false },
    { messages: promptOf(drawn.messages), prompt: true },
  ];
  const attempts = await Promise.all(
    routesOf(subject, 'tokenize').flatMap((route) =>
      asked
        .filter(({ prompt }) => prompt || route === 'sft')
        .map(({ messages, prompt }) =>
          subject.attempt('tokenize', {
            route,
            messages: edit(messages),
            add_generation_prompt: prompt,
            ...templateArg(drawn),
          }),
        ),
    ),
  );
  return attempts.map((attempt) => okOf(attempt)?.input_ids ?? []);
};

const batchOf =
  <Case>(batch: (drawn: Case) => SftBatch): Rows<Case> =>
  async (subject, drawn, edit) => {
    const all = batch(drawn);
    const conversations = all.conversations.map(edit);
    const ok = okOf(await subject.attempt('sft_batch', argsOf({ ...all, conversations })));
    return ok === undefined ? [] : attended(ok.input_ids, ok.attention_mask).map(({ ids }) => ids);
  };

const ofPairs: Rows<ChatPairs> = async (subject, drawn, edit) => {
  const halves = HALVES.map((half) =>
    drawn.prompts.map((prompt, row) =>
      edit([...prompt, { role: 'assistant', content: drawn[half][row] ?? '' }]),
    ),
  );
  const [chosen = [], rejected = []] = halves.map((rows) => rows.map((all) => all.at(-1)?.content ?? ''));
  const prompts = halves[0]?.map(promptOf) ?? [];
  const ok = okOf(await subject.attempt('preference_batch', { prompts, chosen, rejected }));
  if (ok === undefined) return [];
  return HALVES.flatMap((half) =>
    attended(ok[`${half}_input_ids`], ok[`${half}_attention_mask`]).map(({ ids }) => ids),
  );
};

/** Of op `tokenize`. */
export const uncutRows = <Case extends Dialogue>(
  properties: readonly Property<Case>[],
): readonly Property<Case>[] => asideWhereCut<Case>(ofDialogue)(properties);
/** Of op `sft_batch`. */
export const uncutBatches = <Case extends SftBatch>(
  properties: readonly Property<Case>[],
): readonly Property<Case>[] => asideWhereCut<Case>(batchOf((drawn) => drawn))(properties);
export const uncutDialogueBatches = asideWhereCut(
  batchOf(({ messages }: Dialogue): SftBatch => ({ conversations: [messages], side: null, pad: null })),
);
/** Of op `preference_batch`. */
export const uncutPairs = asideWhereCut(ofPairs);
