// The pages that people follow, followed.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { PACKAGE_ROOT } from '../../src/version.ts';
import { makeProgram } from '../cli/commands.ts';

const page = (name: string): string => readFileSync(join(PACKAGE_ROOT, 'docs', name), 'utf8');

test('the pages name commands and options that there are', async () => {
  const program = await makeProgram();
  const known = new Map(
    program.commands.map((command) => [
      command.name(),
      [command, ...command.commands].flatMap(({ options }) => options.map((option) => option.long)),
    ]),
  );
  const files = readdirSync(join(PACKAGE_ROOT, 'docs')).filter((name) => name.endsWith('.md'));
  for (const file of files) {
    for (const [line, name = '', rest = ''] of page(file).matchAll(/npx lossproof ([a-z]+)([^\n`]*)/g)) {
      expect([...known.keys()], `${file}: ${line}`).toContain(name);
      const [ours = ''] = rest.split(/ -- |#/);
      for (const [option] of ours.matchAll(/--[a-z-]+/g))
        expect(known.get(name), `${file}: ${line}`).toContain(option);
    }
  }
});
