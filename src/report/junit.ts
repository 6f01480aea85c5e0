// The run as JUnit XML, which every CI system shows. Names are property ids; a known failure is a skipped test
// with its reason, because JUnit has no better word.
import type { PropertyResult, Replay } from '../check/events.ts';
import { failureLines } from './failure.ts';
import { PLAIN } from './paint.ts';
import { casesOf } from './table.ts';

/** CI pages are wide; the strip is easier to read in fewer blocks. */
const WIDTH = 120;

/** One document for one run; times are left to the CI system, which measures the step. */
export function junitReport(results: readonly PropertyResult[], trainer: string, replay: Replay): string {
  const count = (...verdicts: readonly PropertyResult['verdict'][]): number =>
    results.filter((result) => verdicts.includes(result.verdict)).length;
  const failures = count('fail', 'thin', 'changed', 'stale', 'unseen');
  const skipped = count('known', 'unsupported', 'skipped', 'interrupted');
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuite name="${xml(`trainproof: ${trainer}`)}" tests="${results.length}" failures="${failures}" errors="${count('error')}" skipped="${skipped}">`,
    ...results.map((result) => testCase(result, replay)),
    '</testsuite>',
    '',
  ].join('\n');
}

function testCase(result: PropertyResult, replay: Replay): string {
  const open = `  <testcase classname="${xml(result.id.split('/')[0] ?? '')}" name="${xml(result.id)}"`;
  const inner = innerOf(result, replay);
  return inner === '' ? `${open}/>` : `${open}>${inner}</testcase>`;
}

function innerOf(result: PropertyResult, replay: Replay): string {
  const block = xml(failureLines(result, { width: WIDTH, paint: PLAIN, replay }).join('\n'));
  const { finding, trainerFailure } = result.failure ?? {};
  switch (result.verdict) {
    case 'pass':
      return result.rejected + result.setAside === 0
        ? ''
        : `<system-out>${xml(casesOf(result))}</system-out>`;
    case 'fail':
      return `<failure message="${xml(finding?.sentence ?? result.title)}">${block}</failure>`;
    case 'changed':
      return `<failure message="${xml(`changed: ${result.reason ?? ''}`)}">${block}</failure>`;
    case 'thin':
    case 'stale':
    case 'unseen':
      return `<failure message="${xml(`${result.verdict}: ${result.reason ?? ''}`)}"/>`;
    case 'error':
      return `<error message="${xml(trainerFailure?.message ?? result.title)}">${block}</error>`;
    default:
      return `<skipped message="${xml(`${result.verdict}: ${result.reason ?? ''}`)}"/>`;
  }
}

/** Characters that XML cannot hold at all are replaced, not dropped. */
function xml(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll(FORBIDDEN, '\ufffd');
}

// XML 1.0 section 2.2 allows tab, newline and return below the space; \p{Cc} less those, and lone surrogates.
const FORBIDDEN = /(?![\t\n\r])[\p{Cc}\p{Cs}\ufffe\uffff]/gu;
