// What measures the row kernel on a GPU of a bare machine without a network, in one file of less than 64 MiB: Node, Dawn's adapter,
// this harness, and Vulkan's loader for where there is none. TensorFlow's library alone is ten times that. Linux on x86-64.
//   npm run bench:gpu-pack [FILE]      gpu-pack.tgz
//   tar xzf gpu-pack.tgz && gpu-pack/measure      there; --rounds N, --python P, --no-large, --no-compile
//   npm run bench:gpu-pack -- --told FILE         what measure printed, into docs/benchmarks.md; --as reference-gpu-tensorflow of another run
import { execFileSync, spawnSync } from 'node:child_process';
import {
  chmodSync,
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { PACKAGE_ROOT } from '../../src/version.ts';
import { writeMeasured } from '../docs/measured.ts';

const MOST_MEBIBYTES = 64;
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { told: { type: 'string' }, as: { type: 'string', default: 'reference-gpu' } },
});
if (values.told !== undefined) {
  const told = readFileSync(resolve(values.told), 'utf8').trim();
  const from = told.indexOf('\nNode v');
  if (from < 0) throw new Error(`${values.told} is not what measure prints`);
  writeMeasured('benchmarks.md', values.as, [told.slice(from).trim()]);
  process.exit(0);
}
const file = resolve(positionals[0] ?? 'gpu-pack.tgz');

const MEASURE = `#!/bin/sh
# The row kernel on the GPU of this machine: first that it is right, then how fast. Torch is python3's, or --python's.
here=$(cd "$(dirname "$0")" && pwd)
# Vulkan's loader looks for the driver in two folders; some machines have it elsewhere.
if [ -z "$VK_DRIVER_FILES" ]; then
  icd=$(find / \\( -path /proc -o -path /sys \\) -prune -o -name 'nvidia_icd*.json' -print 2>/dev/null | head -n 1)
  [ -z "$icd" ] || export VK_DRIVER_FILES="$icd"
fi
if ! ldconfig -p 2>/dev/null | grep -q libvulkan.so.1; then
  export LD_LIBRARY_PATH="$here/lib\${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
fi
nvidia-smi -L 2>/dev/null
echo 'Not in this pack: tfjs-node-gpu, whose library has 600 MB. npm run setup:tfjs where there is a network.'
"$here/node" "$here/dist/scripts/bench/adapter.js" || exit 1
exec "$here/node" "$here/dist/scripts/bench/reference.js" --device auto --compile --large "$@"
`;

const folder = mkdtempSync(join(tmpdir(), 'lossproof-pack-'));
try {
  const pack = join(folder, 'gpu-pack');
  const take = (path: string, filter?: (path: string) => boolean): void => {
    mkdirSync(dirname(join(pack, path)), { recursive: true });
    cpSync(join(PACKAGE_ROOT, path), join(pack, path), { recursive: true, ...(filter && { filter }) });
  };
  const code = (path: string): boolean => !/\.d\.ts$/.test(path);
  take('package.json');
  take('LICENSE');
  for (const floor of ['kernel', 'reference', 'outside']) take(join('dist', 'src', floor), code);
  for (const name of ['version.js', 'vocabulary.js']) take(join('dist', 'src', name));
  for (const name of ['adapter.js', 'reference.js', 'torch.js']) take(join('dist', 'scripts', 'bench', name));
  take(join('dist', 'scripts', 'docs', 'measured.js'));
  take(join('dist', 'test', 'kernel', 'inputs.js'));
  take(join('scripts', 'bench', 'reference_torch.py'));
  for (const name of ['package.json', 'index.js', 'LICENSE.md', join('dist', 'linux-x64')])
    take(join('node_modules', 'webgpu', name));
  copyFileSync(process.execPath, join(pack, 'node'));
  const loader = /libvulkan\.so\.1 .*=> (\S+)/.exec(
    execFileSync('ldconfig', ['-p'], { encoding: 'utf8' }),
  )?.[1];
  if (loader !== undefined && existsSync(loader)) {
    mkdirSync(join(pack, 'lib'));
    copyFileSync(loader, join(pack, 'lib', 'libvulkan.so.1'));
  }
  // Without its symbols Node is a tenth smaller; where there is no strip, it stays as it is.
  spawnSync('strip', [join(pack, 'node')], { stdio: 'ignore' });
  writeFileSync(join(pack, 'measure'), MEASURE);
  chmodSync(join(pack, 'measure'), 0o755);
  execFileSync('tar', ['-czf', file, '-C', folder, 'gpu-pack']);
} finally {
  rmSync(folder, { recursive: true, force: true });
}
const mebibytes = statSync(file).size / 2 ** 20;
console.log(`${file}: ${mebibytes.toFixed(1)} MiB. There: tar xzf gpu-pack.tgz && gpu-pack/measure`);
if (mebibytes > MOST_MEBIBYTES) {
  console.error(`more than ${MOST_MEBIBYTES} MiB`);
  process.exitCode = 1;
}
