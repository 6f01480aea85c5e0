// Special tokens by name, and ids that the model has no row for.
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { worldOf } from '../../src/cli/view/world.ts';
import { loadTokenizer } from '../../src/tokenizers/load.ts';
import type { ViewOptions } from '../../src/view/row.ts';
import { scan } from '../../src/view/scan.ts';
import { makeWorld } from '../cli/world.ts';
import { familyFolders } from '../tokenizers/folders.ts';
import { flags, qwen, set, talk, world, written } from './rows.ts';

const folder = mkdtempSync(join(tmpdir(), 'names-'));
afterAll(() => rmSync(folder, { recursive: true }));

/** A family's tokenizer with another configuration, and the model's beside it. */
function changed(name: string, config: object, more: Readonly<Record<string, object>> = {}): string {
  const own = mkdtempSync(join(folder, 'tokenizer-'));
  cpSync(familyFolders[name] ?? '', own, { recursive: true });
  const file = join(own, 'tokenizer_config.json');
  const read = JSON.parse(readFileSync(file, 'utf8')) as object;
  writeFileSync(file, JSON.stringify({ ...read, ...config }));
  for (const [beside, json] of Object.entries(more)) writeFileSync(join(own, beside), JSON.stringify(json));
  return own;
}

describe('a name without an id', () => {
  const notes = (config: object, more: Readonly<Record<string, object>> = {}) => {
    const loaded = loadTokenizer(changed('qwen', config, more));
    if ('problem' in loaded) throw new Error(loaded.problem);
    const options: ViewOptions = { ...qwen, tokenizer: loaded.tokenizer };
    const value = { input_ids: [5, 6], labels: [-100, 6] };
    return scan([{ number: 1, value }], options, { most: 1 })
      .counts.filter(({ id }) => id === 'token-without-id')
      .map(({ example }) => example);
  };

  test.each<[string, object, string]>([
    ['of eos', { eos_token: '<|im_stop|>' }, 'eos_token "<|im_stop|>"'],
    ['of padding', { pad_token: '[PAD]' }, 'pad_token "[PAD]"'],
    ['of bos, as an object', { bos_token: { content: '<s>' } }, 'bos_token "<s>"'],
    ['of two', { eos_token: '</s>', pad_token: '<pad>' }, 'eos_token "</s>" and pad_token "<pad>"'],
  ])('%s is noted', (_, config, words) => {
    expect(notes(config).join()).toContain(words);
  });

  test('an id that stands outside of tokenizer.json is one; no name is none', () => {
    expect(notes({})).toEqual([]);
    expect(notes({ pad_token: null })).toEqual([]);
    expect(notes({ pad_token: '[PAD]' }, { 'added_tokens.json': { '[PAD]': 900 } })).toEqual([]);
    expect(notes({ pad_token: '[PAD]', added_tokens_decoder: { 900: { content: '[PAD]' } } })).toEqual([]);
  });
});

describe('the unknown token in the place of a stop token', () => {
  const gemma = world('gemma');
  const unknown = gemma.tokenizer?.unkTokenId ?? -1;
  const { input_ids, labels, stop } = written([...talk('One.', 'First?'), ...talk()], gemma);
  const wrong = { input_ids: set(input_ids, stop, unknown), labels: set(labels, stop, unknown) };

  test('is flagged, whether the turns are known or not', () => {
    expect(unknown).toBeGreaterThanOrEqual(0);
    expect(flags(wrong, gemma)).toContain('unknown-stop');
    const { writer: _, ...bare } = gemma;
    const row = { input_ids: [7, 8, 9, unknown], labels: [-100, -100, 9, unknown] };
    expect(flags(row, bare)).toEqual(['unknown-stop']);
    expect(flags({ ...row, input_ids: [7, 8, 9, 10], labels: [-100, -100, 9, 10] }, bare)).toEqual([
      'truncated',
    ]);
  });

  test('within an answer it is a token like others, and an untrained one is nobody’s', () => {
    expect(flags({ input_ids, labels }, gemma)).toEqual([]);
    const within = stop - 1;
    expect(
      flags({ input_ids: set(input_ids, within, unknown), labels: set(labels, within, unknown) }, gemma),
    ).toEqual([]);
    const { writer: _, ...bare } = gemma;
    expect(flags({ input_ids: [unknown, 7, 8], labels: [-100, -100, 8] }, bare)).toEqual(['truncated']);
  });

  test('a tokenizer whose padding it is uses it, too', () => {
    const { tokenizer } = gemma;
    if (tokenizer === undefined) throw new Error('no tokenizer');
    const padding: ViewOptions = {
      truncationSide: 'right',
      tokenizer: { ...tokenizer, padTokenId: unknown },
    };
    expect(flags({ input_ids: [7, 8, unknown], labels: [-100, 8, -100] }, padding)).not.toContain(
      'unknown-stop',
    );
  });
});

/** By a tokenizer with this configuration, and the model's beside it. */
async function viewed(model: object | undefined, config: object = {}): Promise<ViewOptions> {
  const own = changed('qwen', config, model === undefined ? {} : { 'config.json': model });
  const made = await worldOf({ tokenizer: own, truncationSide: 'right' }, makeWorld().context);
  if ('problem' in made) throw new Error(made.problem);
  return made;
}

describe('placeholders of images and sound', () => {
  const { input_ids, labels, user } = written(talk());
  const [image] = qwen.tokenizer?.encode('?') ?? [];
  const seen = [...input_ids.slice(0, user), image ?? -1, image ?? -1, ...input_ids.slice(user)];
  const masked = [...labels.slice(0, user), -100, -100, ...labels.slice(user)];
  const trained = masked.map((label, at) => (seen[at] === image ? (image ?? -1) : label));

  test.each<[string, object, object]>([
    ['image_token_id of the model', { image_token_id: image }, {}],
    ['video_token_id of the model', { video_token_id: image }, {}],
    ['audio_token_index of the model', { audio_token_index: image }, {}],
    ['image_token of the tokenizer', {}, { image_token: '?' }],
    ['audio_token among its further ones', {}, { extra_special_tokens: { audio_token: '?' } }],
  ])('that are trained are flagged: %s', async (_, model, config) => {
    const options = await viewed(model, config);
    expect(flags({ input_ids: seen, labels: trained }, options)).toContain('placeholder-trained');
    expect(flags({ input_ids: seen, labels: masked }, options)).toEqual([]);
    // Without labels, nobody says that they are trained.
    expect(flags({ text: 'What? A text.' }, options)).not.toContain('placeholder-trained');
  });

  test('are none where no configuration names them, or it names another', async () => {
    for (const model of [undefined, {}, { image_token_id: 'many' }, { image_token_id: 1 }])
      expect(flags({ input_ids: seen, labels: trained }, await viewed(model))).not.toContain(
        'placeholder-trained',
      );
  });
});

describe('ids that the embedding has no row for', () => {
  const { input_ids, labels } = written(talk());
  const most = Math.max(...input_ids);

  test.each<[string, object | undefined, string[]]>([
    ['one too few', { vocab_size: most }, ['id-outside-embedding']],
    [
      'one too few, of a model that sees images',
      { text_config: { vocab_size: most } },
      ['id-outside-embedding'],
    ],
    ['as many as are needed', { vocab_size: most + 1 }, []],
    ['more than the tokenizer has', { vocab_size: 1_000_000 }, []],
    ['no config.json', undefined, []],
    ['a config.json without a size', { model_type: 'llama' }, []],
    ['a size that is none', { vocab_size: 'many' }, []],
  ])('%s', async (_, config, expected) => {
    const options = await viewed(config);
    expect(flags({ input_ids, labels }, options)).toEqual(expected);
    expect(flags({ messages: talk() }, options)).toEqual(expected);
  });
});
