// Chat templates: the text a policy is prompted with must be the text it was fine-tuned on.
import {
  chatTemplate,
  type Dialogue,
  dialogueLabels,
  type Finding,
  type Property,
  type Route,
  route,
} from '../../src/index.ts';
import {
  appendable,
  dialogues,
  endingIds,
  promptOf,
  rendered,
  requirePrefixPreserving,
  templateArg,
} from './conversation.ts';

/** "...the last characters that agree" and what follows on either side, whitespace visible. */
function textDifference(left: string, right: string): { at: number; left: string; right: string } {
  let at = 0;
  while (at < left.length && left[at] === right[at]) at++;
  const show = (text: string): string => JSON.stringify(text.slice(Math.max(0, at - CONTEXT), at + CONTEXT));
  return { at, left: show(left), right: show(right) };
}
/** Characters shown on each side of a difference. */
const CONTEXT = 24;

export const parity: Property<Dialogue> = {
  id: 'render/sft-and-rl-render-the-same-prompt',
  title:
    'The prompt that RL generates from is, as text, the beginning of the conversation that SFT trains on',
  stage: 'render',
  level: 'must',
  why: 'A policy fine-tuned on one format and prompted in another has never seen what it is asked.',
  catches: ['TPL-06', 'TPL-01', 'TOK-12', 'TPL-02'],
  ops: ['render'],
  needs: [route('render', 'sft', 'rl')],
  given: dialogues('render'),
  labels: dialogueLabels,
  async check(subject, drawn) {
    requirePrefixPreserving(subject, drawn);
    const rl = await subject.ask('render', {
      route: 'rl',
      messages: promptOf(drawn.messages),
      add_generation_prompt: true,
      ...templateArg(drawn),
    });
    const sft = await subject.ask('render', {
      route: 'sft',
      messages: drawn.messages,
      add_generation_prompt: false,
      ...templateArg(drawn),
    });
    if (sft.text.startsWith(rl.text)) return undefined;
    const { at, left, right } = textDifference(rl.text, sft.text);
    return {
      kind: 'parity',
      sentence: `From character ${at} on, RL prompts with ${left}, but SFT trains on ${right}.`,
    };
  },
};

export function asTemplate(which: Route): Property<Dialogue> {
  return {
    id: `render/${which}-follows-the-chat-template`,
    title:
      which === 'rl'
        ? 'The RL prompt is the chat template with its generation prompt'
        : 'The SFT text is the chat template of the whole conversation',
    stage: 'render',
    level: 'must',
    why: 'A generation prompt left out, or added where it does not belong, makes the model continue the wrong turn.',
    catches: ['TPL-01', 'TPL-02', 'TPL-06', 'TOK-12'],
    ops: ['render'],
    needs: [route('render', which), chatTemplate],
    given: dialogues('render'),
    labels: dialogueLabels,
    async check(subject, drawn): Promise<Finding | undefined> {
      const messages = which === 'rl' ? promptOf(drawn.messages) : drawn.messages;
      const expected = rendered(subject, drawn, messages, which === 'rl') ?? '';
      const { text } = await subject.ask('render', {
        route: which,
        messages,
        add_generation_prompt: which === 'rl',
        ...templateArg(drawn),
      });
      // A trainer may leave BOS to its tokenizer, and SFT may end the row with a token of its own.
      const bos =
        subject.tokenizer?.bosTokenId === undefined
          ? ''
          : (subject.tokenizer.token(subject.tokenizer.bosTokenId) ?? '');
      const bare = expected.startsWith(bos) ? expected.slice(bos.length) : expected;
      const ends =
        which === 'rl' ? [] : [...endingIds(subject)].map((id) => appendable(subject, expected, id));
      const legal = ['', ...ends].filter((end) => end !== undefined);
      if (legal.some((end) => text === expected + end || text === bare + end)) return undefined;
      const { at, left, right } = textDifference(expected, text);
      return {
        kind: 'template',
        sentence: `From character ${at} on, the template renders ${left}, but the trainer renders ${right}.`,
      };
    },
  };
}

export const renderProperties: readonly Property<Dialogue>[] = [parity, asTemplate('rl'), asTemplate('sft')];
