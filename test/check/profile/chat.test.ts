// How a trainer calls its chat template is measured where it is not the plain call, and what its routes do not share is
// measured of neither.
import { expect, test } from 'vitest';
import { properties } from '../../../properties/index.ts';
import { measureUndeclared } from '../../../src/check/profile/undeclared.ts';
import {
  loadTokenizer,
  type Message,
  objectTrainer,
  renderChat,
  run,
  type Semantics,
} from '../../../src/index.ts';
import { familyFolder } from '../../../src/tokenizers/families.ts';
import { templateTokens } from '../../../src/tokenizers/template.ts';

const loaded = loadTokenizer(familyFolder('qwen'));
if ('problem' in loaded) throw new Error(loaded.problem);
const tokenizer = Object.create(loaded.tokenizer, {
  chatTemplate: {
    value: `{% for m in messages %}<|im_start|>{{ m.role }}
{{ m.content }}<|im_end|>
{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant
{% if enable_thinking is defined and not enable_thinking %}<think></think>{% endif %}{% endif %}`,
  },
}) as typeof loaded.tokenizer;

type Call = (route: string, messages: readonly Message[]) => Parameters<typeof renderChat>[1];

const called = (messages: readonly Message[], extra = {}) => ({
  messages,
  extra,
  addGenerationPrompt: messages.at(-1)?.role !== 'assistant',
  ...templateTokens(tokenizer),
});

const trainerOf = (call: Call, semantics: Semantics = {}) => {
  const { vocabSize: vocab_size, eosTokenId: eos = 0 } = tokenizer;
  return objectTrainer({
    hello: {
      protocol: 1,
      name: 'chats',
      ops: { render: {}, rollout: {} },
      semantics,
      tokens: { vocab_size, pad_token_id: eos, eos_token_ids: [eos] },
    },
    ops: {
      render: ({ route, messages }) => {
        const made = renderChat(tokenizer.chatTemplate ?? '', call(route, messages));
        return { text: 'text' in made ? made.text : '' };
      },
      rollout: ({ conversations, sampled_ids }) => {
        const prompt_ids = conversations.map((messages) => {
          const made = renderChat(tokenizer.chatTemplate ?? '', call('rl', messages));
          return tokenizer.encode('text' in made ? made.text : '');
        });
        const rows = prompt_ids.map((prompt, row) => [...prompt, ...(sampled_ids[row] ?? [])]);
        const width = Math.max(...rows.map((row) => row.length));
        const padded = (row: readonly number[], fill: number): number[] =>
          Array.from({ length: width }, (_, at) => row[at] ?? fill);
        return {
          prompt_ids,
          input_ids: rows.map((row) => padded(row, eos)),
          attention_mask: rows.map((row) => padded(Array(row.length).fill(1), 0)),
          completion_mask: rows.map((row, at) =>
            padded(
              row.map((_, column) => Number(column >= (prompt_ids[at]?.length ?? 0))),
              0,
            ),
          ),
        };
      },
    },
  });
};

const system: Message = { role: 'system', content: 'Answer in one word.' };
const behindSystem: Call = (_, messages) =>
  called(messages[0]?.role === 'system' ? messages : [system, ...messages]);

const CALLS: readonly (readonly [string, Call, Semantics])[] = [
  ['the plain call', (_, messages) => called(messages), {}],
  [
    'a call without thinking',
    (_, messages) => called(messages, { enable_thinking: false }),
    { template_arguments: { enable_thinking: false } },
  ],
  ['a system message of its own', behindSystem, { default_system: 'Answer in one word.' }],
  [
    'a system message on one route only',
    (route, messages) => (route === 'rl' ? behindSystem(route, messages) : called(messages)),
    {},
  ],
  [
    'a mark of turns that nobody asked for',
    (_, messages) => called([{ role: 'system', content: '<|im_start|>' }, ...messages]),
    {},
  ],
];

test.each(CALLS)('%s is measured as what it is', async (_, call, expected) => {
  const { semantics } = await measureUndeclared({ trainer: trainerOf(call), tokenizer });
  expect(semantics).toEqual(expected);
});

test('a prompt that goes on behind the template is blamed where it does, in words and in marks', async () => {
  const trainer = trainerOf((_, messages) => called(messages, { enable_thinking: false }));
  const chosen = properties.filter(({ id }) => id === 'rollout/prompt-is-the-rendered-template');
  const [result] = await run(
    { trainer, tokenizer, properties: chosen, seed: 1, cases: 10, command: 'chats' },
    () => undefined,
  );
  const { sentence, strips } = result?.failure?.finding ?? {};
  const [mark] = strips?.[0]?.marks ?? [];
  expect(mark).toBeGreaterThan(0);
  expect(sentence).toContain(`at Token ${mark} `);
  expect(strips?.[0]?.tracks.map(({ name }) => name)).toEqual(['template', 'prompt']);
});

test('a route that thinks and one that does not are still told apart', async () => {
  const call: Call = (route, messages) => called(messages, route === 'rl' ? { enable_thinking: false } : {});
  const trainer = trainerOf((route, messages) => ({
    ...call(route, messages),
    addGenerationPrompt: route === 'rl',
  }));
  const measured = await measureUndeclared({ trainer, tokenizer });
  // Rows do not show the variable, so that both routes may set it; a prompt that no row begins with is blamed all the same.
  const chosen = properties.filter(({ id }) => id === 'render/sft-and-rl-render-the-same-prompt');
  const held = await run(
    { trainer, tokenizer, properties: chosen, measured, seed: 1, cases: 10, command: 'chats' },
    () => undefined,
  );
  expect(measured.semantics).toEqual({ template_arguments: { enable_thinking: false } });
  expect(held.map(({ verdict }) => verdict)).toEqual(['fail']);
});
