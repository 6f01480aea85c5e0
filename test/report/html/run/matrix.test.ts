import { describe, expect, test } from 'vitest';
import type { PropertyResult, RunEvent } from '../../../../src/check/events.ts';
import { matrix } from '../../../../src/report/html/run/matrix.ts';
import { runsOf } from '../../../../src/report/runs.ts';
import { LOOKS } from '../../../../src/report/verdict.ts';
import { VERDICTS } from '../../../../src/vocabulary.ts';
import { failure, result, runStart } from '../../results.ts';

const END: RunEvent = { type: 'run-end', interrupted: false, milliseconds: 1200 };
const ended = (one: PropertyResult): RunEvent => ({ type: 'property-end', result: one });

function markup(events: readonly RunEvent[]): string {
  return matrix(runsOf(events), ({ verdict, id }) => (verdict === 'fail' ? id : undefined)).markup;
}

describe('the matrix', () => {
  test('has a column per run and a row per property, and says what a run did not ask', () => {
    const page = markup([
      runStart(['mask/a']),
      ended(result({ id: 'mask/a' })),
      END,
      runStart(['mask/a', 'kl/b']),
      ended(result({ id: 'mask/a', verdict: 'fail', failure: failure() })),
    ]);
    expect(page).toContain('my-trainer 0.4 (1)');
    expect(page).toContain('my-trainer 0.4 (2)');
    expect(page.match(/<tr data-property="mask\/a">/g)).toHaveLength(1);
    expect(page).toContain('not asked');
    expect(page).toContain('not yet');
  });

  test('links a failing cell to where it is told, and unfolds its stage only', () => {
    const page = markup([
      runStart(['mask/a', 'kl/b']),
      ended(result({ id: 'mask/a', verdict: 'fail', failure: failure() })),
      ended(result({ id: 'kl/b' })),
      END,
    ]);
    expect(page).toContain('<a href="#mask/a">');
    expect(page).toContain('id="stage-mask" open');
    expect(page).toMatch(/id="stage-kl">/);
  });

  test('goes through the stages in the order of a training step', () => {
    const page = markup([runStart(['loss/a', 'render/b', 'mask/c'])]);
    expect([...page.matchAll(/id="stage-(\w+)"/g)].map(([, stage]) => stage)).toEqual([
      'render',
      'mask',
      'loss',
    ]);
  });

  test('lists what is on the list of known failures and in no catalogue', () => {
    const unseen = result({
      id: 'mask/gone',
      verdict: 'unseen',
      cases: 0,
      reason: 'no property is called so',
    });
    const page = markup([runStart(['mask/a']), ended(unseen), END]);
    expect(page).toContain('mask/gone');
    expect(page).toContain('no property is called so');
  });

  test('defines every verdict', () => {
    const page = markup([runStart(['mask/a'])]);
    for (const verdict of VERDICTS) expect(page).toContain(LOOKS[verdict].meaning);
  });

  test('prints ids and titles as text', () => {
    const page = markup([
      runStart([]),
      ended(result({ id: 'mask/"><script>', title: '<img onerror=x>' })),
      END,
    ]);
    expect(page).not.toContain('<script>');
    expect(page).not.toContain('<img');
  });
});
