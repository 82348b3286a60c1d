import type { Clock } from '../../src/base/clock.ts';
import { systemClock } from '../../src/base/clock.ts';
import { customResourceDefinitions, namespaces } from '../../src/kube/resources.ts';
import type { Controller, LocalApi } from '../../src/sandbox/apiserver/ports.ts';
import { definitions } from '../../src/sandbox/machines/initial-objects/definitions.ts';
import { quiet, startLocalApi } from './local-api.ts';

/** An API server that knows the kinds of OpenShift, with the controllers given. Closed at the end of the scope. */
export async function startOpenshiftApi(
  controllers: readonly Controller[],
  clock: Clock = systemClock,
): Promise<LocalApi & AsyncDisposable> {
  const api = await startLocalApi([], clock);
  for (const definition of definitions()) api.create(customResourceDefinitions, definition);
  for (const name of ['openshift-machine-api', 'kube-node-lease']) {
    if (api.get(namespaces, { namespace: '', name }) === undefined) api.create(namespaces, { metadata: { name } });
  }
  await quiet(api);
  for (const controller of controllers) controller.start(api);
  const close = api[Symbol.asyncDispose];
  return Object.assign(api, {
    [Symbol.asyncDispose]: () => {
      for (const controller of controllers) controller.stop();
      return close();
    },
  });
}
