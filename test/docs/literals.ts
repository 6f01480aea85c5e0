// The texts of the product as its sources have them: string literals and templates of TypeScript, with each `${}` as a
// name, and strings of Python. Comments and docstrings are no part of them.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseAst } from 'vitest/node';
import { PACKAGE_ROOT } from '../../src/version.ts';

export interface Literal {
  readonly file: string;
  readonly line: number;
  /** Markdown: the text of a heading, or between two tags, is a block. */
  readonly text: string;
}

/** Two words next to each other, and a third: a shorter text is a name or a label. */
const isText = (text: string): boolean =>
  /[A-Za-z][,;:]? [a-z]/.test(text) && text.trim().split(/\s+/).length > 2;

const literal = (file: string, line: number, text: string): readonly Literal[] => {
  const plain = text
    .replaceAll(/<(?:h\d|summary|caption|legend|th)\b[^<>]*>/g, '\n\n# ')
    .replaceAll(/<[^<>]*>/g, '\n\n');
  return isText(plain) ? [{ file, line, text: plain }] : [];
};

export function textsOfTypeScript(
  file: string,
  source: string = readFileSync(join(PACKAGE_ROOT, file), 'utf8'),
): readonly Literal[] {
  const found: Literal[] = [];
  const visit = (node: unknown): void => {
    if (Array.isArray(node)) for (const each of node) visit(each);
    if (typeof node !== 'object' || node === null || Array.isArray(node)) return;
    const { type, start, value, quasis } = node as Record<string, unknown>;
    // A literal as a type is a word of the program.
    if (type === 'ImportDeclaration' || type === 'TSLiteralType') return;
    const add = (text: string): void => {
      found.push(...literal(file, source.slice(0, Number(start)).split('\n').length, text));
    };
    if (type === 'Literal' && typeof value === 'string' && value.includes(' ')) add(value);
    if (type === 'TemplateLiteral') add(templateOf(quasis));
    for (const each of Object.values(node)) visit(each);
  };
  visit(parseAst(source, { lang: 'ts' }, file));
  return found;
}

const templateOf = (quasis: unknown): string =>
  (quasis as readonly { readonly value: { readonly cooked: string } }[])
    .map(({ value }) => value.cooked)
    .join('X');

const STRINGS_OF_PYTHON = `
import ast, json, sys
for path in sys.argv[1:]:
    with open(path, encoding="utf-8") as file:
        tree = ast.parse(file.read())
    silent = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in silent:
            print(json.dumps({"file": path, "line": node.lineno, "text": node.value}))
`;

export function textsOfPython(files: readonly string[]): readonly Literal[] {
  const lines = execFileSync('python3', ['-c', STRINGS_OF_PYTHON, ...files], {
    cwd: PACKAGE_ROOT,
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
  });
  return lines
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Literal)
    .flatMap(({ file, line, text }) => literal(file, line, text));
}
