// A golden file as text and back: readable, the same bytes for the same content, and a complaint with the path of what is wrong.
import { describe, expect, test } from 'vitest';
import { writtenAnswer, writtenArgs } from '../../src/golden/entry.ts';
import { entryOf, fileText, type GoldenFile, readFile } from '../../src/golden/file.ts';

const ARGS = {
  values: [[0, 1.5, 2]],
  completion_mask: [[0, 1, 1]],
  prompt_width: 1,
};

function whitened(values: readonly (readonly number[])[]): GoldenFile {
  const answer = writtenAnswer('whiten', ARGS, { values }, 'float64');
  const said = { kind: 'answer', fields: { values } } as const;
  return {
    stage: 'whiten',
    head: { set: 1, trainer: 'Größe' },
    entries: [entryOf('whiten/one-row', 'whiten', writtenArgs('whiten', ARGS), said, answer)],
  };
}

const TEXT = `{
  "golden": 1,
  "stage": "whiten",
  "set": 1,
  "recorded_with": {"trainer": "Größe"},
  "entries": [
    {
      "id": "whiten/one-row",
      "op": "whiten",
      "args": {"values": [[0, 1.5, 2]], "completion_mask": [[0, 1, 1]], "prompt_width": 1},
      "answer": {"values": [[null, -0.333333333333, "NaN"]]}
    }
  ]
}
`;

function entryWith(text: string): string {
  return TEXT.replace(/ {4}\{\n.* {4}\}\n/s, `    ${text}\n`);
}

const complaintOf = (text: string): string => {
  const read = readFile(text);
  return 'complaint' in read ? read.complaint : 'none';
};

describe('the text of a file', () => {
  test('has short digits, null for what does not count, and names for what JSON does not have', () => {
    expect(fileText(whitened([[7, -1 / 3, Number.NaN]]))).toBe(TEXT);
  });

  test('is the same for numbers that differ in the last bits only', () => {
    expect(fileText(whitened([[0, -1 / 3 + 1e-16, Number.NaN]]))).toBe(TEXT);
  });

  test('is the same in whatever order the entries and the fields of an answer come', () => {
    const [entry] = whitened([[7, -1 / 3, Number.NaN]]).entries;
    const other = { ...entry, id: 'whiten/a', written: { answer: { values: [] } } } as typeof entry;
    const of = (entries: (typeof entry)[]) => fileText({ ...whitened([]), entries } as unknown as GoldenFile);
    expect(of([other, entry])).toBe(of([entry, other]));
    const fields = { mean_kl: 0.5, kl: [[0.5]] };
    const again = { kl: [[0.5]], mean_kl: 0.5 };
    const args = { completion_mask: [[1]] };
    expect(JSON.stringify(writtenAnswer('kl', args, fields, 'float64'))).toBe(
      JSON.stringify(writtenAnswer('kl', args, again, 'float64')),
    );
    const metrics = (value: object) =>
      JSON.stringify(writtenAnswer('loss', args, { loss: 0, metrics: value }, 'float64'));
    expect(metrics({ b: 1, a: Number.POSITIVE_INFINITY })).toBe(
      metrics({ a: Number.POSITIVE_INFINITY, b: 1 }),
    );
  });

  test('has the fingerprint of a text that is too long to be read', () => {
    const written = writtenArgs('render', { route: 'sft', chat_template: 'x'.repeat(400) });
    expect(written.chat_template).toMatch(/^x{24}\.\.\. \(400 characters, sha256:[0-9a-f]{16}\)$/);
  });

  test('reads back to what was meant', () => {
    const read = readFile(TEXT);
    expect(read).toMatchObject({
      file: {
        stage: 'whiten',
        head: { set: 1, trainer: 'Größe' },
        entries: [
          {
            id: 'whiten/one-row',
            said: { kind: 'answer', fields: { values: [[NaN, -0.333333333333, NaN]] } },
          },
        ],
      },
    });
    if ('file' in read) expect(fileText(read.file)).toBe(TEXT);
  });
});

test('a file is read whatever an editor made of its white space', () => {
  for (const text of [
    `\uFEFF${TEXT}`,
    TEXT.replaceAll('\n', '\r\n'),
    JSON.stringify(JSON.parse(TEXT), null, 4),
  ]) {
    const read = readFile(text);
    expect('file' in read ? fileText(read.file) : read.complaint).toBe(TEXT);
  }
});

describe('a complaint names what is wrong:', () => {
  test.each([
    [
      'no JSON',
      TEXT.slice(0, 60),
      'restore it from version control, or remove it and `golden accept` its entries',
    ],
    ['nothing in it', '\n', 'is empty; restore it'],
    [
      'a merge conflict',
      TEXT.replace('  "set": 1,\n', '<<<<<<< HEAD\n  "set": 1,\n=======\n  "set": 2,\n>>>>>>> other\n'),
      'has the markers of a merge conflict, in line 4: take one side whole',
    ],
    ['another file', '{"a": 1}', 'is no golden file: it has no "golden"'],
    [
      'a newer format',
      TEXT.replace('"golden": 1', '"golden": 2'),
      'has format 2, this lossproof reads format 1',
    ],
    ['no entries', TEXT.replace('"entries": [', '"entries": 3, "x": ['), 'entries is 3, expected a list'],
    ['no trainer', TEXT.replace('"trainer"', '"name"'), 'recorded_with.trainer is nothing, expected a text'],
    ['no set', TEXT.replace('"set": 1', '"set": "1"'), 'set is "1", expected the version of the golden set'],
    ['an entry without an id', entryWith('{"op": "kl"}'), 'entries[0].id is nothing, expected "stage/name"'],
    [
      'an unknown op',
      entryWith('{"id": "a/b", "op": "kll"}'),
      'entries[0] ("a/b").op is "kll", which is no op of the protocol',
    ],
    [
      'neither answer nor refusal',
      entryWith('{"id": "a/b", "op": "kl", "args": {}}'),
      'must have exactly one of answer, refused, skipped',
    ],
    [
      'two of them',
      entryWith('{"id": "a/b", "op": "kl", "args": {}, "answer": {}, "refused": ""}'),
      'must have exactly one of',
    ],
    [
      'another field',
      entryWith('{"id": "a/b", "op": "kl", "answer": {"kll": 1}}'),
      '("a/b").answer.kll is no field of op kl',
    ],
    [
      'a missing field',
      entryWith('{"id": "a/b", "op": "decode", "answer": {}}'),
      '("a/b").answer has no text',
    ],
    [
      'rows of two lengths',
      entryWith('{"id": "a/b", "op": "whiten", "answer": {"values": [[1, 2], [3]]}}'),
      '("a/b").answer.values[1] has 1 columns, row 0 has 2',
    ],
    [
      'a text that is no number',
      entryWith('{"id": "a/b", "op": "loss", "answer": {"loss": "0.5"}}'),
      '("a/b").answer.loss is "0.5", expected a number',
    ],
    [
      'an id twice',
      entryWith('{"id": "a/b", "answer": {}}, {"id": "a/b", "answer": {}}'),
      'entries[1] is a second "a/b"',
    ],
  ])('%s', (_, text, complaint) => {
    expect(complaintOf(text)).toContain(complaint);
  });
});
