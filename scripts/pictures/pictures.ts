// The pictures of one failing run: those that the tests of the page compare with, and the one of the README.
//   node dist/scripts/pictures/pictures.js             from the recorded run
//   node dist/scripts/pictures/pictures.js --record    records the run first: golden/report/trainer.py, seed 7
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { execa } from 'execa';
import { htmlReport } from '../../src/report/html/run/report.ts';
import { readEvents } from '../../src/report/machine/ndjson.ts';
import { type Run, runsOf } from '../../src/report/runs.ts';
import { PACKAGE_ROOT } from '../../src/version.ts';
import { openBrowser } from './browser.ts';
import { DRAWN, drawnBy, GOLDEN, SHOTS, shoot, shootCard } from './shots.ts';

const { values } = parseArgs({ options: { record: { type: 'boolean', default: false } } });

/** The failure that says most at a glance, for the README. */
const SHOWN = 'tokenize/stop-token-is-trained';
const RUN = join(GOLDEN, 'run.ndjson');

async function record(): Promise<void> {
  const main = join(PACKAGE_ROOT, 'dist', 'src', 'cli', 'main.js');
  const scratch = mkdtempSync(join(tmpdir(), 'lossproof pictures '));
  try {
    const events = join(scratch, 'run.ndjson');
    // Two failures, one error, one known failure: all that a page can show.
    const known = join(GOLDEN, 'known.json');
    const words = [
      'check',
      '--seed',
      '7',
      '--known',
      known,
      '--events',
      events,
      '--',
      'python3',
      'trainer.py',
    ];
    const { exitCode, stderr } = await execa(process.execPath, [main, ...words], {
      cwd: GOLDEN,
      reject: false,
    });
    if (exitCode !== 1) throw new Error(`check ended with ${exitCode}: ${stderr}`);
    // Tracebacks name files; where this repository lies is nobody's business.
    writeFileSync(RUN, readFileSync(events, 'utf8').replaceAll(`${PACKAGE_ROOT}/`, ''));
  } finally {
    rmSync(scratch, { recursive: true, force: true });
    rmSync(join(GOLDEN, '.lossproof'), { recursive: true, force: true });
  }
}

if (values.record) await record();
const runs: readonly Run[] = runsOf(readEvents(readFileSync(RUN, 'utf8')).events);
const folder = mkdtempSync(join(tmpdir(), 'lossproof pictures '));
const browser = await openBrowser();
try {
  const file = join(folder, 'report.html');
  writeFileSync(file, htmlReport(runs));
  const address = pathToFileURL(file).href;
  for (const shot of SHOTS) {
    writeFileSync(join(GOLDEN, `${shot.name}.png`), await shoot(browser, address, shot));
    console.log(`golden/report/${shot.name}.png`);
  }
  writeFileSync(DRAWN, `${JSON.stringify(await drawnBy(browser, address), null, 2)}\n`);
  writeFileSync(
    join(PACKAGE_ROOT, 'docs', 'pictures', 'failure.png'),
    await shootCard(browser, address, SHOWN),
  );
  console.log('docs/pictures/failure.png');
} finally {
  await browser.close();
  rmSync(folder, { recursive: true, force: true });
}
