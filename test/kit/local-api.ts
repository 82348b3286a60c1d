import type { Clock } from '../../src/base/clock.ts';
import type { Controller, LocalApi } from '../../src/sandbox/apiserver/ports.ts';
import { startApiServer } from '../../src/sandbox/apiserver/server.ts';

/** The embedded API server with the controllers given, for tests that need no HTTP. Closed at the end of the scope. */
export async function startLocalApi(
  controllers: readonly Controller[],
  clock?: Clock,
): Promise<LocalApi & AsyncDisposable> {
  const server = await startApiServer({ controllers, ...(clock === undefined ? {} : { clock }) });
  return Object.assign(server.api, { [Symbol.asyncDispose]: () => server.close() });
}

/** Lets every controller finish what it has begun and all that follows from it. */
export async function quiet(api: LocalApi): Promise<void> {
  let changes = 0;
  const stop = api.onChange(() => {
    changes += 1;
  });
  for (let before = -1; before !== changes; ) {
    before = changes;
    for (let turn = 0; turn < 5; turn += 1) await new Promise(resolve => setImmediate(resolve));
  }
  stop();
}
