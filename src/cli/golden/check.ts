// `golden check`: the recorded answers beside those of today, as a run that every report can show.
import { GOLDEN_SET } from '../../golden/case.ts';
import { judgeGolden, versionWords } from '../../golden/run.ts';
import { terminalReport } from '../../report/terminal.ts';
import { choosePaint } from '../../report/text/paint.ts';
import { harmless, wrap } from '../../report/text/visible.ts';
import { VERSION } from '../../version.ts';
import { makePlan } from '../check/plan.ts';
import { openRecord, type RecordOptions, type RunRecord } from '../check/record.ts';
import { splitNames } from '../check/select.ts';
import { type Context, isProblem, refuse, say } from '../context.ts';
import { exitCodeOf, HOLDS, NO_VERDICT } from '../exit.ts';
import { widthOfScreen } from '../screen.ts';
import { type Session, sayBundled, withSession } from '../trainer/session.ts';
import { commandOf } from '../trainer/trainer.ts';
import { askingOf, type GoldenOptions, goldenLine, namedIds, openFolder, type Recorded } from './open.ts';

export interface CheckGoldenOptions extends GoldenOptions, RecordOptions {
  readonly rows?: boolean;
  readonly quiet?: boolean;
}

/** The exit code. */
export async function checkGolden(
  options: CheckGoldenOptions,
  rest: readonly string[],
  context: Context,
): Promise<number> {
  const plan = await makePlan(options, rest, context);
  if (isProblem(plan)) return refuse(context, plan);
  const recorded = openFolder(options, context);
  if (isProblem(recorded)) return refuse(context, recorded);
  if (recorded.files.length === 0)
    return refuse(context, {
      problem: `${options.dir} holds no golden files; \`${goldenLine(['record'], options, plan)}\` writes them`,
    });
  const record = openRecord(options, context);
  if (isProblem(record)) return refuse(context, record);
  if (options.quiet !== true)
    say(context, `lossproof ${VERSION} · golden set ${GOLDEN_SET} · ${options.dir}`);
  sayBundled(plan, context);
  try {
    return await withSession(plan, context, (session) =>
      checkWith(session, options, recorded, record, context),
    );
  } finally {
    record.close();
  }
}

async function checkWith(
  session: Session,
  options: CheckGoldenOptions,
  { files }: Recorded,
  record: RunRecord,
  context: Context,
): Promise<number> {
  const { plan, trainer, interrupts } = session;
  const asking = askingOf(session);
  const names = splitNames(options.only ?? ['*']);
  const wanted = namedIds(names, asking, files);
  if (isProblem(wanted)) return refuse(context, wanted);
  const width = widthOfScreen(context);
  const paint = choosePaint(context.out.isTty, context.env);
  const versions = versionWords(files, trainer, asking.tokenizer);
  const quiet = options.quiet === true;
  if (!quiet && versions !== undefined) say(context, ...wrap(harmless(versions), width));
  if (!quiet) say(context, '');
  const again = goldenLine(
    ['check', ...(options.only === undefined ? [] : ['--only', names.join(',')])],
    options,
    plan,
  );
  const replay = { command: '', again, traced: true, golden: true } as const;
  const report = terminalReport({
    write: context.out.write,
    width,
    paint,
    replay,
    live: context.out.isTty && !quiet && !context.env.CI && context.env.TERM !== 'dumb',
    quiet,
    rows: options.rows === true,
    now: () => performance.now(),
  });
  const results = await judgeGolden(
    {
      ...asking,
      files,
      wanted: (id) => wanted.has(id),
      command: commandOf(plan.choice),
      bundled: plan.choice.from === 'bundled',
      replay,
      acceptLine: (id) => goldenLine(['accept', id], options, plan),
      started: new Date().toISOString(),
    },
    (event) => {
      record.emit(event);
      report(event);
    },
  );
  const written = await record.finish();
  const code = exitCodeOf(results, interrupts.signal.aborted);
  if (code === NO_VERDICT)
    context.err.write('lossproof: nothing was compared: the trainer offers no op of these entries\n');
  return code === HOLDS && !written ? NO_VERDICT : code;
}
