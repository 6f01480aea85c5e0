// Bugs of public projects, rebuilt from their threads (llama.py): the script without the bug agrees, and with it the runs part
// where the thread says that they do.
import { expect, test } from 'vitest';
import { OF_LLAMA } from './faults.ts';
import { type Told, twin } from './runs.ts';

test.each(OF_LLAMA.map((bug) => [bug.name, bug] as const))(
  '%s: found, and without it all agrees',
  async (_, bug) => {
    const run = async (words: string): Promise<Told | undefined> =>
      (await twin(bug.options ?? [], bug.command.replaceAll('BUG', words).trim().replaceAll(/ +/g, ' '))).get(
        bug.change,
      );
    expect(await run('')).toMatchObject({ outcome: 'agree' });
    expect(await run(`--bug ${bug.name}`)).toMatchObject({ outcome: 'parts', ...bug.where });
  },
);
