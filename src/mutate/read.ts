// A file of events read again: of a run that goes on, and of the last one whose score `check` names. What a kill has torn, or
// somebody has edited, is left out.
import { isJsonObject } from '../outside/decoded.ts';
import { parseStrict } from '../outside/json.ts';
import { VERDICTS } from '../vocabulary.ts';
import { changeOf, fileOf, isChange, isCount, isFile, isListOf, isText } from './change.ts';
import { type MutateEvent, OUTCOMES } from './events.ts';

export function readMutateEvents(text: string): readonly MutateEvent[] {
  return text.split('\n').flatMap((line) => {
    const parsed = line === '' ? { complaint: '' } : parseStrict(line);
    return 'ok' in parsed && isEvent(parsed.ok) ? [onlyKnown(parsed.ok)] : [];
  });
}

export function mutateLine(event: MutateEvent): string {
  return `${JSON.stringify(event)}\n`;
}

function onlyKnown(event: MutateEvent): MutateEvent {
  if (event.type !== 'mutate-start') return event;
  return { ...event, changes: event.changes.map(changeOf), files: event.files.map(fileOf) };
}

function isEvent(value: unknown): value is MutateEvent {
  if (!isJsonObject(value)) return false;
  switch (value.type) {
    case 'mutate-start':
      return (
        [value.version, value.command, value.started, value.asked].every(isText) &&
        isOptional(value.name, isText) &&
        INSTANT.test(String(value.started)) &&
        isCount(value.seed) &&
        isCount(value.cases) &&
        isListOf(value.files, isFile) &&
        isListOf(value.changes, isChange) &&
        isListOf(value.ops, isText) &&
        isListOf(value.absent, isJsonObject) &&
        value.absent.every(({ id, ops, reason }) => isText(id) && isText(reason) && isListOf(ops, isText))
      );
    case 'baseline':
      return (
        isText(value.id) &&
        VERDICTS.some((verdict) => verdict === value.verdict) &&
        [value.milliseconds, value.slowest, value.requests].every(Number.isFinite) &&
        isText(value.answers) &&
        isJsonObject(value.reached) &&
        Object.values(value.reached).every((files) => isListOf(files, isLines))
      );
    case 'judged':
      return (
        isText(value.id) &&
        OUTCOMES.some((outcome) => outcome === value.outcome) &&
        [value.by, value.reason].every((each) => isOptional(each, isText)) &&
        [value.ops, value.declare, value.follows].every((each) => isOptional(each, isTexts)) &&
        isOptional(value.answers, isText) &&
        isOptional(value.skips, isSkips) &&
        Number.isFinite(value.milliseconds)
      );
    case 'mutate-end':
      return typeof value.interrupted === 'boolean' && Number.isFinite(value.milliseconds);
    default:
      return false;
  }
}

const INSTANT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/;
const isTexts = (value: unknown): boolean => isListOf(value, isText);
const isLines = (value: unknown): value is number[] => isListOf(value, isCount);
const isSkips = (value: unknown): boolean =>
  isJsonObject(value) && isCount(value.properties) && isText(value.reason);
const isOptional = (value: unknown, is: (value: unknown) => boolean): boolean =>
  value === undefined || is(value);
