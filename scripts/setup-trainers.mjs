// `npm run setup:trainers`: a Python environment in .venv with the trainers that the ready-made adapters drive, and more that
// add to it: .venv-places what else people train with, .venv-ray Ray, .venv-pytest pytest, mypy, pre-commit and ipykernel, .venv-verl verl and OpenRLHF,
// .venv-sources the same two, axolotl and ms-swift without what they import, .venv-trl-oldest and .venv-trl-middle older versions of TRL,
// the latter with LLaMA-Factory. Does nothing where they are already what the requirements say; `-- --without ray,verl` leaves some out.
// Runs without `npm run build`, hence .mjs.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The oldest Python that the pinned numpy supports. */
const LEAST_PYTHON = [3, 11];

const root = fileURLToPath(new URL('..', import.meta.url));
const left = leftOut(process.argv.slice(2), [
  'places',
  'ray',
  'pytest',
  'sources',
  'verl',
  'trl-oldest',
  'trl-middle',
]);
const windows = process.platform === 'win32';
const host = findPython();

const trainers = prepare({
  folder: '.venv',
  requirements: 'trainers-requirements.txt',
  size: 'torch, transformers and trl: about 300 MB with the CPU build of torch, some minutes the first time',
  options: [],
  proof: 'from trl import GRPOTrainer, SFTTrainer',
});
prepare({
  folder: '.venv-places',
  requirements: 'places-requirements.txt',
  size: 'peft, deepspeed and others: about 100 MB',
  options: ['--no-deps'],
  proof: 'import deepspeed, peft, pytorch_lightning, sentencepiece, tiktoken, torchtune.models.llama3',
  beside: trainers,
});
prepare({
  folder: '.venv-ray',
  requirements: 'ray-requirements.txt',
  size: 'ray and validators: about 80 MB',
  options: ['--no-deps'],
  proof: 'import check_jsonschema, kubernetes_validate, ray, torch',
  beside: trainers,
});
prepare({
  folder: '.venv-pytest',
  requirements: 'pytest-requirements.txt',
  size: 'pytest, xdist, mypy, pre-commit and ipykernel: about 110 MB',
  options: ['--no-deps'],
  proof: 'import ipykernel, mypy, nbclient, pre_commit, pytest, xdist, torch',
  beside: trainers,
});
prepare({
  folder: '.venv-sources',
  requirements: 'sources-requirements.txt',
  size: 'verl, OpenRLHF, axolotl and ms-swift without what they need: about 7 MB',
  options: ['--no-deps'],
  proof: 'import importlib.util as u; assert u.find_spec("verl") and u.find_spec("openrlhf")',
  beside: trainers,
});
prepare({
  folder: '.venv-verl',
  requirements: 'verl-requirements.txt',
  size: 'verl, OpenRLHF and tensordict: about 30 MB',
  options: ['--no-deps'],
  proof: 'import importlib.util as u, tensordict; assert u.find_spec("verl") and u.find_spec("openrlhf")',
  beside: trainers,
});
for (const [name, size, more] of [
  ['trl-oldest', 'TRL 0.15 on transformers 4.49: about 150 MB', ''],
  [
    'trl-middle',
    'TRL 0.24 on transformers 4.57, and LLaMA-Factory: about 180 MB',
    '; import importlib.util as u; assert u.find_spec("llamafactory")',
  ],
])
  prepare({
    folder: `.venv-${name}`,
    requirements: `${name}-requirements.txt`,
    size,
    options: ['--no-deps'],
    proof: `from trl import DPOTrainer, GRPOTrainer, RewardTrainer, SFTTrainer${more}`,
    beside: trainers,
  });

/** An environment as its requirements say; `beside`: the Python of another, whose packages it sees. Returns its Python. */
function prepare({ folder, requirements, size, options, proof, beside }) {
  if (left.includes(folder.replace('.venv-', ''))) {
    say(`${folder} is left out, as asked: the tests that need it will say so`);
    return undefined;
  }
  const environment = join(root, folder);
  const file = join(root, 'scripts', requirements);
  const stamp = join(environment, 'trainers.stamp');
  const python = join(environment, ...(windows ? ['Scripts', 'python.exe'] : ['bin', 'python']));
  const wanted = createHash('sha256').update(readFileSync(file)).update(host.version).digest('hex');
  if (existsSync(stamp) && existsSync(python) && readFileSync(stamp, 'utf8') === wanted) {
    say(`${environment} is up to date (Python ${host.version})`);
    return python;
  }
  if (existsSync(stamp)) rmSync(stamp); // half an installation must not look like a whole one
  if (!works(python)) {
    say(`making ${environment} with ${host.command} ${host.version}`);
    rmSync(environment, { recursive: true, force: true });
    step(
      host.command,
      ['-m', 'venv', environment],
      'could not make a virtual environment; on Debian and Ubuntu: apt install python3-venv',
    );
  }
  if (beside !== undefined) writeFileSync(join(packagesOf(python), 'beside.pth'), `${packagesOf(beside)}\n`);
  say(`installing ${size}`);
  const quiet = ['--disable-pip-version-check', '--progress-bar', 'off'];
  step(
    python,
    ['-m', 'pip', 'install', ...quiet, ...options, '-r', file],
    "pip could not install the requirements; its own words are above. Behind a mirror, pip's usual settings apply (PIP_INDEX_URL, PIP_EXTRA_INDEX_URL)",
  );
  step(python, ['-c', proof], 'the packages are installed, but cannot be imported; the reason is above');
  writeFileSync(`${stamp}.tmp`, wanted);
  renameSync(`${stamp}.tmp`, stamp);
  say(`done: ${python}`);
  return python;
}

/** The names behind `--without`; another word ends the program. */
function leftOut(words, known) {
  const names = words[0] === '--without' ? (words[1] ?? '').split(',') : words;
  const strange =
    words[0] === '--without' ? [...names.filter((name) => !known.includes(name)), ...words.slice(2)] : words;
  if (strange.length > 0)
    fail(`"${strange[0]}": say --without and, with commas between, some of ${known.join(', ')}`);
  return names;
}

/** Where its packages lie. */
function packagesOf(command) {
  const asked = 'import sysconfig; print(sysconfig.get_path("purelib"))';
  return spawnSync(command, ['-c', asked], { encoding: 'utf8' }).stdout.trim();
}

/** python3, or python where that is a Python 3; ends the program with one sentence where neither will do. */
function findPython() {
  for (const command of ['python3', 'python']) {
    const ran = spawnSync(command, ['-c', 'import sys; print("%d.%d" % sys.version_info[:2])'], {
      encoding: 'utf8',
    });
    if (ran.status !== 0) continue;
    const version = ran.stdout.trim();
    const [major = 0, minor = 0] = version.split('.').map(Number);
    if (major < LEAST_PYTHON[0] || (major === LEAST_PYTHON[0] && minor < LEAST_PYTHON[1])) {
      fail(
        `${command} is Python ${version}, but the trainers need ${LEAST_PYTHON.join('.')} or newer; put a newer one first on PATH`,
      );
    }
    return { command, version };
  }
  return fail(`there is no python3 on PATH; install Python ${LEAST_PYTHON.join('.')} or newer`);
}

/** A virtual environment that was moved, or whose Python is gone, is made anew. */
function works(command) {
  return (
    existsSync(command) && spawnSync(command, ['-m', 'pip', '--version'], { stdio: 'ignore' }).status === 0
  );
}

function step(command, args, failure) {
  const ran = spawnSync(command, args, { stdio: 'inherit' });
  if (ran.status !== 0) fail(failure);
}

function say(text) {
  process.stdout.write(`setup:trainers: ${text}\n`);
}

function fail(text) {
  process.stderr.write(`setup:trainers: ${text}\n`);
  process.exit(1);
}
