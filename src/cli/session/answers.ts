// What a session answers: trainers that are open, their properties as tests, verdicts with what a person reads of them.
import { resolve } from 'node:path';
import type { PropertyResult, RunEvent } from '../../check/events.ts';
import { saidOf } from '../../report/failure/failure.ts';
import { runsOf } from '../../report/runs.ts';
import { terminalReport } from '../../report/terminal.ts';
import { PLAIN } from '../../report/text/paint.ts';
import { unjudgedLines } from '../../report/unjudged.ts';
import { FAILING } from '../../vocabulary.ts';
import { type Context, isProblem, type Problem } from '../context.ts';
import { hold, JUDGED } from '../test-runner/hold.ts';
import { openSetting } from '../test-runner/setting.ts';
import { openTestRunner, type TestRunner } from '../test-runner/test-runner.ts';
import { splitCommand } from '../trainer/words.ts';
import type { CheckRequest, HoldRequest, OpenRequest, Request, RunRequest } from './request.ts';

export type Answer = { readonly ok: Readonly<Record<string, unknown>> } | Problem;

export interface Answers {
  /** `tell` hears of what is going on until the answer is there. */
  answer(request: Request, tell: (event: RunEvent) => void): Promise<Answer>;
  /** Every trainer that is open. */
  stopAll(): Promise<void>;
}

export function openAnswers(context: Context): Answers {
  const open = new Map<number, TestRunner>();
  let opened = 0;

  async function start(request: OpenRequest): Promise<Answer> {
    const runner = await opening(request, context);
    if (isProblem(runner)) return { problem: runner.problem };
    opened += 1;
    open.set(opened, runner);
    return { ok: { of: opened, ...openedFacts(runner) } };
  }

  return {
    async answer(request, tell) {
      if (request.do === 'open') return await start(request);
      if (request.do === 'hold') return await held(request, context);
      const runner = open.get(request.of);
      if (runner === undefined) return { problem: `no trainer ${request.of} is open` };
      switch (request.do) {
        case 'check':
          return await checked(runner, request, tell);
        case 'run':
          return await ran(runner, request, tell);
        case 'stop':
          open.delete(request.of);
          await runner.stop();
          return { ok: {} };
      }
    },
    async stopAll() {
      const all = [...open.values()];
      open.clear();
      await Promise.all(all.map((runner) => runner.stop()));
    },
  };
}

// --- helpers ---

async function opening(request: OpenRequest, context: Context): Promise<TestRunner | Problem> {
  const { do: _, command = [], op_timeout, hello_timeout, again, cwd = context.cwd, ...rest } = request;
  const words = typeof command === 'string' ? splitCommand(command) : command;
  if (isProblem(words)) return words;
  return await openTestRunner(await context.properties(), {
    ...rest,
    ...waits({ op_timeout, hello_timeout }),
    command: words,
    cwd,
    env: context.env,
    ...againOf(again),
  });
}

function againOf(again: string | undefined): { readonly again?: (seed: number) => string } {
  return again === undefined ? {} : { again: (seed) => again.replaceAll('{seed}', String(seed)) };
}

function waits({
  op_timeout,
  hello_timeout,
}: {
  readonly op_timeout: number | undefined;
  readonly hello_timeout: number | undefined;
}): { readonly opTimeout?: number; readonly helloTimeout?: number } {
  return {
    ...(op_timeout === undefined ? {} : { opTimeout: op_timeout }),
    ...(hello_timeout === undefined ? {} : { helloTimeout: hello_timeout }),
  };
}

function openedFacts({ setting, whose, stages, strangers }: TestRunner): Readonly<Record<string, unknown>> {
  return {
    trainer: whose,
    cases: setting.cases,
    stages: stages.map(({ stage, tests, lacking }) => ({
      stage,
      properties: tests.map(({ id, title, level }) => ({ id, title, level })),
      unsupported: lacking.map(({ property: { id, title, level }, why }) => ({ id, title, level, why })),
    })),
    strangers,
  };
}

async function checked(
  runner: TestRunner,
  { property: id, seed, cases }: CheckRequest,
  tell: (event: RunEvent) => void,
): Promise<Answer> {
  const property = runner.stages.flatMap(({ tests }) => tests).find((each) => each.id === id);
  if (property === undefined)
    return { problem: `${id} is none of the properties that this trainer is tested for` };
  let unjudged: readonly string[] = [];
  const result = await runner.check(property, seed, cases, (event) => {
    tell(event);
    if (event.type === 'run-end') unjudged = unjudgedLines(event);
  });
  const fails = FAILING.includes(result.verdict);
  return {
    ok: { ...verdictOf(result), unjudged, ...(fails ? { text: await runner.explain(result, seed) } : {}) },
  };
}

/** All that was chosen, as one run: what its properties know of each other is told. */
async function ran(
  runner: TestRunner,
  { seed, cases }: RunRequest,
  tell: (event: RunEvent) => void,
): Promise<Answer> {
  const events: RunEvent[] = [];
  const written: string[] = [];
  const report = terminalReport({
    write: (text) => void written.push(text),
    width: WIDTH,
    paint: PLAIN,
    replay: {
      ...runner.setting.replay,
      ...(runner.again === undefined ? {} : { again: runner.again(seed) }),
    },
    live: false,
    quiet: false,
    judgedOnly: true,
    now: () => performance.now(),
  });
  const results = await runner.checkAll(seed, cases, (event) => {
    tell(event);
    if (event.type === 'progress' || event.type === 'shrinking') return;
    events.push(event);
    report(event);
  });
  const { htmlFragment } = await import('../../report/html/run/fragment.ts');
  return {
    ok: {
      verdicts: results.map(verdictOf),
      text: written.join(''),
      html: htmlFragment(runsOf(events)),
    },
  };
}

async function held(request: HoldRequest, context: Context): Promise<Answer> {
  const { do: _, command = [], cwd = context.cwd, label, keep = true, what, seed, ...rest } = request;
  const { op_timeout, hello_timeout, again, ...options } = rest;
  const words = typeof command === 'string' ? splitCommand(command) : command;
  if (isProblem(words)) return words;
  const place = {
    cwd,
    env: context.env,
    keep,
    ...waits({ op_timeout, hello_timeout }),
    ...(label === undefined ? {} : { label }),
  };
  const setting = await openSetting(words, place);
  if (isProblem(setting)) return { problem: setting.problem };
  try {
    const known = options.known === undefined ? {} : { known: resolve(cwd, options.known) };
    const asked = { catalogue: await context.properties(), what, seed, keep, ...againOf(again) };
    const { kind, words: said } = await hold(setting, asked, { ...options, ...known });
    return { ok: { kind, words: said } };
  } finally {
    await setting.trainer.stop();
  }
}

/** As wide as a notebook's cell is. */
const WIDTH = 100;

function verdictOf(result: PropertyResult): Readonly<Record<string, unknown>> {
  const { id, title, level, verdict, reason, cases, failure, fixed } = result;
  return {
    id,
    title,
    level,
    verdict,
    fails: FAILING.includes(verdict),
    judged: JUDGED.includes(verdict),
    cases,
    sentence: saidOf(failure) ?? reason ?? '',
    ...(reason === undefined ? {} : { reason }),
    ...(failure === undefined ? {} : { failure }),
    ...(fixed.length === 0 ? {} : { fixed }),
  };
}
