// `view` as it is typed: what it reads, what it says, what it exits with.
import { copyFileSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { familyFolder } from '../../../src/tokenizers/load.ts';
import { PACKAGE_ROOT } from '../../../src/version.ts';
import { makeWorld } from '../world.ts';

const QWEN = familyFolder('qwen');
/** Written by pyarrow: conversations in two row groups, and ids. */
const PARQUET = join(PACKAGE_ROOT, 'test', 'view', 'parquet');
const talk = (answer = 'Hello there!') => [
  { role: 'user', content: 'Hi' },
  { role: 'assistant', content: answer },
];
const lines = (...rows: readonly unknown[]): string => rows.map((row) => JSON.stringify(row)).join('\n');

describe('view', () => {
  test('shows which tokens are trained, with their stop token, and exits 0', async () => {
    const world = makeWorld();
    world.write('data.jsonl', lines({ messages: talk() }));
    expect(await world.run('view', 'data.jsonl', '--tokenizer', QWEN)).toBe(0);
    expect(world.out()).toContain('assistant  <|im_start|>assistant⏎⟦Hello␠there!<|im_end|>⟧⏎');
    expect(world.out()).toContain('None of 1 row is flagged');
    expect(world.out()).toContain('assumed');
  });

  test('names flagged rows by their line, shows them first, and exits 1', async () => {
    const world = makeWorld();
    const rows = Array.from({ length: 20 }, () => ({ messages: talk() }));
    world.write('data.jsonl', lines(...rows.slice(0, 10), { messages: talk('') }, ...rows.slice(10)));
    expect(await world.run('view', 'data.jsonl', '--tokenizer', QWEN, '--rows', '1')).toBe(1);
    expect(world.out()).toContain('✗ empty-answer  1 row: 11');
    expect(world.out()).toMatch(/\nrow 11 {2}messages/);
    expect(world.out()).not.toMatch(/\nrow 1 {2}/);
  });

  test('survives what is no JSON, a BOM, CRLF and empty lines, and counts lines as an editor does', async () => {
    const world = makeWorld();
    const good = JSON.stringify({ text: 'a' });
    world.write('data.jsonl', `\ufeff${good}\r\n\r\n{"text": \r\n5\r\n${good}\r\n`);
    expect(await world.run('view', 'data.jsonl', '--tokenizer', QWEN)).toBe(1);
    expect(world.out()).toContain('✗ unread  2 rows: 3, 4');
    expect(world.out()).toContain('4 rows');
  });

  test('reads an array, one object over several lines, and a single conversation', async () => {
    for (const content of [
      JSON.stringify([{ messages: talk() }, { messages: talk() }]),
      JSON.stringify({ messages: talk() }, null, 2),
      JSON.stringify(talk()),
      JSON.stringify(talk(), null, 2),
    ]) {
      const world = makeWorld();
      world.write('data.json', content);
      expect(await world.run('view', 'data.json', '--tokenizer', QWEN), content).toBe(0);
    }
  });

  test('reads Parquet, row by row', async () => {
    const world = makeWorld();
    copyFileSync(join(PARQUET, 'conversations.parquet'), join(world.folder, 'talk.parquet'));
    copyFileSync(join(PARQUET, 'ids.parquet'), join(world.folder, 'ids.parquet'));
    expect(await world.run('view', 'talk.parquet', '--tokenizer', QWEN)).toBe(1);
    expect(world.out()).toContain('3 rows');
    expect(world.out()).toContain('empty-answer  1 row: 2');
    expect(world.out()).toContain('duplicate  1 row: 3');
    expect(await world.run('view', 'ids.parquet')).toBe(1);
    expect(world.out()).toContain('nothing-trained  1 row: 2');
  });

  test('reads what gzip packed', async () => {
    const world = makeWorld();
    writeFileSync(join(world.folder, 'data.jsonl.gz'), gzipSync(lines({ messages: talk() })));
    expect(await world.run('view', 'data.jsonl.gz', '--tokenizer', QWEN)).toBe(0);
    writeFileSync(join(world.folder, 'torn.gz'), gzipSync(lines({ messages: talk() })).subarray(0, 30));
    expect(await world.run('view', 'torn.gz', '--tokenizer', QWEN)).toBe(2);
    expect(world.err()).toContain('torn.gz cannot be unpacked');
  });

  test.each<[string, string | undefined, string]>([
    ['no such file', undefined, 'there is no file'],
    ['an empty file', '', 'has no rows'],
    ['nothing that is a row', 'hello\nworld', 'none of the 2 rows'],
    ['Parquet without an end', 'PAR1....', 'was cut off'],
    ['Parquet that is none', 'PAR1........PAR1', 'cannot be read as Parquet'],
    ['bytes that act on a terminal', '\u001b[2J{', '\\x1b'],
  ])('exits 2 for %s, and says what to do', async (_, content, words) => {
    const world = makeWorld();
    if (content !== undefined) world.write('data.jsonl', content);
    expect(await world.run('view', 'data.jsonl', '--tokenizer', QWEN)).toBe(2);
    expect(world.err()).toContain(words);
  });

  test('without a tokenizer, text is refused with what to do, and ids are shown as ids', async () => {
    const world = makeWorld();
    world.write('text.jsonl', lines({ messages: talk() }));
    world.write('ids.jsonl', lines({ input_ids: [5, 6, 7], labels: [-100, 6, 7] }));
    expect(await world.run('view', 'text.jsonl')).toBe(2);
    expect(world.err()).toContain('save_pretrained');
    expect(await world.run('view', 'ids.jsonl')).toBe(0);
    expect(world.out()).toContain('5⟦67⟧');
  });

  test('a stop token that is named is looked for without a tokenizer, too', async () => {
    const world = makeWorld();
    world.write('ids.jsonl', lines({ input_ids: [5, 6, 7, 2], labels: [-100, 6, 7, -100] }));
    expect(await world.run('view', 'ids.jsonl', '--stop', '2')).toBe(1);
    expect(world.out()).toContain('stop-untrained');
  });

  test('reads the tokenizer of the configuration where none is named', async () => {
    const world = makeWorld();
    world.write('lossproof.config.json', JSON.stringify({ tokenizer: QWEN }));
    world.write('data.jsonl', lines({ messages: talk() }));
    expect(await world.run('view', 'data.jsonl')).toBe(0);
    expect(world.out()).toContain('Hello␠there!<|im_end|>⟧');
  });

  test('says what TRL does otherwise: every token trained, and rows cut at its own length', async () => {
    const world = makeWorld();
    world.write('data.jsonl', lines({ messages: talk('word '.repeat(1_100)) }, { messages: talk() }));
    expect(await world.run('view', 'data.jsonl', '--tokenizer', QWEN)).toBe(0);
    const said = world.out().replaceAll(/\s+/g, ' ');
    expect(said).toContain('TRL trains every token here, unless assistant_only_loss=True');
    expect(said).toContain('1 row of text is longer than 1,024 tokens');
    const cut = makeWorld();
    cut.write('data.jsonl', lines({ messages: talk('word '.repeat(1_100)) }));
    expect(await cut.run('view', 'data.jsonl', '--tokenizer', QWEN, '--max-length', '1024')).toBe(1);
    expect(cut.out()).toContain('truncated');
    expect(cut.out()).not.toContain('no row is cut');
  });

  test('takes a row from the command line: a conversation, ids and labels', async () => {
    const world = makeWorld();
    const conversation = JSON.stringify(talk());
    expect(await world.run('view', '--tokenizer', QWEN, '--conversation', conversation)).toBe(0);
    expect(await world.run('view', '--ids', '1,2,3', '--labels', '-100,2,3')).toBe(0);
    expect(await world.run('view', '--ids', '1,2,3', '--labels', '-100,3,-100')).toBe(1);
    expect(await world.run('view', '--conversation', '{')).toBe(2);
  });

  test('the strip has token, id, role, whether it is trained, and its label', async () => {
    const world = makeWorld();
    await world.run('view', '--ids', '1,2,3', '--labels', '-100,2,3', '--strip');
    expect(world.out()).toMatch(/trained +· +1 +1/);
    expect(world.out()).toMatch(/label +· +2 +3/);
  });

  test('a note alone exits 0, and 1 with --strict', async () => {
    const world = makeWorld();
    world.write(
      'data.jsonl',
      lines({ messages: [...talk(), { role: 'user', content: 'And then, what came after?' }] }),
    );
    const cut = ['view', 'data.jsonl', '--tokenizer', QWEN, '--max-length', '30'];
    expect(await world.run(...cut)).toBe(0);
    expect(world.out()).toContain('· cut');
    expect(await world.run(...cut, '--strict')).toBe(1);
  });

  test('--template stands in for the tokenizer’s own, and --train-on for what is assumed', async () => {
    const world = makeWorld();
    world.write('data.jsonl', lines({ messages: [...talk('First.'), ...talk('Second.')] }));
    world.write('t.jinja', '{% for m in messages %}<|im_start|>{{ m.content }}<|im_end|>{% endfor %}');
    const code = await world.run(
      'view',
      'data.jsonl',
      '--tokenizer',
      QWEN,
      '--template',
      't.jinja',
      '--train-on',
      'last',
    );
    expect(code).toBe(0);
    expect(world.out()).toContain('⟦Second.<|im_end|>⟧');
    expect(world.out()).not.toContain('⟦First.');
  });

  test('--html writes one page that is bounded, with the flagged row on it', async () => {
    const world = makeWorld();
    const long = { messages: talk('word '.repeat(1_200)) };
    world.write(
      'data.jsonl',
      lines(
        ...Array.from({ length: 24 }, () => long),
        { messages: talk('<script>alert(1)</script> \t') },
        { messages: talk('') },
      ),
    );
    expect(await world.run('view', 'data.jsonl', '--tokenizer', QWEN, '--html', 'v.html')).toBe(1);
    const page = readFileSync(`${world.folder}/v.html`, 'utf8');
    expect(page.length).toBeLessThan(2_000_000);
    expect(page).toContain('id="row-26"');
    expect(page).not.toContain('<script>alert');
  });
});
