import type { Clock } from '#base/clock.ts';
import { AppError } from '#base/errors.ts';
import { operatorName } from '#contract/names.ts';
import type { Client } from '#kube/client.ts';
import { deployments, pods } from '#kube/resources.ts';
import { durationText } from '../status/view/amounts.ts';
import { type Rollout, rolloutOf } from './rollout.ts';

export interface WaitDeps {
  client: Pick<Client, 'find' | 'list'>;
  namespace: string;
  clock: Clock;
  signal: AbortSignal;
  print: (line: string) => void;
  /** The command line that waits again, for remedies. */
  again: string;
}

const [intervalMs, silenceMs] = [1000, 5000];

/** Prints how far the Deployment is until it is available. */
export async function waitForOperator(timeoutMs: number, deps: WaitDeps): Promise<void> {
  const { clock, signal, print } = deps;
  const startMs = clock.monotonicMs();
  let [shownText, shownMs] = ['', Number.NEGATIVE_INFINITY];
  for (;;) {
    const rollout = await read(deps);
    const passedMs = clock.monotonicMs() - startMs;
    if (rollout.isDone) return print(`The operator runs: ${rollout.text}.`);
    const text = rollout.problem === undefined ? rollout.text : `${rollout.text}; ${rollout.problem.text}`;
    if (text !== shownText || clock.monotonicMs() - shownMs >= silenceMs) {
      print(`  ${durationText(passedMs)}: ${text}`);
      [shownText, shownMs] = [text, clock.monotonicMs()];
    }
    if (passedMs >= timeoutMs) throw unfinished(rollout, timeoutMs, deps);
    await clock.sleep(Math.min(intervalMs, timeoutMs - passedMs), signal);
  }
}

async function read({ client, namespace, signal }: WaitDeps): Promise<Rollout> {
  const deployment = await client.find(deployments, operatorName, { namespace, signal });
  const { items } = await client.list(pods, { namespace, labelSelector: `name=${operatorName}`, signal });
  return rolloutOf(deployment, items);
}

function unfinished({ text, problem }: Rollout, timeoutMs: number, { namespace, again }: WaitDeps): AppError {
  const reason = problem?.text ?? text;
  const remedy = problem?.remedy ?? `Run \`kubectl describe pods -n ${namespace}\`.`;
  return new AppError(
    'INSTALL_UNFINISHED',
    `Deployment ${namespace}/${operatorName} is not available after ${durationText(timeoutMs)}: ${reason}`,
    { remedy: `${remedy} Everything is applied; \`${again}\` waits again.` },
  );
}
