import { Reflector, type ReflectorOptions } from '#kube/informer/reflector.ts';
import { keyOf, keyText } from '#kube/resource.ts';
import { manualClock, settle } from './manual-clock.ts';
import { recordedLog } from './recorded-log.ts';
import { ScriptedApi, type Thing, things } from './scripted-api.ts';

export const reset = () => new Error('ECONNRESET');

/** Runs a reflector against the server; what it sees can be looked at. */
export async function follow(api: ScriptedApi, options: Partial<ReflectorOptions<Thing>> = {}) {
  const clock = manualClock();
  const [stopping, seen, recorded] = [new AbortController(), new Map<string, Thing>(), recordedLog()];
  const reflector = new Reflector<Thing>({
    client: api,
    resource: things,
    clock,
    random: () => 0,
    log: recorded.log,
    sink: {
      replaceAll: objects => {
        seen.clear();
        for (const object of objects) seen.set(keyText(keyOf(object)), object);
      },
      put: object => seen.set(keyText(keyOf(object)), object),
      remove: object => seen.delete(keyText(keyOf(object))),
    },
    ...options,
  });
  const running = reflector.run(stopping.signal);
  await settle();
  const values = () => Object.fromEntries([...seen].map(([key, { data }]) => [key.replace('ns/', ''), data.value]));
  const calls = () =>
    api.calls.map(({ verb, options: { resourceVersion, ...asked } }) => {
      const initial = 'sendInitialEvents' in asked ? '+initial' : '';
      return `${verb}${initial}@${resourceVersion ?? ''}`;
    });
  const stop = async () => {
    stopping.abort();
    await running;
  };
  return { clock, reflector, seen, log: recorded.lines, values, calls, stop, stopping, running };
}

export function apiWith(...names: string[]): ScriptedApi {
  const api = new ScriptedApi();
  for (const name of names) api.put(name);
  return api;
}
