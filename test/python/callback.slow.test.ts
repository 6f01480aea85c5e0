// `lossproof.callback.watch` in plain Python, without torch: what a loop is told, and that neither a monitor that is missing or
// dies nor a training that dies leaves anything behind.
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';

/** A log of `steps` steps; from `onset` on the loss leaves what any guess would have, and so does the gradient norm. */
const LOOP = `
import math, os, random, signal, sys, time
from lossproof.callback import watch

draw = random.Random(1)

def logged(step, onset=None):
    loss = 1 + 3 * math.exp(-step / 20) + draw.gauss(0, 0.03)
    norm = 1 + draw.gauss(0, 0.1)
    if onset is not None and step >= onset:
        loss, norm = loss + 5 * (step - onset + 1), 2000 * (1 + draw.random())
    return dict(loss=loss, grad_norm=norm, learning_rate=1e-4)

given = []

def until_found(monitor, onset=40, steps=400):
    for step in range(1, steps):
        given.extend(monitor.log(step, logged(step, onset)))
        if monitor.should_stop:
            return step
        time.sleep(0.02 if step > onset else 0)
`;

test('a healthy loop is told nothing but the verdict, on standard error', async () => {
  const { out, err, code } = await python(`
with watch(policy="stop", max_steps=100) as monitor:
    found = [monitor.log(step, **logged(step)) for step in range(1, 101)]
print(sum(map(len, found)), monitor.should_stop, monitor.verdict["exitCode"], monitor.findings)
`);
  expect(out, err).toBe('0 False 0 []\n');
  expect(err).toMatch(/^lossproof: \d+ rules: \d+ hold, .*\n$/);
  expect(code).toBe(0);
});

test('a loop that diverges is asked to stop, each finding is said once and given once, and `report` has it', async () => {
  const { out, err, folder } = await python(`
with watch(policy="stop") as monitor:
    assert monitor.ready(120)
    stopped = until_found(monitor)
    given.extend(monitor.log(stopped))
    print(stopped > 40, monitor.should_stop, given == monitor.findings, monitor.log(stopped))
print(sorted({finding["level"] for finding in monitor.findings}), monitor.verdict["exitCode"])
`);
  expect(out, err).toMatch(/^True True True \[\]\n\[.*'must'.*\] 1\n$/);
  const said = [...err.matchAll(/^lossproof: (monitor\/\S+) \((must|should)\): .*\n {2}What to do: .+$/gm)];
  expect(new Set(said.map(([, id]) => id)).size).toBe(said.length);
  expect(said.map(([, , level]) => level)).toContain('must');
  expect(err.match(/asked to stop/g)).toHaveLength(1);
  expect(readFileSync(join(folder, '.lossproof/last-run.ndjson'), 'utf8')).toContain('"verdict":"fail"');
});

test('of policy "warn" it is not', async () => {
  const { out, err } = await python(`
with watch() as monitor:
    for step in range(1, 80):
        monitor.log(step, logged(step, 40))
print(monitor.should_stop, len(monitor.findings) > 0)
`);
  expect(out, err).toBe('False True\n');
});

test('scalars of numpy and torch are numbers, and what is no number does no harm', async () => {
  const { out, err } = await python(`
class Scalar:
    def __init__(self, value): self.value = value
    def item(self): return self.value
class Odd:
    def item(self): raise ValueError("many elements")
    def __str__(self): raise RuntimeError
with watch(optimizer=Odd(), nested={"deep": [Odd()]}) as monitor:
    for step in range(1, 60):
        monitor.log(step, [Odd()])
        monitor.log(step, {"loss": Scalar(float("nan")), "odd": Odd(), "none": None, "step": 3, 7: "x"})
print([finding["step"] for finding in monitor.findings if finding["id"] == "monitor/finite-training"])
`);
  expect(out, err).toBe('[1]\n');
});

test.each([
  ['is missing', '"/nowhere/lossproof"', 'not watched: .*there is no such program'],
  ['ends at once', '"false"', 'not watched any more: lossproof has ended \\(exit code 1\\)'],
  ['is another program', '["sh", "-c", "echo hello; cat > /dev/null"]', 'has ended \\(exit code 0\\)'],
])('a monitor that %s is said once, and the loop goes on', async (_, command, said) => {
  const { out, err, code } = await python(`
with watch(policy="stop", command=${command}) as monitor:
    for step in range(1, 2000):
        monitor.log(step, logged(step, 40))
    time.sleep(0.3)
    monitor.log(2000, loss=1)
print(monitor.should_stop, monitor.findings, monitor.verdict)
`);
  expect(out, err).toBe('False [] None\n');
  expect(err).toMatch(new RegExp(`^lossproof: .*${said}.*\n$`));
  expect(code).toBe(0);
});

test('a monitor that hangs costs the loop no time, and is ended', async () => {
  const { out, err } = await python(`
monitor = watch(command=["sh", "-c", "trap '' TERM; sleep 1000 & echo $! > sleeper; wait; sleep 1000"])
began = time.monotonic()
for step in range(100_000):
    monitor.log(step, loss=1.0)
took = time.monotonic() - began
while not os.path.exists("sleeper"): time.sleep(0.01)
import lossproof_monitor._child as child
child.LAST_PATIENCE = 0.5
monitor.close(0.2)
print(took < 30)
`);
  expect(out, err).toBe('True\n');
  expect(err).toContain('more is logged than can be judged');
});

test('a monitor that is killed is said, and the loop goes on', async () => {
  const { out, err } = await python(`
with watch(policy="stop") as monitor:
    assert monitor.ready(120)
    os.kill(monitor._child._process.pid, signal.SIGKILL)
    for step in range(1, 100):
        monitor.log(step, logged(step))
        time.sleep(0.005)
print(monitor.should_stop)
`);
  expect(out, err).toBe('False\n');
  expect(err).toBe('lossproof: the training is not watched any more: lossproof has ended (exit code -9)\n');
});

test('a process that was forked neither holds the monitor open nor ends it', async () => {
  const { out, err } = await python(`
monitor = watch()
assert monitor.ready(120)
worker = os.fork()
if worker == 0:
    monitor.log(1, loss=float("nan"))
    monitor.close()
    time.sleep(1000)
for step in range(1, 60):
    monitor.log(step, logged(step))
print(monitor.close()["exitCode"])
os.kill(worker, signal.SIGKILL)
`);
  expect(out, err).toBe('0\n');
});

test.each([
  ['an exception', 'raise ValueError("out of memory")', 1, true],
  ['Ctrl-C', 'os.kill(os.getpid(), signal.SIGINT); time.sleep(60)', 'SIGINT', true],
  ['os._exit', 'os._exit(3)', 3, false],
  ['a SIGKILL', 'os.kill(os.getpid(), signal.SIGKILL)', 'SIGKILL', false],
  ['a SIGTERM', 'os.kill(os.getpid(), signal.SIGTERM); time.sleep(60)', 'SIGTERM', false],
] as const)(
  'a training that ends by %s leaves no process, and what was found',
  async (_, ending, code, hears) => {
    const run = await python(`
monitor = watch(policy="stop")
assert monitor.ready(120)
until_found(monitor)
open("pid", "w").write(str(monitor._child._process.pid))
${ending}
`);
    expect(run.code, run.err).toBe(code);
    await gone(Number(readFileSync(join(run.folder, 'pid'), 'utf8')));
    const kept = readFileSync(join(run.folder, '.lossproof/last-run.ndjson'), 'utf8');
    expect(kept).toContain('"verdict":"fail"');
    expect(kept).toContain('"type":"run-end"');
    expect(/^lossproof: \d+ rules: /m.test(run.err)).toBe(hears);
  },
);

test('of several processes rank 0 alone is watched', async () => {
  const { out, err } = await python(
    `
with watch(policy="stop") as monitor:
    print(monitor.log(1, loss=float("nan")), monitor.should_stop, monitor.ready(0), monitor.close())
`,
    { RANK: '3' },
  );
  expect([out, err]).toEqual(['[] False False None\n', '']);
});

test('what cannot be meant is said where it is written', async () => {
  const { err } = await python('watch(policy="abort")');
  expect(err).toContain("ValueError: policy: 'abort' is none of warn, stop");
});

test('standard output stays the script’s, but not that of an adapter that the harness started', async () => {
  const script = await python('print("mine")', {}, 'ignore');
  expect(script.out).toBe('mine\n');
  for (const adapter of ['import lossproof', 'from lossproof import op']) {
    const { out, err } = await python(
      '',
      { LOSSPROOF_PIPE: '1' },
      'ignore',
      `${adapter}\nprint("noise", flush=True)`,
    );
    expect([out, err]).toEqual(['', 'noise\n']);
  }
});

test('no random state is touched', async () => {
  const { out, err } = await python(`
random.seed(0)
before = random.getstate()
with watch() as monitor:
    monitor.ready(120)
    for step in range(50):
        monitor.log(step, loss=1.0 / (step + 1))
print(random.getstate() == before)
`);
  expect(out, err).toBe('True\n');
});

// --- helpers ---

const LOADER = resolve('node_modules/jiti/lib/jiti-register.mjs');
const MAIN = resolve('src/cli/main.ts');
const LOSSPROOF = [process.execPath, '--import', LOADER, MAIN].map((word) => `'${word}'`).join(' ');

interface Ran {
  readonly out: string;
  readonly err: string;
  readonly code: number | string | null;
  readonly folder: string;
}

/** The script behind LOOP, in a folder of its own. */
async function python(
  script: string,
  env: Readonly<Record<string, string>> = {},
  stdin: 'pipe' | 'ignore' = 'ignore',
  before = LOOP,
): Promise<Ran> {
  const folder = mkdtempSync(join(tmpdir(), 'loss proof ü '));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  writeFileSync(join(folder, 'train.py'), `${before}\n${script}`);
  const child: ChildProcess = spawn('python3', ['train.py'], {
    cwd: folder,
    stdio: [stdin, 'pipe', 'pipe'],
    env: {
      ...process.env,
      PYTHONPATH: resolve('src/python'),
      PYTHONDONTWRITEBYTECODE: '1',
      LOSSPROOF,
      RANK: '0',
      ...env,
    },
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  const text = { out: '', err: '' };
  child.stdout?.on('data', (chunk: Buffer) => {
    text.out += chunk.toString('utf8');
  });
  child.stderr?.on('data', (chunk: Buffer) => {
    text.err += chunk.toString('utf8');
  });
  const code = await new Promise<number | string | null>((done) =>
    child.on('close', (exit, signal) => done(exit ?? signal)),
  );
  return { ...text, code, folder };
}

async function gone(pid: number): Promise<void> {
  for (;;) {
    const status = existsSync(`/proc/${pid}/status`) ? readFileSync(`/proc/${pid}/status`, 'utf8') : '';
    // Nobody may be there to fetch the end of an orphan.
    if (status.includes('State:\tZ')) return;
    try {
      process.kill(pid, 0);
    } catch {
      return;
    }
    await sleep(20);
  }
}
