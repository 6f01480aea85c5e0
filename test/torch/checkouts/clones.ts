// What the tests of adapters of clones share: stand-ins beside this file, copies of them with a fault each, and what a clone that is
// none is told.
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { execa } from 'execa';
import { expect, test } from 'vitest';
import { FAILING } from '../../../src/index.ts';
import { PACKAGE_ROOT } from '../../../src/version.ts';
import { type Checked, checked, having } from '../checked.ts';

export type Variables = Readonly<Record<string, string>>;

/** Text of a file of the stand-in, and what stands there instead. */
type Change = readonly [right: string, wrong: string];

export interface Planted {
  /** Where the changes are; else in the first file that the clone names. */
  readonly file?: string;
  readonly changes: readonly Change[];
  readonly ids: readonly string[];
  /** Default: 20. */
  readonly cases?: number;
  readonly env?: Variables;
}

const PYTHON = join(PACKAGE_ROOT, '.venv', 'bin', 'python');
const MAIN = join(PACKAGE_ROOT, 'dist', 'src', 'cli', 'main.js');

/** The variable that chooses a bundled tokenizer. */
export const family = (name: string): Variables => ({
  LOSSPROOF_TOKENIZER: join(PACKAGE_ROOT, 'src', 'tokenizers', 'families', name),
});

/** The stand-in of this adapter. `file`: where its faults are planted, unless one says otherwise. */
export function cloneOf(adapter: string, file: string) {
  const standin = fileURLToPath(new URL(`standins/${adapter}`, import.meta.url));
  const words = ['--adapter', adapter, '--python', PYTHON];

  const check = (more: readonly string[], env: Variables = {}): Promise<Checked> =>
    checked([...words, ...more], { env: { LOSSPROOF_CHECKOUT: standin, ...env } });

  /** `check` of a copy whose text was changed; `everywhere`: each time that it stands there. */
  async function changed(
    { file: other, changes, env }: Omit<Planted, 'ids'>,
    more: readonly string[],
    everywhere = false,
  ): Promise<Checked> {
    const folder = mkdtempSync(join(tmpdir(), 'lossproof clone '));
    try {
      cpSync(standin, folder, { recursive: true });
      const path = join(folder, other ?? file);
      let text = readFileSync(path, 'utf8');
      for (const [right, wrong] of changes) {
        expect(text).toContain(right);
        text = everywhere ? text.replaceAll(right, wrong) : text.replace(right, wrong);
      }
      writeFileSync(path, text);
      return await check(more, { LOSSPROOF_CHECKOUT: folder, ...env });
    } finally {
      rmSync(folder, { recursive: true });
    }
  }

  return {
    changed,

    /** A right trainer fails nothing, and holds at least so many. */
    async holds(least: number, env: Variables = {}): Promise<void> {
      const { results, out } = await check(['--cases', '25', '--seed', '1'], env);
      expect(having(results, ...FAILING, 'known'), out).toEqual([]);
      expect(having(results, 'pass').length).toBeGreaterThanOrEqual(least);
    },

    async answers(ops: readonly string[]): Promise<void> {
      const { stdout, exitCode } = await execa(process.execPath, [MAIN, 'doctor', ...words], {
        env: { LOSSPROOF_CHECKOUT: standin },
        reject: false,
      });
      for (const op of ops) expect(stdout).toMatch(new RegExp(`✓ ${op} +answers`));
      expect(exitCode, stdout).toBe(0);
    },

    /** These properties see it, whether or not the published trainer has it to this day. */
    async finds(planted: Planted): Promise<void> {
      const options = [
        '--only',
        planted.ids.join(','),
        '--cases',
        String(planted.cases ?? 20),
        '--shrink-time',
        '0.5',
        '--seed',
        '1',
      ];
      const { results, out } = await changed(planted, options);
      expect(having(results, 'fail', 'ask', 'known').sort(), out).toEqual([...planted.ids].sort());
    },

    /** Registers what every adapter of a clone says where none is named. */
    refusals(): void {
      test.each<[string, Variables, string]>([
        ['no clone is named', {}, 'LOSSPROOF_CHECKOUT names no folder: set it to a clone of'],
        ['the folder is no clone', { LOSSPROOF_CHECKOUT: tmpdir() }, 'is it a clone of'],
      ])('%s', async (_, env, sentence) => {
        const { exitCode, out } = await checked(words, { env });
        // Lines of a trainer's stderr are broken, and have a rule in front.
        expect(out.replace(/\s*\n│ /g, ' ')).toContain(sentence);
        expect(exitCode).toBe(2);
      });
    },
  };
}
