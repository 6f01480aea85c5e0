// What is to stay as it is: beside adapters, and as --frozen declares it.
import { CHATS } from '../data.ts';
import type { CleanCase, FaultyCase } from '../kinds.ts';

const way = (more: string, options = ''): CleanCase => ({
  words: `places/frozen.py --data {data} --way ${more}`,
  data: CHATS,
  options,
});
const wrong = (asked: CleanCase, says: RegExp): FaultyCase => ({
  ...asked,
  found: 'update/what-is-frozen-stays',
  says,
});

export const frozen = {
  clean: {
    ...Object.fromEntries(
      ['adapters', 'saved', 'tokens', 'norms', 'attention'].map((each) => [
        `beside adapters of PEFT: ${each}`,
        way(each, '--strict'),
      ]),
    ),
    ...Object.fromEntries(
      [
        ['pattern --pattern embed', '--frozen embed_tokens'],
        ['pattern --pattern mlp', '--frozen layers.*.mlp,layers.1.mlp.down_proj.weight'],
        ['pattern --pattern layers.0', '--frozen layers.0. --frozen model.layers.0*norm'],
        ['adapters', '--frozen base_layer,embed_tokens,norm'],
      ].map(([each = '', options]) => [`declared: ${each} ${options}`, way(each, `${options} --strict`)]),
    ),
  },
  faulty: {
    'adapters, and whole matrices that none stands beside': wrong(
      way('mlp', '--strict'),
      /moved \d+ tensors of adapters, and 6 matrices of layers that no adapter stands beside: \S+mlp/,
    ),
    'adapters, and the last layer whole': wrong(
      way('last', '--strict'),
      /and 3 matrices of layers that no adapter stands beside: \S+layers\.1\.mlp/,
    ),
    'a base that is freed, and frozen by a pattern with a slip': wrong(
      way('misspelt', '--strict'),
      /and 1\d matrices of layers that no adapter stands beside/,
    ),
    'a head that is to be saved, and is in no optimiser': wrong(
      way('left-head'),
      /No optimiser that stepped holds \S*lm_head\.modules_to_save\.default\.weight, which was made to be trained/,
    ),
    'an embedding that is to be saved, and is in no optimiser': wrong(
      way('left-embedding'),
      /holds \S*embed_tokens\.modules_to_save\.default\.weight, which was made to be trained/,
    ),
    'tokens that are to be trained, and are in no optimiser': wrong(
      way('left-tokens'),
      /holds \S*trainable_tokens\S*, which was made to be trained/,
    ),
    'a pattern that fits nothing': wrong(
      way('pattern --pattern visoin', '--frozen visoin'),
      /"visoin" is declared frozen and fits none of the \d+ tensors/,
    ),
    'a freeze with a slip, and the right pattern declared': wrong(
      way('pattern --pattern embeded', '--frozen embed_tokens'),
      /"embed_tokens" is declared frozen, and step 0 at \S+ moved 1 of the 1 tensor/,
    ),
    'one layer of two': wrong(
      way('pattern --pattern layers.0.mlp', '--frozen layers.*.mlp'),
      /"layers\.\*\.mlp" is declared frozen, and step 0 at \S+ moved 3 of the 6 tensors/,
    ),
  } satisfies Record<string, FaultyCase>,
};
