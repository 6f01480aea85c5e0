// What becomes of an entry: the same, changed, missing, unknown, stale, an error. All but the first fail.
import { describe, expect, test } from 'vitest';
import { goldenCase } from '../../src/golden/case.ts';
import { fileText, readFile } from '../../src/golden/file.ts';
import { recording } from '../../src/golden/record.ts';
import { eventLine, readEvents } from '../../src/report/machine/ndjson.ts';
import { reject } from '../../src/trainer/object.ts';
import { asking, CASES, compare, recorded, SPEC } from './answering.ts';

const { advantages: _, ...WITHOUT_ADVANTAGES } = SPEC.hello.ops;

describe('an entry', () => {
  test('holds where the answer is the recorded one', async () => {
    const { red, results } = await compare(await recorded(), asking());
    expect(red).toEqual([]);
    expect(results.map(({ id }) => id)).toEqual([
      'declared/ops',
      'declared/layout',
      'declared/semantics',
      'declared/tokens',
      'declared/numbers',
      'declared/tokenizer',
      'advantages/one-group',
      'clip_advantages/beyond',
      'decode/words',
    ]);
  });

  test('has changed where a number is beyond the tolerance, and not within it', async () => {
    const files = await recorded();
    const by = (off: number) =>
      asking({
        ...SPEC,
        ops: {
          ...SPEC.ops,
          advantages: ({ rewards }) => ({ advantages: rewards.map((r) => r - 0.5 + off) }),
        },
      });
    expect((await compare(files, by(1e-13))).red).toEqual([]);
    const changed = await compare(files, by(1e-6));
    expect(changed.red).toEqual(['advantages/one-group']);
    expect(changed.sentence('advantages/one-group')).toBe(
      'The numbers changed (advantages), at 3 places. First: advantages[0] was 0.5, and is 0.500001.',
    );
  });

  test('is held to the coarser precision where the declared one changes', async () => {
    const files = await recorded();
    const { red } = await compare(
      files,
      asking({
        hello: { ...SPEC.hello, dtype: 'float32' },
        ops: {
          ...SPEC.ops,
          advantages: ({ rewards }) => ({ advantages: rewards.map((r) => r - 0.5 + 1e-6) }),
        },
      }),
    );
    expect(red).toEqual(['declared/numbers']);
  });

  test('is missing where the op is no longer offered', async () => {
    const changed = await compare(
      await recorded(),
      asking({ ...SPEC, hello: { ...SPEC.hello, ops: WITHOUT_ADVANTAGES } }),
    );
    expect(changed.red).toEqual(['declared/ops', 'advantages/one-group']);
    expect(changed.sentence('advantages/one-group')).toBe(
      'An answer is recorded, and the trainer cannot be asked any more: the adapter has no op `advantages`.',
    );
  });

  test('is unknown where nothing is recorded and the trainer answers', async () => {
    const files = await recorded(SPEC, CASES.slice(1));
    const changed = await compare(files, asking());
    expect(changed.red).toEqual(['advantages/one-group']);
    expect(changed.sentence('advantages/one-group')).toContain('Nothing is recorded for this case');
  });

  test('is no entry where nothing is recorded and the trainer cannot be asked', async () => {
    const spec = { ...SPEC, hello: { ...SPEC.hello, ops: WITHOUT_ADVANTAGES } };
    const { results, red } = await compare(await recorded(spec), asking(spec));
    expect(red).toEqual([]);
    expect(results.find(({ id }) => id === 'advantages/one-group')?.verdict).toBe('unsupported');
  });

  test('holds where a formatter has put the keys of its file in another order', async () => {
    const turned = (value: unknown): unknown =>
      Array.isArray(value) || typeof value !== 'object' || value === null
        ? value
        : Object.fromEntries(
            Object.entries(value)
              .toReversed()
              .map(([key, each]) => [key, turned(each)]),
          );
    const nested = goldenCase('schedule/two', 'schedule', () => ({
      mode: 'parallel',
      iterations: 1,
      frequencies: { b: 1, a: 2 },
      enabled: ['a', 'b'],
      optional: [],
    }));
    const spec = {
      hello: {
        ...SPEC.hello,
        ops: { schedule: { losses: ['a', 'b'], modes: ['parallel'], optional_trainers: { b: 'x', a: 'y' } } },
      },
      ops: { schedule: () => reject('closed') },
    } as const;
    const texts = (await recorded(spec, [nested])).map(fileText);
    const files = texts.map((text) => {
      const read = readFile(JSON.stringify(JSON.parse(text), (_, value) => turned(value)));
      if ('complaint' in read) throw new Error(read.complaint);
      return read.file;
    });
    expect(files.map(fileText)).not.toEqual(texts);
    expect((await compare(files, asking(spec, [nested]))).red).toEqual([]);
  });

  test('is stale where its case has other arguments now', async () => {
    const cases = [
      goldenCase('advantages/one-group', 'advantages', () => ({ rewards: [1, 0], group_ids: [0, 0] })),
      ...CASES.slice(1),
    ];
    const changed = await compare(await recorded(), asking(SPEC, cases));
    expect(changed.red).toEqual(['advantages/one-group']);
    expect(changed.sentence('advantages/one-group')).toContain(
      '`rewards` was [1,0,0.5], and is [1,0] (and 1 more of its arguments)',
    );
  });

  test('is stale where the set has no such case any more', async () => {
    const changed = await compare(await recorded(), asking(SPEC, CASES.slice(1)));
    expect(changed.red).toEqual(['advantages/one-group']);
    expect(changed.sentence('advantages/one-group')).toContain('has no such case');
  });

  test('is an error where the trainer raises, recorded or not', async () => {
    const raises = asking({
      ...SPEC,
      ops: {
        ...SPEC.ops,
        advantages: () => {
          throw new Error('no');
        },
      },
    });
    for (const files of [await recorded(), await recorded(SPEC, CASES.slice(1))]) {
      const { results, red } = await compare(files, raises);
      expect(red).toEqual(['advantages/one-group']);
      expect(results.find(({ id }) => id === red[0])?.verdict).toBe('error');
    }
  });

  test('has changed where the trainer begins or ceases to refuse; the words of a refusal are none', async () => {
    const refusing = (why: string) => ({
      ...SPEC,
      ops: { ...SPEC.ops, decode: () => reject(why) },
    });
    const { sentence } = await compare(await recorded(), asking(refusing('too short')));
    expect(sentence('decode/words')).toBe('The trainer answered this case, and refuses it now (too short).');
    const files = await recorded(refusing('too short'));
    expect((await compare(files, asking(refusing('so short at 0x7f')))).red).toEqual([]);
    const back = await compare(files, asking());
    expect(back.sentence('decode/words')).toBe(
      'The trainer refused this case (too short), and answers it now.',
    );
  });

  test('of what is declared has changed where the declaration has, and only it', async () => {
    const changed = await compare(
      await recorded(),
      asking({ ...SPEC, hello: { ...SPEC.hello, semantics: { advantage_ddof: 0, kl_clamp: null } } }),
    );
    expect(changed.red).toEqual(['declared/semantics']);
    expect(changed.sentence('declared/semantics')).toBe(
      'The declared semantics changed: `advantage_ddof` was 1, and is 0; `kl_clamp` is declared now: null.',
    );
  });
});

describe('a run', () => {
  test('tells other versions beside what failed, and fails for none', async () => {
    const files = await recorded();
    const newer = { ...SPEC, hello: { ...SPEC.hello, version: '2', runtime: 'python 3.12' } };
    expect((await compare(files, asking(newer))).red).toEqual([]);
    const { results } = await compare(
      files,
      asking({ ...newer, ops: { ...SPEC.ops, decode: () => ({ text: '5 6 Grüsse' }) } }),
    );
    expect(results.at(-1)?.failure?.finding?.note).toBe(
      'Recorded with small 1; it is small 2 (python 3.12) now.',
    );
    expect(results.at(-1)?.failure?.finding?.advice).toContain('golden accept decode/words');
  });

  test('judges only what is wanted', async () => {
    const { results } = await compare(await recorded(), asking(), {
      wanted: (id) => id.startsWith('decode/'),
    });
    expect(results.map(({ id }) => id)).toEqual(['decode/words']);
  });

  test('that is interrupted says so of what was not asked', async () => {
    const { results, events } = await compare(await recorded(), asking(), { signal: AbortSignal.abort() });
    expect(results.filter(({ verdict }) => verdict === 'interrupted').map(({ id }) => id)).toEqual(
      CASES.map(({ id }) => id),
    );
    expect(events.at(-1)).toMatchObject({ type: 'run-end', interrupted: true });
  });

  test('emits events that reports read back', async () => {
    const { events } = await compare(
      await recorded(),
      asking({ ...SPEC, ops: { ...SPEC.ops, decode: () => ({ text: '' }) } }),
    );
    const read = readEvents(events.map(eventLine).join(''));
    expect(read.problems ?? []).toEqual([]);
    expect(read.events).toHaveLength(events.length);
  });
});

describe('recording', () => {
  test('leaves out what two processes answer differently, and says where', async () => {
    let asked = 0;
    const how = asking({
      ...SPEC,
      ops: { ...SPEC.ops, clip_advantages: () => ({ advantages: [0.5, asked++] }) },
    });
    const { entries, troubles } = await recording(how);
    expect(entries.map(({ id }) => id)).not.toContain('clip_advantages/beyond');
    expect(troubles).toEqual([
      [
        'clip_advantages/beyond',
        'the answer differs between two fresh processes: the numbers changed (advantages): advantages[1] was 0, and is 1.',
      ],
    ]);
  });
});
