// Which token each token was trained towards: the next one, and one alone.
import { describe, expect, test } from 'vitest';
import { ledgerProperties } from '../../../../properties/ledger/index.ts';
import type { LedgerSketch, TrainedRowSketch } from '../../traced.ts';
import { CHAT, holds, judge, marks, NONE, onPolicy, silent, text, trainedAs } from './rows.ts';

describe('trace/target-is-the-next-token', () => {
  const id = 'trace/target-is-the-next-token';
  const kind = (sketch: LedgerSketch) => judge(id, sketch).findings[0]?.kind;
  const itself: TrainedRowSketch = {
    ...CHAT,
    trained: trainedAs([undefined, undefined, undefined, 11, 20, 21, 22, undefined]),
  };

  test('labels that were never shifted train the token itself', () => {
    expect(kind({ rows: [itself] })).toBe('the token itself');
    expect(marks(id, { rows: [itself] })).toEqual([3, 4, 5, 6]);
    expect(judge(id, { rows: [itself] }).findings[0]?.sentence).toBe(
      "Token 3 'n20' (id 20) of step 0, row 0 follows, but the model was trained towards 'n11' (id 11) there: the token that the model had just read, and not the one that follows; 4 of the row's 4 targets are wrong.",
    );
  });
  test('labels that were shifted twice train the one after next', () => {
    const twice = trainedAs([undefined, undefined, 20, 21, 22, 2]);
    expect(kind({ rows: [{ ...CHAT, trained: twice }] })).toBe('the one after next');
  });
  test('labels of another row are named as such', () => {
    const other = [1, 12, 13, 30, 31, 32, 2];
    const rows = [
      { ...CHAT, trained: trainedAs([undefined, undefined, undefined, 30, 31, 32, 2]) },
      { ids: other, prompt: 3, trained: trainedAs([undefined, undefined, undefined, 20, 21, 22, 2]) },
    ];
    expect(kind({ rows })).toBe("another row's");
    expect(marks(id, { rows })).toEqual([3, 4, 5]);
  });
  test('labels of a longer row reach into the padding, and are no masked model', () => {
    const long = [1, 40, 41, 42, 43, 44, 45, 46, 47, 2];
    const pushed = (ids: readonly number[], from: number) =>
      trainedAs(long.map((_, t) => (t < from ? undefined : ids[t])));
    const short = [1, 12, 13, 30, 2];
    const rows = [
      text({ ids: long, trained: trainedAs([undefined, undefined, undefined, 30, 2]) }),
      text({ ids: short, right: 5, trained: pushed(long, 3) }),
    ];
    expect(judge(id, { rows }).findings.map((finding) => finding.kind)).toContain("another row's");
  });
  test('one wrong target is found, and only it marked', () => {
    expect(marks(id, { rows: [{ ...CHAT, at: { 4: { target: 77, weight: 0.1 } } }] })).toEqual([4]);
  });
  test('a row that is shifted is told once, and not as a trained prompt or a lost stop token', () => {
    const twice = { ...CHAT, trained: trainedAs([undefined, undefined, 20, 21, 22, 2]) };
    for (const other of ['prompt-is-not-trained', 'answer-is-trained', 'stop-token-is-trained'])
      silent(`tokenize/${other}`, { rows: [twice] });
    for (const other of ['prompt-is-never-trained', 'every-completion-token-is-trained'])
      silent(`mask/${other}`, onPolicy(twice));
  });
  test('right targets pass, those of packed rows and behind the end of the row too', () => {
    holds(id, { rows: [CHAT] });
    holds(id, { rows: [text({ ids: [5, 6, 7, 2, 8, 9, 2], trained: [...Array(7).fill(0.1), undefined] })] });
    // Inputs are all tokens but the last, labels all but the first: the last target is not in the row.
    holds(id, {
      rows: [text({ ids: [5, 6, 7], trained: [undefined, 0.3, 0.3, { target: 8, weight: 0.3 }] })],
    });
  });
  test('a term over the whole vocabulary, or one that was not measured, is no wrong target', () => {
    silent(
      id,
      { rows: [{ ...CHAT, trained: trainedAs([...NONE, 5, 5, 5, 5], { residual: 0.6 }) }] },
      'no single target explains the gradient',
    );
    silent(id, {
      rows: [{ ...CHAT, trained: trainedAs([...NONE, -1]).map((each) => each && { target: undefined }) }],
    });
  });
  test('a target that the model is sure of cannot be told from others', () => {
    const sure = { target: 77, weight: 0.1, logprob: -1e-9, residual: 0.4 };
    holds(id, { rows: [{ ...CHAT, at: { 4: sure } }] });
  });
  test('labels that are padded by themselves name the stop token where the inputs have padding', () => {
    const cut = text({
      ids: [5, 6, 7],
      right: 2,
      trained: [undefined, 0.3, 0.3, { target: 2, weight: 0.3 }],
    });
    holds(id, { rows: [cut] });
    silent('mask/padding-is-never-trained', { rows: [cut] });
  });
  test('inputs that are corrupted here and there keep their clean labels', () => {
    const ids = [11, 12, 13, 14, 15, 16, 17, 18];
    const noised = [3, 5, 6].map((column) =>
      text({
        ids: ids.map((each, t) => (t === column ? 90 + column : each)),
        trained: trainedAs([undefined, ...ids.slice(1)]),
      }),
    );
    silent(id, { rows: noised }, 'the targets may be those of a masked model, a teacher or clean texts');
    // In one certain place it is a mistake.
    const stops = [1, 2, 3].map(() =>
      text({ ids, trained: trainedAs([undefined, ...ids.slice(1, -1), 77]) }),
    );
    expect(marks(id, { rows: stops })).toEqual([7]);
  });
  test('the words of a teacher are targets, hard or nearly so', () => {
    const words = trainedAs([...NONE, 50, 60, 70, 80]);
    expect(kind({ rows: [{ ...CHAT, trained: words }] })).toBe('target');
    silent(
      id,
      { rows: [{ ...CHAT, trained: words }], scored: [{ ids: CHAT.ids, model: 1 }] },
      'the targets may be those of a masked model, a teacher or clean texts',
    );
    const soft = words.map((each, t) => (t === 6 ? { target: 80, weight: 0.2, residual: 0.5 } : each));
    silent(
      id,
      { rows: [{ ...CHAT, trained: soft }] },
      'the targets may be those of a masked model, a teacher or clean texts',
    );
    // A shift is one, whoever reads along.
    expect(kind({ rows: [itself], scored: [{ ids: CHAT.ids, model: 1 }] })).toBe('the token itself');
  });
  test('a masked model is known by its mask, whatever its class is called', () => {
    const masked = text({
      ids: [5, 99, 7, 99, 99, 10],
      trained: trainedAs([undefined, undefined, 6, undefined, 8, 9]),
    });
    silent(
      id,
      { rows: [masked], models: [{ class: 'Denoiser' }] },
      'the targets may be those of a masked model, a teacher or clean texts',
    );
  });
  test('masked and encoder-decoder models predict other tokens than the next', () => {
    silent(
      id,
      { rows: [itself], models: [{ class: 'BertForMaskedLM' }] },
      'the model does not predict the next token',
    );
    silent(
      id,
      { rows: [itself], models: [{ class: 'T5ForConditionalGeneration' }] },
      'the model does not predict the next token',
    );
  });
});

describe('trace/one-target-explains-the-gradient', () => {
  const id = 'trace/one-target-explains-the-gradient';
  test('is advice: an entropy bonus is named, and no mistake', () => {
    expect(ledgerProperties.find((each) => each.id === id)?.level).toBe('may');
    const row = { ...CHAT, at: { 4: { weight: 0.1, residual: 0.3 } } };
    expect(marks(id, { rows: [row] })).toEqual([4]);
  });
  test('rounding is none', () => {
    holds(id, { rows: [CHAT] });
    holds(id, { rows: [{ ...CHAT, dtype: 'bfloat16', at: { 4: { weight: 0.1, residual: 0.03 } } }] });
  });
});
