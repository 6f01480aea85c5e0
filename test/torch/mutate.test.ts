// `mutate` on TRL's own trainer, ended by Ctrl-C twice and gone on with: nothing is judged twice, nothing is lost, and no verdict is
// another one than that of a run that nobody ended.
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Judged } from '../../src/mutate/events.ts';
import { PACKAGE_ROOT } from '../../src/version.ts';
import { judgedIn, start, until } from '../cli/mutate/started.ts';
import { makeWorld } from '../cli/world.ts';

const PYTHON = join(PACKAGE_ROOT, '.venv', 'bin', 'python');
const ASKED = ['--adapter', 'trl-grpo', '--python', PYTHON, '--seed', '1', '--cases', '1', '--workers', '2'];
const ARGUMENTS = ['mutate', ...ASKED, '--only', 'advantages/equal-the-declared-formula'];
/** In each sitting, of the changes that some op reaches. */
const SO_MANY = 2;

const all = (folder: string): readonly Judged[] => judgedIn(folder).map((line) => JSON.parse(line) as Judged);

/** Begins, or goes on, until that is so, and is ended by Ctrl-C. */
async function untilSo(
  folder: string,
  isSo: (judged: readonly Judged[]) => boolean,
  ...options: readonly string[]
): Promise<readonly Judged[]> {
  const { child, code, text } = start(folder, ...ARGUMENTS, ...options);
  await until(() => isSo(all(folder)) || child.exitCode !== null, 250);
  child.kill('SIGINT');
  expect(await code, text()).toBe(130);
  return all(folder);
}

const reached = (judged: readonly Judged[]): readonly Judged[] =>
  judged.filter(({ outcome }) => outcome !== 'unreached');

const verdict = ({ id, outcome, answers, error }: Judged) => ({ id, outcome, answers, error });

test('trl-grpo, interrupted and gone on with', async () => {
  const [{ folder }, { folder: other }] = [makeWorld(), makeWorld()];
  const first = await untilSo(folder, (judged) => reached(judged).length >= SO_MANY);
  const second = await untilSo(
    folder,
    (judged) => reached(judged).length >= reached(first).length + SO_MANY,
    '--resume',
  );
  expect(second.slice(0, first.length)).toEqual(first);
  const ids = second.map(({ id }) => id);
  expect(new Set(ids).size).toBe(ids.length);

  const whole = await untilSo(other, (judged) => {
    const known = new Set(judged.map(({ id }) => id));
    return ids.every((id) => known.has(id));
  });
  const byId = new Map(whole.map((each) => [each.id, each]));
  expect(second.map(verdict)).toEqual(ids.map((id) => byId.get(id)).map((each) => each && verdict(each)));
  // Of either kind: a comparison of nothing but deaths would say little.
  expect(new Set(reached(second).map(({ outcome }) => outcome)).size).toBeGreaterThan(1);
});
