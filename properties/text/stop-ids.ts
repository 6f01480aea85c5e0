// The stop ids that a trainer declares, beside the tokenizer that it names: a name that the vocabulary does not have
// becomes the unknown token without a word.
import { type Dialogue, type Need, type Property, type Role, stripOf } from '../../src/index.ts';
import { routesOf } from './conversation.ts';
import { ask, base } from './tokenize.ts';

const knownUnknown: Need = ({ hello, tokenizer }) => {
  if (hello.tokens === undefined) return 'hello.tokens is needed: which ids end a turn';
  if (tokenizer === undefined)
    return 'no tokenizer is named (hello.tokenizer, or `tokenizer` in the configuration)';
  if (tokenizer.unkTokenId === undefined) return 'the tokenizer has no unknown token';
  // GPT-2 and its heirs have one token for everything.
  return tokenizer.unkTokenId === tokenizer.eosTokenId
    ? 'the tokenizer ends its texts with its unknown token'
    : undefined;
};

export const stopIdProperties: readonly Property<Dialogue>[] = [
  {
    ...base,
    id: 'tokenize/no-stop-id-is-the-unknown-token',
    title: 'No declared stop id is the unknown token of the tokenizer',
    why: 'A stop token that does not exist is never trained and never sampled: rows end with the unknown token, or with nothing, and the policy runs to its limit.',
    catches: ['EOS-14'],
    needs: [knownUnknown],
    async check(subject, drawn) {
      const { hello, tokenizer } = subject;
      const unknown = tokenizer?.unkTokenId;
      if (unknown === undefined || hello.tokens?.eos_token_ids.includes(unknown) !== true) return undefined;
      const [route = 'sft'] = routesOf(subject, 'tokenize');
      const { input_ids: ids } = await ask(subject, drawn, route, route === 'sft');
      return {
        kind: 'unknown',
        sentence: `hello.tokens.eos_token_ids names ${unknown}, which is ${tokenizer?.token(unknown) ?? 'the unknown token'}, the unknown token of the tokenizer; no turn ends with it.`,
        strips: [
          stripOf(subject, {
            row: 0,
            ids,
            roles: ids.map((): Role => 'prompt'),
            tracks: {},
            marks: [ids.length - 1],
          }),
        ],
        advice:
          'convert_tokens_to_ids answers with the unknown token for a name that is not in the vocabulary. Look the stop token of the chat template up in get_vocab().',
      };
    },
  },
];
