// `npm run measure:gap-engines`: the gap between two implementations of one tiny model, ONNX Runtime and transformers, by dtype, as a table in
// docs/gap.md. Needs `npm run setup:trainers`.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gapOfFile, rollouts } from '../../test/torch/gap/engines.ts';
import { writeMeasured } from '../docs/measured.ts';

const folder = mkdtempSync(join(tmpdir(), 'lossproof-engines-'));
try {
  const { engines, trainers, versions } = await rollouts(folder);
  const rows: string[] = [];
  for (const engine of engines) {
    const cells: string[] = [];
    for (const trainer of trainers) {
      const { verdict, rms } = await gapOfFile(folder, `${engine}-${trainer}`);
      cells.push(`${verdict === 'noise' ? '' : `${verdict}: `}${Number(rms.toPrecision(2))}`);
    }
    rows.push(`| ${engine} | ${cells.join(' | ')} |`);
  }
  const names = `ONNX Runtime ${versions.onnxruntime} \\ transformers ${versions.transformers}`;
  writeMeasured('gap.md', 'gap engines', [
    `| ${names} | ${trainers.join(' | ')} |`,
    `| --- |${' --- |'.repeat(trainers.length)}`,
    ...rows,
  ]);
} finally {
  rmSync(folder, { recursive: true, force: true });
}
