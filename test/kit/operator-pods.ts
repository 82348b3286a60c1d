import { setTimeout as delay } from 'node:timers/promises';
import { operatorName } from '../../src/contract/names.ts';
import { ApiError } from '../../src/kube/api-error.ts';
import type { Client } from '../../src/kube/client.ts';
import { type Pod, pods } from '../../src/kube/resources.ts';

/** What the kubelet reports about a pod of the operator. */
export const podStates = {
  runs: {
    conditions: [
      { type: 'PodScheduled', status: 'True' },
      { type: 'Ready', status: 'True' },
    ],
    phase: 'Running',
    containerStatuses: [containerStatus({ ready: true, state: { running: { startedAt: '2026-07-01T12:00:00Z' } } })],
  },
  hasNoImage: {
    phase: 'Pending',
    containerStatuses: [
      containerStatus({
        state: { waiting: { reason: 'ImagePullBackOff', message: 'Back-off pulling image "registry/none:v1"' } },
      }),
    ],
  },
  crashes: {
    phase: 'Running',
    containerStatuses: [
      containerStatus({
        restartCount: 3,
        state: { waiting: { reason: 'CrashLoopBackOff', message: 'back-off 40s restarting' } },
        lastState: {
          terminated: { exitCode: 1, message: 'starting\nerror: proxy http://me:planted-login@proxy:80 refuses\n' },
        },
      }),
    ],
  },
} as const satisfies Record<string, Pod['status']>;

function containerStatus(more: Record<string, unknown>): object {
  return { name: 'manager', image: 'i', imageID: '', ready: false, restartCount: 0, ...more };
}

/** Takes the place of scheduler and kubelet for pods of the operator, which the real controllers make. */
export function runOperatorPods(
  client: Client,
  namespace: string,
): AsyncDisposable & { become(next: keyof typeof podStates): void } {
  const end = new AbortController();
  let state: keyof typeof podStates = 'runs';
  const running = (async () => {
    while (!end.signal.aborted) {
      await report(client, namespace, podStates[state]).catch(unlessGone);
      await delay(50, undefined, { signal: end.signal }).catch(() => undefined);
    }
  })();
  return {
    become: next => void (state = next),
    [Symbol.asyncDispose]: async () => {
      end.abort();
      await running;
    },
  };
}

async function report(client: Client, namespace: string, status: object): Promise<void> {
  const { items } = await client.list(pods, { namespace, labelSelector: `name=${operatorName}` });
  for (const { metadata } of items) {
    const options = { namespace, subresource: 'status' };
    await client.patch(pods, metadata.name ?? '', { type: 'merge', body: { status } }, options);
  }
}

/** A pod that ended meanwhile. */
function unlessGone(error: unknown): void {
  if (!(error instanceof ApiError && [404, 409].includes(error.code))) throw error;
}
