// JSON lines: one object per line, of metrics or of a rollout, with other text between; or what programs print for people, dicts of
// metrics and lines of names and numbers. A line counts once it has its end, or, at the end of the file, once it is an object: no
// beginning of an object is one.
import type { JsonObject } from '../../../protocol/result.ts';
import { roleOf } from '../../roles.ts';
import type { LogSink, SeriesRole } from '../../series.ts';
import { type Bar, parseBar } from '../printed/bar.ts';
import { bars, MOST_BARS } from '../printed/bars.ts';
import { parsePairs } from '../printed/pairs.ts';
import { parsePythonDict } from '../printed/python-dict.ts';
import { type Complain, LARGEST_RECORD, type Reader } from '../reader.ts';
import { numberLines } from './number-lines.ts';
import { meaningOf, type ObjectReader, objectReader, PASSES, parseObject, rankOfStep } from './objects.ts';

export interface LineOptions {
  /** As samples name it. */
  readonly path: string;
  readonly run: string;
}

export function jsonLinesReader({ path, run }: LineOptions, sink: LogSink, complain: Complain): Reader {
  /** Who tells a metric. Objects and dicts are believed before all. */
  const told = new Map<string, Teller>();
  const overheard: LogSink = {
    series(of, name) {
      told.set(meaningOfMetric(name), 'objects');
      return sink.series(of, name);
    },
    point: sink.point.bind(sink),
    sample: sink.sample.bind(sink),
    declare: sink.declare.bind(sink),
    complain: sink.complain.bind(sink),
  };
  const fast = numberLines(run, overheard);
  const objects = objectReader(run, overheard);
  const printed = objectReader(run, sink);
  const drawn = bars();
  /** Of bars of progress that are told apart, by their titles. */
  const others = new Map<string, ObjectReader>();
  const place = (): string => `${path} line ${line}`;
  let line = 0;
  /** In a line that is done with, too long or read at the end of the file: what follows up to its end belongs to it. */
  let passing = false;
  let other = 0;
  let firstOther = 0;
  let saidOther = false;
  let saidUnstepped = false;
  /** Printed lines of training so far that name no step but a pass over the data. */
  let logged = 0;
  /** The last step that a printed line has named. */
  let last: number | undefined;
  let saidPasses = false;
  let saidAside = false;

  function unstepped(): void {
    if (saidUnstepped) return;
    saidUnstepped = true;
    complain(
      `Line ${line} names no step (step, global_step, _step, iteration…); the number of the line is taken for it.`,
    );
  }

  /** Of the line bytes[from, to), of which more may come unless it has `ended`; whether it is one of metrics or a sample. */
  function take(bytes: Uint8Array, from: number, to: number, ended: boolean): boolean {
    let start = from;
    while (start < to && (bytes[start] as number) <= SPACE && bytes[start] !== ESCAPE) start++;
    if (start === to) return ended;
    if (bytes[start] === OPEN && fast.read(bytes, start, to, line)) {
      if (!fast.stepped()) unstepped();
      return true;
    }
    if (ended) start = takeWrittenOver(bytes, start, to);
    if (bytes[start] !== OPEN && !ended) return false;
    return takeText(utf8.decode(bytes.subarray(start, to)));
  }

  /** Of a line, of what was written over, or of what was printed behind a bar of progress. */
  function takeText(text: string): boolean {
    const written = text.replace(CODES, '').trimEnd();
    if (written === '') return true;
    if (written.startsWith('{')) return takeObject(written);
    const bar = parseBar(written);
    if (bar !== undefined) {
      takeBar(bar);
      return takeText(bar.rest);
    }
    const metrics = parsePairs(written);
    if (metrics !== undefined) pushPrinted(metrics);
    return metrics !== undefined;
  }

  function takeObject(text: string): boolean {
    let object = parseObject(text);
    if (object === undefined) {
      const dict = parsePythonDict(text);
      if (dict === undefined) return false;
      object = atStep(dict);
    }
    const pushed = objects.push(object, line, place());
    if (pushed === 'points' && objects.stepOf(object) === undefined) unstepped();
    return true;
  }

  /** What is written over, as bars of progress are, counts as well; where the line begins that is written last. */
  function takeWrittenOver(bytes: Uint8Array, from: number, to: number): number {
    let start = from;
    for (;;) {
      const length = bytes.subarray(start, to - 1).indexOf(RETURN);
      if (length < 0) return start;
      takeText(utf8.decode(bytes.subarray(start, start + length)));
      start += length + 1;
    }
  }

  function takeBar(bar: Bar): void {
    if (bar.aside && !saidAside) {
      saidAside = true;
      complain(`Bars of progress that by their title are of no training, as "${bar.title}", are not read.`);
    }
    const news = drawn.draw(bar);
    if (news === undefined) return;
    const apart = news.run !== '';
    if (!apart) last = news.step;
    const metrics = Object.entries(news.metrics).filter(([name]) => apart || mayTell(name, 'bars'));
    if (metrics.length === 0) return;
    const { push } = apart ? readerOf(news.run) : printed;
    push({ step: news.step, ...Object.fromEntries(metrics) }, line, place());
  }

  function readerOf(title: string): ObjectReader {
    const known = others.get(title);
    if (known !== undefined) return known;
    const name = `${run} (${title})`;
    const further = others.size + 2 === MOST_BARS ? ' Further ones are not read.' : '';
    complain(`Another progress bar shows a training: it is judged separately, as ${name}.${further}`);
    const reader = objectReader(name, sink);
    others.set(title, reader);
    return reader;
  }

  function pushPrinted(metrics: JsonObject): void {
    // Of a pass among steps, its training is summed up, and its evaluation is news.
    const among = last !== undefined && rankOfStep(metrics) >= PASSES;
    const news = Object.entries(metrics).filter(
      ([name]) => !isSeries(name) || mayTell(name, among && !roleOf(name).evaluation ? 'passes' : 'lines'),
    );
    if (news.some(([name]) => isSeries(name))) printed.push(atStep(Object.fromEntries(news)), line, place());
  }

  /** What somebody else tells already is the same once more. */
  function mayTell(name: string, by: Teller): boolean {
    const metric = meaningOfMetric(name);
    if (!told.has(metric)) told.set(metric, by);
    return told.get(metric) === by;
  }

  /**
   * What names no step but an epoch, which is rounded, belongs to the last step that was named; where none is, it is counted:
   * those that tell of training, or of what belongs to them.
   */
  function atStep(metrics: JsonObject): JsonObject {
    if (rankOfStep(metrics) < PASSES) {
      last = objects.stepOf(metrics);
      return metrics;
    }
    if (last !== undefined) return { ...metrics, step: last };
    if (tellsTraining(metrics)) logged += 1;
    return { ...metrics, step: logged };
  }

  function read(bytes: Uint8Array): number {
    let from = 0;
    for (;;) {
      const end = bytes.indexOf(NEWLINE, from);
      if (end < 0) break;
      if (passing) passing = false;
      else {
        line += 1;
        if (!take(bytes, from, end, true)) {
          other += 1;
          if (other === 1) firstOther = line;
        }
      }
      from = end + 1;
    }
    if (passing) return bytes.length;
    // A bar has ended where it is written over; a return at the end may be that of the line.
    if (bytes.length > from && bytes[from] !== OPEN) from = takeWrittenOver(bytes, from, bytes.length);
    if (bytes.length - from < LARGEST_RECORD) return from;
    line += 1;
    passing = true;
    complain(`Line ${line} is longer than ${LARGEST_RECORD / 2 ** 20} MiB; it is passed over.`);
    return bytes.length;
  }

  function pause(rest: Uint8Array): number {
    if (logged > 0 && last === undefined && !saidPasses) {
      saidPasses = true;
      complain(
        'Printed lines name no step: they are counted instead. The log files of the trainer have the steps.',
      );
    }
    if (other > 0 && !saidOther) {
      saidOther = true;
      complain(
        other === 1
          ? `Line ${firstOther} is no JSON object and no line of metrics; it is passed over.`
          : `${other} lines are no JSON objects and no lines of metrics; they are passed over. The first is line ${firstOther}.`,
      );
    }
    if (passing || rest.length === 0) return 0;
    line += 1;
    if (!take(rest, 0, rest.length, false)) {
      line -= 1;
      return 0;
    }
    passing = true;
    return rest.length;
  }

  return { read, pause };
}

type Teller = 'objects' | 'lines' | 'passes' | 'bars';

/** transformers sums a training up in a dict with its time. */
function tellsTraining(metrics: JsonObject): boolean {
  if ('train_runtime' in metrics) return false;
  return Object.keys(metrics).some((name) => {
    const { role, evaluation } = roleOf(name);
    return role !== undefined && OF_TRAINING.has(role) && !evaluation;
  });
}

const OF_TRAINING: ReadonlySet<SeriesRole> = new Set([
  'loss',
  'sft_loss',
  'policy_loss',
  'value_loss',
  'reward',
]);

const isSeries = (name: string): boolean => meaningOf(name) === 'series';

/** Two names of the same thing have the same. */
function meaningOfMetric(name: string): string {
  const { role, part, evaluation } = roleOf(name);
  return role === undefined ? name : `${role} ${part} ${evaluation}`;
}

/** What moves the cursor and sets colours, before a line. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they begin with it
const CODES = /^(?:\s|\u001b\[[0-9;]*[A-Za-z])+/;
const NEWLINE = 0x0a;
const RETURN = 0x0d;
const ESCAPE = 0x1b;
const SPACE = 0x20;
const OPEN = 0x7b;
const utf8 = new TextDecoder();
