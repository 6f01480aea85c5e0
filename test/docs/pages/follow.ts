// Follows a page: saves its files, types its commands in their order, and compares how they end and what they print.
import { expect } from 'vitest';
import { GIVEN, type Given, NOT_PRINTED, NOT_TYPED } from './given.ts';
import { needsTorch, type Section, type Step, sectionsOf } from './page.ts';
import { openShell, type Shell } from './shell.ts';

/** Pages with a command that is to be typed, with torch or without. */
export function isFollowed(page: string, torch: boolean): boolean {
  return sectionsOf(page).some(({ steps }) =>
    steps.some(
      (step) =>
        step.kind === 'commands' && step.lines.some((line) => isTyped(line) && needsTorch(line) === torch),
    ),
  );
}

const isTyped = (line: string): boolean => reasonAgainst(line) === undefined;
export const reasonAgainst = (line: string): RegExp | undefined =>
  NOT_TYPED.find(([form]) => form.test(line))?.[0];

export async function follow(page: string, python?: string): Promise<void> {
  const shells: Shell[] = [];
  const open = (): Shell => {
    const shell = openShell(python);
    shells.push(shell);
    return shell;
  };
  try {
    expect((await wrongWith(page, open, python !== undefined)).join('\n\n')).toBe('');
  } finally {
    for (const shell of shells) shell.close();
  }
}

async function wrongWith(page: string, open: () => Shell, torch: boolean): Promise<string[]> {
  const wrong: string[] = [];
  const uses = new Map<string, number>();
  let shell = open();
  let given: Given = {};
  for (const section of sectionsOf(page)) {
    const own = GIVEN[page]?.[section.heading];
    if (own !== undefined) {
      // Another trainer begins in another folder.
      if (own.elsewhere === true) shell = open();
      given = { ...own, exits: { ...given.exits, ...own.exits } };
      for (const [to, from] of Object.entries(own.copies ?? {})) shell.copy(from, to);
      for (const [name, text] of Object.entries(own.files ?? {})) shell.write(name, text);
      await shell.type(own.before ?? []);
    }
    wrong.push(...(await followSection(section, { page, shell, given, torch, uses })));
  }
  return wrong;
}

interface At {
  readonly page: string;
  readonly shell: Shell;
  readonly given: Given;
  readonly torch: boolean;
  /** How often a command was typed so far. */
  readonly uses: Map<string, number>;
}

async function followSection({ steps }: Section, { page, shell, given, torch, uses }: At): Promise<string[]> {
  const wrong: string[] = [];
  let last = '';
  let out: string | undefined;
  for (const step of steps) {
    if (step.kind === 'file') {
      shell.write(step.name, step.text);
      last = step.name;
    } else if (step.kind === 'edit') edit(shell, last, step);
    else if (step.kind === 'printed') {
      if (out !== undefined && !NOT_PRINTED.some(([first]) => step.text.startsWith(first)))
        wrong.push(
          ...missing(step.text, out).map(
            (each) => `${page} prints, and the command does not:\n${each}\nIt printed:\n${out}`,
          ),
        );
    } else {
      const typed = await shell.type(
        step.lines.filter((line) => isTyped(line) && needsTorch(line) === torch),
      );
      out = typed.length === 0 ? undefined : typed.map((each) => each.out).join('\n');
      for (const each of typed) {
        const ends = given.exits?.[bare(each.line)] ?? [0];
        const use = uses.get(bare(each.line)) ?? 0;
        uses.set(bare(each.line), use + 1);
        const end = ends[Math.min(use, ends.length - 1)];
        if (each.code !== end)
          wrong.push(`${page}: ${each.line}\nended with ${each.code}, not ${end}:\n${each.out}`);
      }
    }
  }
  return wrong;
}

/** Without what is remarked beside it. */
export const bare = (line: string): string => line.replace(/ +# .*$/, '').trim();

function edit(shell: Shell, name: string, { text }: Extract<Step, { kind: 'edit' }>): void {
  const [begins = ''] = /^ +\w+ = /.exec(text) ?? [];
  const file = name === '' || !shell.read(name).includes(begins) ? 'trainer.py' : name;
  const lines = shell.read(file).split('\n');
  const at = lines.findIndex((line) => line.startsWith(begins));
  expect(at, `a line of ${file} that begins with ${begins}`).toBeGreaterThanOrEqual(0);
  lines[at] = text.trimEnd();
  shell.write(file, lines.join('\n'));
}

/** Lines that are wrapped elsewhere, and times, are each machine's own; `...` stands for what is left out. */
function missing(printed: string, out: string): string[] {
  const real = plain(out);
  return printed
    .split(/^ *\.\.\.$/m)
    .filter((part) => part.trim() !== '' && !real.includes(plain(part)))
    .map((part) => part.trimEnd());
}

const plain = (text: string): string =>
  text
    .replaceAll(/\b\d+(?:\.\d+)? (?:ms|s|min)\b/g, '1 s')
    .replaceAll('npx ', '')
    .replaceAll(/[─-]{3,}/g, '---')
    .replaceAll(/\s+/g, ' ')
    .trim();
