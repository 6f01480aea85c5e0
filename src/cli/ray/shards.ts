// How far each shard is, as the driver tells it, and what of that is said: every shard that is lost or refuses by name, at once.
import { isJsonObject } from '../../outside/decoded.ts';
import { parseStrict } from '../../outside/json.ts';
import { seconds } from '../../report/summary.ts';
import { plural } from '../../report/text/plural.ts';
import { harmless } from '../../visible.ts';
import type { Cluster, Said } from './driver.ts';

interface Shard {
  state: 'waiting' | 'running' | 'done' | 'refused' | 'lost';
  /** Its properties that have ended, in the try in hand. */
  judged: number;
  /** Its events end with the end of a run that was not interrupted. */
  whole: boolean;
  since: number;
}

export interface Shards {
  /** What is to be said of it, line by line; `complaints` are for standard error. */
  hear(said: Said): Heard;
  /** `5 of 16 shards done, 2 running · 41 of 120 properties`. */
  progress(): string;
  done(): number;
  /** Numbers of those that have no whole run. */
  missing(): readonly number[];
}

export interface Heard {
  readonly lines: readonly string[];
  readonly complaints: readonly string[];
  /** A node cannot run shards, or a trainer does not start: those to come would end there as quickly. */
  readonly enough?: boolean;
}

const NOTHING: Heard = { lines: [], complaints: [] };

export function shardsOf({ shards: many }: Cluster, properties: number, now: () => number): Shards {
  const all: Shard[] = Array.from({ length: many }, () => ({
    state: 'waiting',
    judged: 0,
    whole: false,
    since: 0,
  }));
  /** What refusing shards said, with the first that said it. */
  const refusals = new Map<string, number>();
  const inState = (...states: readonly Shard['state'][]): number =>
    all.filter(({ state }) => states.includes(state)).length;
  const done = (): number => inState('done');

  function refused(shard: Shard, number: number, sentence: string, stderr: string): Heard {
    shard.state = 'refused';
    const before = refusals.get(stderr);
    refusals.set(stderr, before ?? number);
    const same = before === undefined || stderr === '' ? indented(stderr) : [`  the same as shard ${before}`];
    return { lines: [], complaints: [`shard ${number} of ${many} ${sentence}`, ...same], enough: true };
  }

  function hear(said: Said): Heard {
    const shard = 'shard' in said ? all[said.shard - 1] : undefined;
    if (shard === undefined || !('shard' in said)) return NOTHING;
    const name = `shard ${said.shard} of ${many}`;
    if ('started' in said) {
      Object.assign(shard, { state: 'running', judged: 0, whole: false, since: now() });
      return said.try === 1
        ? NOTHING
        : { lines: [`${name} runs again on ${said.started.node}`], complaints: [] };
    }
    if ('line' in said) {
      const type = typeOf(said.line);
      if (type === 'property-end') shard.judged++;
      if (type === 'run-end') shard.whole = true;
      return NOTHING;
    }
    if ('lost' in said) {
      Object.assign(shard, { state: said.again ? 'waiting' : 'lost', judged: 0, whole: false });
      const where = said.node === null ? '' : ` on ${said.node}`;
      const next = said.again
        ? 'it is run again'
        : said.try === 1
          ? 'it is not run again'
          : `it is not run again after ${plural(said.try, 'try', 'tries')}`;
      return { lines: [], complaints: [`${name} was lost${where}: ${said.lost}; ${next}`] };
    }
    if ('unfit' in said) return refused(shard, said.shard, `cannot run: node ${said.node} ${said.unfit}`, '');
    if (shard.whole) {
      shard.state = 'done';
      const took = seconds(now() - shard.since);
      return {
        lines: [`${name} done on ${said.node}: ${plural(shard.judged, 'property', 'properties')}, ${took}`],
        complaints: [],
      };
    }
    return refused(
      shard,
      said.shard,
      `gave no verdict on ${said.node} (exit code ${said.ended.code})`,
      said.ended.stderr,
    );
  }

  return {
    hear,
    progress() {
      const running = inState('running');
      const judged = all.reduce((sum, shard) => sum + shard.judged, 0);
      const waiting =
        running === 0 && inState('waiting') > 0 ? 'waiting for the cluster' : `${running} running`;
      return `${done()} of ${many} shards done, ${waiting} · ${judged} of ${properties} properties`;
    },
    done,
    missing: () => all.flatMap(({ state }, at) => (state === 'done' ? [] : [at + 1])),
  };
}

/** Of a trainer on another machine, hence shown and not obeyed. */
function indented(text: string): string[] {
  return text === '' ? [] : text.split('\n').map((line) => `  ${harmless(line)}`);
}

function typeOf(line: string): unknown {
  const parsed = parseStrict(line);
  if (!('ok' in parsed) || !isJsonObject(parsed.ok)) return undefined;
  const event = parsed.ok;
  return event.type === 'run-end' && event.interrupted === true ? undefined : event.type;
}
