import { expect, test } from 'vitest';
import { isOptional, kindOf } from '../../src/protocol/fields.ts';
import { OPS } from '../../src/protocol/message.ts';
import { python } from './adapter.ts';

test('the SDK knows exactly the arguments that the protocol sends', async () => {
  const { stdout } = await python(
    ['-c', 'import json, sys\nfrom lossproof import _channel, _ops\n_channel.write(json.dumps(_ops.ARGS))'],
    '',
  );
  const sent = Object.fromEntries(
    Object.entries(OPS).map(([op, { args }]) => [
      op,
      Object.fromEntries(
        Object.entries(args).map(([name, spec]) => [name, kindOf(spec) + (isOptional(spec) ? '?' : '')]),
      ),
    ]),
  );
  expect(JSON.parse(stdout)).toEqual(sent);
});
