import { AppError } from '#base/errors.ts';
import { poll } from '#base/waiting/poll.ts';
import type { DaemonSetName } from '#contract/rollout.ts';
import type { Step } from '../step.ts';
import type { ConfigureJourney } from './journey.ts';

/** Images of Windows have gigabytes. */
const patience = { everyMs: 5000, limitMs: 20 * 60_000 };

/** Pods of a DaemonSet run on cordoned Nodes, too, so that the operator needs no permission to create pods. */
export const awaitImages: Step<ConfigureJourney> = {
  name: 'wait for images',
  description: 'waits until the DaemonSet of the setting prePull runs on the Node, if one is set; goes on after 20 min',
  usualMs: 10 * 60_000,
  limitMs: 30 * 60_000,
  remedy: ({ node, deps }) => checkDaemonSet(node?.name, deps.grants.settings().prePull),
  isDone: ({ deps }) => deps.grants.settings().prePull === undefined,
  async run(journey, { signal, note }) {
    const { deps, joinedNode, address } = journey;
    const { prePull } = deps.grants.settings();
    if (prePull === undefined) return;
    note(`a pod of DaemonSet ${prePull.namespace}/${prePull.name}`);
    const look = async () => ((await deps.nodes.runsPodOf(joinedNode.name, prePull, signal)) ? true : undefined);
    if ((await poll(look, { clock: deps.clock, signal, patience })) === true) return;
    const text = `${address}: DaemonSet ${prePull.namespace}/${prePull.name} has no ready pod on Node ${joinedNode.name}`;
    const problem = new AppError('PRE_PULL_TIMEOUT', `${text}, which takes pods without its images`, {
      remedy: checkDaemonSet(joinedNode.name, prePull),
    });
    deps.log.warn('Not waiting for images any longer', { error: problem });
    journey.prePullProblem = problem;
  },
};

function checkDaemonSet(node = '', { namespace = '', name = '' }: Partial<DaemonSetName> = {}): string {
  const pods = `kubectl get pods -n ${namespace} --field-selector spec.nodeName=${node} -o wide`;
  return `Run \`kubectl describe daemonset ${name} -n ${namespace}\` and \`${pods}\`; its pods must select and tolerate Windows nodes, and their images match the build of the host.`;
}
