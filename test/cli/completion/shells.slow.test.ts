// The scripts in the shells themselves: a line is typed with TABs into an interactive shell, and the command says which
// words it was started with.
import { execFileSync, spawn } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { lists } from '../../../scripts/command-line/lists.ts';
import { wholeProgram } from '../../../scripts/command-line/program.ts';
import { type Shell, scriptOf } from '../../../src/cli/completion/shells.ts';
import { tableOf } from '../../../src/cli/completion/table.ts';
import { wordsOf } from '../../../src/cli/help/words.ts';
import { buildProgram } from '../../../src/cli/program.ts';
import { makeWorld } from '../world.ts';

const JITI = pathToFileURL(resolve('node_modules/jiti/lib/jiti.mjs')).href;
const COMPLETE = resolve('src/cli/completion/complete.ts');
const DRIVER = join(import.meta.dirname, 'typed.py');

let folder = '';

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'lossproof-tab-'));
  const [bin, here] = [join(folder, 'bin'), join(folder, 'a folder')];
  for (const each of [bin, here, join(folder, 'home'), join(here, 'models')])
    mkdirSync(each, { recursive: true });
  const tableFile = join(folder, 'table.json');
  writeFileSync(tableFile, JSON.stringify(tableOf(wholeProgram(), lists())));
  writeFileSync(
    join(folder, 'complete.mjs'),
    `import { createJiti } from ${JSON.stringify(JITI)};
const { completionLines } = await createJiti(import.meta.url).import(${JSON.stringify(COMPLETE)});
console.log(completionLines(process.argv.slice(2), process.cwd(), ${JSON.stringify(tableFile)}).join('\\n'));`,
  );
  // Asked for candidates it is the program; else it says how it was started.
  writeFileSync(
    join(bin, 'lossproof'),
    `#!/bin/sh
if [ "$1" = __complete ]; then
  shift
  exec '${process.execPath}' '${join(folder, 'complete.mjs')}' "$@"
fi
printf '<<'
for word in "$@"; do printf '%s|' "$word"; done
printf '>>\\n'
`,
  );
  chmodSync(join(bin, 'lossproof'), 0o755);
  writeFileSync(join(here, 'report.html'), '');
  writeFileSync(join(here, 'my adapter.py'), '');
  const trainers = { grpo: {}, 'my sft': {}, 'x$(touch RAN)': {} };
  writeFileSync(join(here, 'lossproof.config.json'), JSON.stringify({ trainers }));
  for (const shell of ['bash', 'zsh', 'fish'] as const)
    writeFileSync(join(folder, `lossproof.${shell}`), scriptOf(shell));
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** What is typed, and the words that the command was started with. */
const LINES = [
  ['lossproof che\t', 'check'],
  ['lossproof check --lev\tsh\t', 'check|--level|should'],
  ['lossproof check --level=mu\t', 'check|--level=must'],
  ['lossproof check --only mask/prom\t', 'check|--only|mask/prompt-is-never-trained'],
  ['lossproof check --only kl,mask/prom\t', 'check|--only|kl,mask/prompt-is-never-trained'],
  [`lossproof check --only 'mask/prom\t`, 'check|--only|mask/prompt-is-never-trained'],
  ['lossproof check --trainer m\t', 'check|--trainer|my sft'],
  ['lossproof check --trainer x\t', 'check|--trainer|x$(touch RAN)'],
  ['lossproof check --html rep\t', 'check|--html|report.html'],
  ['lossproof check --html=rep\t', 'check|--html=report.html'],
  ['lossproof check --tokenizer m\t', 'check|--tokenizer|models'],
  ['lossproof view my\t', 'view|my adapter.py'],
  ['lossproof golden che\t--qui\t', 'golden|check|--quiet'],
  ['lossproof check -- cat my\t', 'check|--|cat|my adapter.py'],
] as const;

const SHELL: Readonly<
  Record<Shell, { readonly argv: readonly string[]; readonly setup: readonly string[] }>
> = {
  bash: {
    argv: ['bash', '--norc', '--noprofile', '-i'],
    setup: ['source ../lossproof.bash'],
  },
  zsh: {
    argv: ['zsh', '-f', '-i'],
    setup: ['autoload -Uz compinit; compinit -u -D', 'source ../lossproof.zsh'],
  },
  fish: {
    argv: ['fish', '--no-config', '-i'],
    setup: ['source ../lossproof.fish'],
  },
};

async function typed(shell: Shell, lines: readonly string[]): Promise<readonly string[]> {
  const { argv, setup } = SHELL[shell];
  const env = {
    PATH: `${join(folder, 'bin')}:${process.env.PATH}`,
    HOME: join(folder, 'home'),
    TERM: shell === 'fish' ? 'xterm' : 'dumb',
    LANG: 'C.UTF-8',
  };
  const python = spawn('python3', [DRIVER], { stdio: ['pipe', 'pipe', 'inherit'] });
  // In two pieces: the echo of the line itself is not the sign.
  const ready = `printf '%s%s\\n' @rea dy@`;
  const cwd = join(folder, 'a folder');
  python.stdin.end(JSON.stringify({ argv, env, cwd, setup: [...setup, ready], lines }));
  return JSON.parse(await text(python.stdout)) as readonly string[];
}

function isThere(shell: Shell): boolean {
  try {
    execFileSync(shell, ['--version'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

/** Where the line puts it; zsh has a folder of its own to look in first. */
const INSTALLED: Readonly<Record<Shell, string>> = {
  bash: '.local/share/bash-completion/completions/lossproof',
  zsh: 'functions/_lossproof',
  fish: '.config/fish/completions/lossproof.fish',
};

describe.each(['bash', 'zsh', 'fish'] as const)('%s', (shell) => {
  test('the line that documents give installs it in a home where nothing is yet', (context) => {
    const program = buildProgram({ context: makeWorld().context, rest: [], finish: () => {} });
    const command = program.commands.find((each) => each.name() === 'completion');
    if (command === undefined) throw new Error('there is no such command');
    const line = wordsOf(command).examples.find(({ command: typed }) =>
      typed.includes(`completion ${shell} >`),
    )?.command;
    expect(readFileSync(resolve('docs/start.md'), 'utf8').split('\n')).toContain(line);
    if (!isThere(shell)) return context.skip(`${shell} is not installed`);
    const home = mkdtempSync(join(folder, 'fresh '));
    const setup = shell === 'zsh' ? 'fpath=(~/functions $fpath); ' : '';
    execFileSync(shell, ['-c', `${setup}${line}`], {
      cwd: folder,
      env: { HOME: home, PATH: `${join(folder, 'bin')}:${process.env.PATH}` },
    });
    expect(readFileSync(join(home, INSTALLED[shell]), 'utf8')).toBe(`<<completion|${shell}|>>\n`);
  });

  test('TAB finishes what is typed', async (context) => {
    // bash is everywhere; .ci/run installs the others.
    if (shell !== 'bash' && !isThere(shell)) return context.skip(`${shell} is not installed`);
    const became = await typed(
      shell,
      LINES.map(([line]) => line),
    );
    // zsh takes the slash of a folder back where the word ends.
    expect(became.map((words) => words.replace(/\/?\|$/, ''))).toEqual(LINES.map(([, words]) => words));
    // What a configuration calls a trainer was quoted for the shell, and run by none.
    expect(existsSync(join(folder, 'a folder', 'RAN'))).toBe(false);
  });
});
