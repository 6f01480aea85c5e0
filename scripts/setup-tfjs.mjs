// `npm run setup:tfjs`: the backend tfjs-node-gpu, built here. The package's own installation fetches a library for CUDA 11 from a
// server that most machines do not ask; this takes TensorFlow from the Python registry, compiles the package's binding against
// it, and lets it prove itself. All of it lies in .tfjs, or where LOSSPROOF_TFJS says. Does nothing but the proof where it is
// already there. Written so that an installed package can run it, hence .mjs.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

const USAGE = `npm run setup:tfjs [-- --cpu | --gpu]

Builds the backend of lossproof check --backend tfjs-node-gpu: TensorFlow.js over a TensorFlow from the Python registry.

  --cpu    TensorFlow for the CPU: 230 MB to fetch, 1.1 GB on the disk
  --gpu    TensorFlow with CUDA 12: 2.2 GB to fetch, 4 GB on the disk; computes on the CPU where it finds no GPU
  --help   this

Without either: --gpu where the driver of NVIDIA is loaded, else --cpu. Needs Linux on x86-64, Node 20.19 or newer with npm,
python3 with venv, and g++ (or another compiler, named by CXX). LOSSPROOF_TFJS names another folder than .tfjs.
`;

const { cpu, gpu, help } = options();
if (help) {
  process.stdout.write(USAGE);
  process.exit(0);
}
const root = fileURLToPath(new URL('..', import.meta.url));
const sources = join(root, 'scripts', 'tfjs');
const folder = resolve(process.env.LOSSPROOF_TFJS || join(root, '.tfjs'));
const log = join(folder, 'setup.log');
const compiler = process.env.CXX || 'g++';
/** Of N-API, which every Node since 12.22 has: what is built with one serves all. */
const NAPI = 8;

checkMachine();
const driver = existsSync('/proc/driver/nvidia/version') || works('nvidia-smi', ['-L']);
const kind = gpu || (driver && !cpu) ? 'gpu' : 'cpu';
mkdirSync(folder, { recursive: true });
build();
prove();

function build() {
  const stamp = join(folder, 'tfjs.stamp');
  const wanted = createHash('sha256').update(`${kind} ${NAPI}`);
  for (const name of readdirSync(sources).sort()) wanted.update(readFileSync(join(sources, name)));
  const digest = wanted.digest('hex');
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === digest) {
    say(`${folder} is up to date`);
    return;
  }
  rmSync(stamp, { force: true }); // half an installation must not look like a whole one
  writeFileSync(log, '');
  say(`building in ${folder}, for the ${kind === 'gpu' ? 'GPU: 2.2 GB' : 'CPU: 230 MB'} to fetch`);

  for (const name of ['package.json', 'package-lock.json'])
    copyFileSync(join(sources, name), join(folder, name));
  const npm = process.env.npm_execpath;
  const words = ['ci', '--prefix', folder, '--ignore-scripts', '--no-audit', '--no-fund'];
  step(
    'TensorFlow.js from the npm registry',
    ...(npm ? [process.execPath, [npm, ...words]] : ['npm', words]),
  );

  const [pip, wheels] = [join(folder, 'pip'), join(folder, 'wheels')];
  const python = join(pip, 'bin', 'python');
  const tfjs = join(folder, 'node_modules', '@tensorflow', 'tfjs-node-gpu');
  const deps = join(tfjs, 'deps');
  for (const old of [pip, wheels]) rmSync(old, { recursive: true, force: true });
  step('a Python environment for pip', 'python3', ['-m', 'venv', pip]);
  // The wheel of one Python for all of them: only its libraries are wanted.
  const wheel = ['--python-version', '3.11', '--implementation', 'cp', '--only-binary', ':all:'];
  for (const platform of ['manylinux_2_17_x86_64', 'manylinux2014_x86_64'])
    wheel.push('--platform', platform);
  const pinned = ['--no-deps', '--require-hashes', '-r', join(sources, `${kind}-requirements.txt`)];
  const quiet = ['--disable-pip-version-check', '--progress-bar', 'off', '--no-cache-dir'];
  step(
    'TensorFlow from the Python registry',
    python,
    ['-m', 'pip', 'download', ...quiet, ...wheel, ...pinned, '-d', wheels],
    "behind a mirror, pip's usual settings apply (PIP_INDEX_URL, PIP_EXTRA_INDEX_URL)",
  );
  step('unpacking its libraries and headers', python, [join(sources, 'unpack.py'), wheels, deps]);
  for (const done of [pip, wheels]) rmSync(done, { recursive: true, force: true });

  const output = join(tfjs, 'lib', `napi-v${NAPI}`);
  mkdirSync(output, { recursive: true });
  step(`compiling the binding with ${compiler}`, compiler, [
    ...['-shared', '-fPIC', '-O2', '-std=c++17', `-DNAPI_VERSION=${NAPI}`],
    ...[tfjs, join(deps, 'include')].flatMap((each) => ['-I', each]),
    ...['-I', join(folder, 'node_modules', 'node-api-headers', 'include')],
    ...['tfjs_backend.cc', 'tfjs_binding.cc'].map((name) => join(tfjs, 'binding', name)),
    ...['-L', join(deps, 'lib'), '-ltensorflow', '-ltensorflow_framework'],
    ...['-Wl,-rpath,$ORIGIN/../../deps/lib', '-o', join(output, 'tfjs_binding.node')],
  ]);
  writeFileSync(stamp, digest);
}

/** Against cpu-f64; what TensorFlow says of its devices stands in its own log alone. */
function prove() {
  const ran = spawnSync(process.execPath, [join(root, 'dist', 'scripts', 'tfjs-self-test.js')], {
    encoding: 'utf8',
    env: { ...process.env, LOSSPROOF_TFJS: folder, TF_CPP_MIN_LOG_LEVEL: '0' },
  });
  const how = ran.signal === null ? `exit code ${ran.status}` : ran.signal;
  if (ran.status !== 0)
    fail(`built, but the self-test ended with ${how}:\n${tail(ran.stderr)}\nRemove ${folder} to begin anew`);
  const { about, off, band, loaded, mine, theirs, shape, cpu: other } = JSON.parse(ran.stdout);
  const device = /Created device .*?-> device: \d+, name: ([^,]+)/.exec(ran.stderr)?.[1];
  say(`${about}${device === undefined ? '' : `, ${device}`}, loaded in ${(loaded / 1000).toFixed(1)} s`);
  const size = shape.map((each) => each.toLocaleString('en')).join(', ');
  say(`(${size}) in ${mine.toFixed(0)} ms, cpu-f64 with ${other} in ${theirs.toFixed(0)} ms`);
  if (!(off <= band)) fail(`it is off by ${off.toPrecision(2)} nats, more than ${band}`);
  say(`agrees with cpu-f64 to ${off.toPrecision(2)} nats: lossproof check --backend tfjs-node-gpu`);
  if (kind === 'gpu' && device === undefined)
    say(
      `TensorFlow found no GPU that it can use and computes on the CPU; its own words:\n${tail(ran.stderr)}`,
    );
}

function options() {
  try {
    const { values } = parseArgs({
      options: { cpu: { type: 'boolean' }, gpu: { type: 'boolean' }, help: { type: 'boolean' } },
    });
    if (values.cpu && values.gpu) throw new Error('--cpu and --gpu exclude each other');
    return values;
  } catch (error) {
    return fail(`${error.message}\n${USAGE}`, 2);
  }
}

/** Ends the program with what is missing, all of it at once. */
function checkMachine() {
  const { platform, arch, report, versions } = process;
  if (platform !== 'linux' || arch !== 'x64' || !report.getReport().header.glibcVersionRuntime)
    fail(`TensorFlow is taken for Linux on x86-64 with glibc; this is ${platform} on ${arch}`);
  const [major, minor] = versions.node.split('.').map(Number);
  const missing = [
    [major > 20 || (major === 20 && minor >= 19), `Node 20.19 or newer (this is ${versions.node})`],
    [process.env.npm_execpath || works('npm', ['--version']), 'npm (Debian and Ubuntu: apt install npm)'],
    [works('python3', ['-c', 'import ensurepip, venv']), 'python3 with venv (apt install python3-venv)'],
    [works(compiler, ['--version']), `${compiler} (apt install g++; CXX names another compiler)`],
    [existsSync(join(root, 'dist', 'src', 'kernel')), 'the built harness (npm run build)'],
  ].flatMap(([there, name]) => (there ? [] : [name]));
  if (missing.length > 0) fail(`missing: ${missing.join('; ')}`);
}

function works(command, args) {
  return spawnSync(command, args, { stdio: 'ignore' }).status === 0;
}

/** Its words go into the log, of which a failure shows the end. */
function step(name, command, args, advice) {
  const begun = performance.now();
  const { status, signal, error, stdout, stderr } = spawnSync(command, args, {
    encoding: 'utf8',
    maxBuffer: 2 ** 28,
  });
  const said = `${stdout ?? ''}${stderr ?? ''}${error?.message ?? ''}`;
  writeFileSync(log, `=== ${name}\n${said}\n`, { flag: 'a' });
  if (status !== 0) {
    const how = signal ?? (error === undefined ? `exit code ${status}` : 'it could not be started');
    fail(
      `${name} failed (${how}):\n${tail(said)}\n${advice === undefined ? '' : `${advice}; `}all of it is in ${log}`,
    );
  }
  say(`${name}: ${((performance.now() - begun) / 1000).toFixed(0)} s`);
}

function tail(text) {
  return text.trimEnd().split('\n').slice(-20).join('\n');
}

function say(text) {
  process.stdout.write(`setup:tfjs: ${text}\n`);
}

function fail(text, code = 1) {
  process.stderr.write(`setup:tfjs: ${text}\n`);
  process.exit(code);
}
