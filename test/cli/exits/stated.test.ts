// The table of exit codes lacks no command of the program, and no command that writes a page lacks its column.
import { expect, test } from 'vitest';
import { commandNames } from '../commands.ts';
import { makeWorld } from '../world.ts';
import { CONDITIONS, type Condition, STATED, statedCode } from './stated.ts';

test('each command of the program has a row', async () => {
  expect([...new Set(STATED.map(({ command }) => command))].sort()).toEqual(await commandNames());
});

test.each(STATED)('$row has an output wherever its help names one', async ({ command, output }) => {
  const world = makeWorld();
  await world.run(...command.split(' '), '--help-all');
  if (/--(html|json|write) <file>/.test(world.out())) expect(output).toBeDefined();
});

test('no success is stated where what was printed or written is lost', () => {
  for (const stated of STATED) {
    const lost: Condition = stated.prints === 'on stderr' ? 'errFull' : 'outFull';
    if (stated.prints !== 'nothing') expect(statedCode(stated, lost), stated.row).not.toBe(0);
    expect(statedCode(stated, 'outputPipe'), stated.row).not.toBe(0);
  }
});

test('a failure that was found stays one, unless the command cannot begin', () => {
  for (const stated of STATED.filter(({ code }) => code === 1))
    for (const condition of Object.keys(CONDITIONS) as Condition[])
      expect([1, 2, undefined], stated.row).toContain(statedCode(stated, condition));
});
