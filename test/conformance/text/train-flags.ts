// Legal ways to read the train flags of messages.
import type { Message } from '../../../src/index.ts';
import type { Legal } from '../legal.ts';
import { chatting, family } from './dialogues.ts';

type Says = (message: Message) => boolean | undefined;

/** A flag that is missing or null says nothing; any other value is taken for what it is in Python. */
const anybody =
  (name: 'training' | 'loss' | 'train' | 'weight'): Says =>
  (message) =>
    message[name] === undefined || message[name] === null ? undefined : Boolean(message[name]);

const assistant =
  (says: Says): Says =>
  (message) =>
    message.role === 'assistant' ? says(message) : undefined;

/** Whoever is turned on follows the convention all the same. */
const onlyOff =
  (says: Says): Says =>
  (message) =>
    says(message) === false ? false : undefined;

export const trainFlags: readonly Legal[] = [
  chatting('flags as axolotl reads them, of any role', 'qwen', '<|im_end|>', {
    target: 'assistant',
    flags: { name: 'training', says: anybody('training'), roles: { flagged_roles: 'any' } },
  }),
  chatting('flags of any role, undeclared', 'qwen', '<|im_end|>', {
    target: 'assistant',
    rest: true,
    flags: { name: 'train', says: anybody('train'), is: { flagged_roles: 'any' } },
  }),
  chatting('weights as OpenAI reads them, refused of other roles', 'llama3', '<|eot_id|>', {
    target: 'assistant',
    declines: (messages) => messages.some(({ role, weight }) => role !== 'assistant' && weight !== undefined),
    flags: { name: 'weight', says: assistant(anybody('weight')) },
  }),
  chatting('weights, a stop token more behind the row', 'llama3', '<|eot_id|>', {
    target: 'assistant',
    append: family('llama3').tokenId('<|end_of_text|>') ?? 0,
    flags: { name: 'weight', says: assistant(anybody('weight')), roles: { flagged_roles: 'assistant' } },
  }),
  chatting('flags beside the last answer trained', 'qwen', '<|im_end|>', {
    target: 'last-assistant',
    flags: { name: 'loss', says: assistant(anybody('loss')) },
  }),
  chatting('flags that only turn off, the last answer trained', 'phi', '<|end|>', {
    target: 'last-assistant',
    flags: { name: 'loss', says: onlyOff(assistant(anybody('loss'))) },
  }),
];
