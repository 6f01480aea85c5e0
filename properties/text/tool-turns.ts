// Conversations with tools, in text and in rows: the rules for templates and labels once more, where results come
// several at once and the assistant speaks more often than it is asked.
import {
  type Dialogue,
  type Need,
  type Op,
  type Property,
  severalTurns,
  toolDialogue,
  toolDialogueLabels,
} from '../../src/index.ts';
import { turnLabelProperties } from './labels-of-turns.ts';
import { asTemplate, parity as renderParity } from './render.ts';
import { followsTemplate, parity as tokenizeParity } from './tokenize.ts';

const tools =
  (op: Op): Need =>
  ({ hello }) =>
    hello.ops[op]?.tools === true
      ? undefined
      : `op \`${op}\` does not declare tools: it renders no tool messages`;

/** The same rule about other conversations. */
function withTools(
  rule: Property<Dialogue> | undefined,
  told: Pick<Property<Dialogue>, 'id' | 'title' | 'why' | 'catches'>,
): Property<Dialogue> {
  if (rule === undefined) throw new TypeError(`${told.id}: the rule that it repeats is gone`);
  return {
    ...rule,
    ...told,
    needs: [...(rule.needs ?? []), ...rule.ops.flatMap((op) => [tools(op), severalTurns(op)])],
    given: () => toolDialogue(),
    labels: toolDialogueLabels,
    coverage: { 'results in a row': 0.25, 'several calls': 0.15 },
  };
}

const turnLabels = (id: string): Property<Dialogue> | undefined =>
  turnLabelProperties.find((property) => property.id === id);

const WHY_TEMPLATE =
  'A template writes the results of parallel calls into one turn; rendered one by one they are conversations that the model was never trained on.';

export const renderToolProperties: readonly Property<Dialogue>[] = [
  withTools(renderParity, {
    id: 'render/sft-and-rl-render-tools-alike',
    title:
      'With tool results in it, the prompt that RL generates from is the beginning of the text that SFT trains on',
    why: 'The loop that calls the tools writes their results itself. A prompt without a part of them is one that fine-tuning never taught.',
    catches: ['MT-03', 'TPL-06', 'TPL-03'],
  }),
  withTools(asTemplate('rl'), {
    id: 'render/rl-tools-follow-the-chat-template',
    title: 'An RL prompt with tool results is the chat template of all its messages together',
    why: WHY_TEMPLATE,
    catches: ['MT-03', 'TPL-06'],
  }),
  withTools(asTemplate('sft'), {
    id: 'render/sft-tools-follow-the-chat-template',
    title: 'An SFT text with tool results is the chat template of all its messages together',
    why: WHY_TEMPLATE,
    catches: ['MT-03', 'TPL-06'],
  }),
];

export const tokenizeToolProperties: readonly Property<Dialogue>[] = [
  withTools(tokenizeParity, {
    id: 'tokenize/sft-and-rl-tokenize-tools-alike',
    title: 'With tool results in it, the RL prompt is, id by id, the beginning of the row that SFT trains on',
    why: 'Results that are appended to ids turn by turn need not be the ids of the whole conversation.',
    catches: ['MT-03', 'MT-01', 'TPL-06'],
  }),
  withTools(followsTemplate('rl'), {
    id: 'tokenize/rl-tool-ids-are-the-rendered-template',
    title: 'The ids of an RL prompt with tool results are the tokens of the rendered chat template',
    why: WHY_TEMPLATE,
    catches: ['MT-03', 'TOK-12'],
  }),
  withTools(followsTemplate('sft'), {
    id: 'tokenize/sft-tool-ids-are-the-rendered-template',
    title: 'The ids of an SFT row with tool results are the tokens of the rendered chat template',
    why: WHY_TEMPLATE,
    catches: ['MT-03', 'TOK-12'],
  }),
  withTools(turnLabels('tokenize/only-answers-are-trained'), {
    id: 'tokenize/tool-output-is-not-trained',
    title: 'SFT does not train what a tool answered, nor the marks around it',
    why: 'A model that is trained on results learns to make them up.',
    catches: ['MSK-02', 'MSK-09', 'MSK-05'],
  }),
  withTools(turnLabels('tokenize/every-answer-is-trained'), {
    id: 'tokenize/calls-and-answers-are-trained',
    title:
      'Where SFT is declared to train every assistant turn, tool calls and the answers after their results are trained through their stop tokens',
    why: 'A model that is never trained on the end of its calls does not stop to wait for the result.',
    catches: ['MSK-09', 'EOS-09', 'MSK-05'],
  }),
];
