// Train flags on the wire: which names a trainer may declare, and which values a message may have.
import { describe, expect, test } from 'vitest';
import { decodeHello } from '../../src/protocol/hello.ts';
import { decodeKind } from '../../src/protocol/kinds.ts';

const hello = (tokenize: object) => decodeHello({ protocol: 1, name: 'a', ops: { tokenize } });

describe('message_flag', () => {
  test.each(['train', 'training', 'loss', 'weight'])('%s is a name', (message_flag) => {
    expect(hello({ message_flag })).toHaveProperty('ok');
  });

  test.each([['learn'], ['role'], [true]])('%s is none', (message_flag) => {
    expect(JSON.stringify(hello({ message_flag }))).toContain('message_flag');
    expect(hello({ message_flag })).toHaveProperty('complaint');
  });
});

describe('the flag of a message', () => {
  const read = (flag: object) =>
    decodeKind('messages', [{ role: 'assistant', content: 'a', ...flag }], 'messages');

  test.each([{ train: true }, { training: false }, { loss: null }, { weight: 0 }, { weight: 1 }, {}])(
    '%j is one',
    (flag) => {
      expect(read(flag)).toHaveProperty('ok');
    },
  );

  test.each([{ train: 'false' }, { weight: 0.5 }, { loss: [] }, { training: 2 }])('%j is none', (flag) => {
    expect(read(flag)).toHaveProperty('complaint');
  });
});
