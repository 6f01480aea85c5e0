// What counts as a line of code.
import { expect, test } from 'vitest';
import { codeLines } from '../../scripts/lines.ts';

test('blank lines and comments do not count in TypeScript', () => {
  const text = '// what\n\n/** One. */\n/* two\n   lines */\nconst a = 1; // code\n  #field = 2;\n';
  expect(codeLines(text, 'TypeScript')).toBe(2);
});

test('docstrings do not count in Python, other long strings do', () => {
  const text =
    '"""What."""\n\n# why\ndef f():\n    """One\n\n    two\n    """\n    return """\n# three\n\n"""\n';
  expect(codeLines(text, 'Python')).toBe(4);
});
