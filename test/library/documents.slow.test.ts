// The programs in docs/library.md and docs/example compile, as a user's would, and the example does what it says.
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { afterAll, expect, onTestFinished, test } from 'vitest';
import '../../properties/vitest.ts';
import { openTrainer } from '../../properties/library.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const EXAMPLE = join(ROOT, 'docs/example');
/** Beneath node_modules, so that the packages are found and nothing else looks here. */
const SCRATCH = join(ROOT, 'node_modules/.cache');

mkdirSync(SCRATCH, { recursive: true });
const folder = mkdtempSync(join(SCRATCH, 'documents-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test('every program in the documents compiles against the public names', () => {
  const blocks = [...readFileSync(join(ROOT, 'docs/library.md'), 'utf8').matchAll(/^```ts\n(.*?)^```/gms)];
  expect(blocks.length).toBeGreaterThan(5);
  for (const [at, [, program = '']] of blocks.entries())
    writeFileSync(join(folder, `block-${at}.ts`), program);
  for (const name of readdirSync(EXAMPLE).filter((file) => file.endsWith('.ts')))
    writeFileSync(join(folder, name), readFileSync(join(EXAMPLE, name)));
  const paths = {
    lossproof: [join(ROOT, 'properties/library.ts')],
    'lossproof/vitest': [join(ROOT, 'properties/vitest.ts')],
  };
  const config = {
    extends: join(ROOT, 'tsconfig.json'),
    compilerOptions: { paths, rootDir: ROOT, declaration: false },
    files: readdirSync(folder).map((name) => join(folder, name)),
    include: [],
  };
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(config));
  expect(compile(join(folder, 'tsconfig.json'))).toBe('');
});

/** What the compiler complains about in these files. */
function compile(project: string): string {
  const tsc = join(ROOT, 'node_modules/typescript/bin/tsc');
  try {
    execFileSync(process.execPath, [tsc, '-p', project, '--noEmit'], { encoding: 'utf8', cwd: ROOT });
    return '';
  } catch (error) {
    const { stdout = '', message } = error as { readonly stdout?: string; readonly message: string };
    const lines = stdout.split('\n').filter((line) => line.includes('documents-'));
    return lines.length > 0 || stdout !== '' ? lines.join('\n') : message;
  }
}

test('the trainer of the example holds, and one that is broken as its README says does not', async () => {
  const trainer = await openTrainer(undefined, { cwd: EXAMPLE });
  onTestFinished(() => trainer.stop());
  await expect(trainer).toHold(['mask', 'kl', 'advantages'], { cases: 20, seed: 7 });

  const broken = join(folder, 'broken');
  mkdirSync(broken);
  for (const name of ['adapter.py', 'my_trainer.py', 'lossproof.config.json'])
    writeFileSync(join(broken, name), readFileSync(join(EXAMPLE, name)));
  const source = readFileSync(join(EXAMPLE, 'my_trainer.py'), 'utf8');
  const [before, after] = [
    '[0] * prompt_width + [1] * len(completion)',
    '[0] * (prompt_width - 1) + [1] * (len(completion) + 1)',
  ];
  expect(source).toContain(before);
  expect(readFileSync(join(EXAMPLE, 'README.md'), 'utf8')).toContain(after);
  writeFileSync(join(broken, 'my_trainer.py'), source.replace(before, after));
  const faulty = await openTrainer(undefined, { cwd: broken });
  onTestFinished(() => faulty.stop());
  await expect(faulty).not.toHold('mask', { cases: 20, seed: 7 });
});
