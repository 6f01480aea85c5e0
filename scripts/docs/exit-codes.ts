// The table of exit codes in docs/hostile.md, printed from the codes that are stated; test/cli/exits runs every cell of it.
import { CONDITIONS, type Condition, STATED, type Stated, statedCode } from '../../test/cli/exits/stated.ts';

const BEGIN = '<!-- exit codes: written by `npm run docs` -->';
const END = '<!-- end of exit codes -->';

/** The page with today's table in place of the one between the marks. */
export function withExitCodes(page: string): string {
  const [from, to] = [page.indexOf(BEGIN), page.indexOf(END)];
  if (from < 0 || to < from)
    throw new Error('docs/hostile.md has lost the marks of its table of exit codes.');
  return `${page.slice(0, from)}${[BEGIN, ...table(), ''].join('\n')}${page.slice(to)}`;
}

function table(): string[] {
  const conditions = Object.keys(CONDITIONS) as Condition[];
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
  const cell = (stated: Stated, condition: Condition): string => `${statedCode(stated, condition) ?? '–'}`;
  return [
    line(['', ...Object.values(CONDITIONS)]),
    line(['---', ...conditions.map(() => '--:')]),
    ...STATED.map((stated) =>
      line([`\`${stated.row}\``, ...conditions.map((condition) => cell(stated, condition))]),
    ),
  ];
}
