import { AppError } from '#base/errors.ts';
import { nodeAnnotation, operatorAnnotations } from '#contract/names.ts';
import type { NodeView } from '#contract/node.ts';
import { isVersionText } from '#contract/version.ts';
import { valueText } from '../../status/view/amounts.ts';
import { type ClusterView, type HostView, isGood } from '../../status/view/host-view.ts';

/** Whether each Windows host is in a state in which the cluster can be upgraded. */

/** A host of the operator; Windows nodes of others are not its business. */
export function isOurs({ source, node, tone }: HostView, { hasOperator }: Pick<ClusterView, 'hasOperator'>): boolean {
  if (source.kind !== 'Node') return true;
  // Without an operator and its objects, only its marks tell.
  const isMarked = operatorAnnotations.some(annotation => Object.hasOwn(node?.annotations ?? {}, annotation));
  return tone === 'bad' || (hasOperator !== 'yes' && isMarked);
}

/** Why the cluster should not be upgraded now, as far as this host is concerned. */
export function hostProblem(host: HostView, view: ClusterView): AppError | undefined {
  const { name, phase, problem, node, removal } = host;
  const page = `Run \`wmco status ${name}\`, which says what it does, and wait for its end.`;
  if (removal !== undefined)
    return unfit(`host ${name} is being removed`, problem?.remedy || 'Wait until it is gone, or cancel the removal.');
  if (phase === 'Paused') return unfit(`host ${name} is paused`, unpause(name, view.namespace));
  const isExpectedOrphan = host.source.kind === 'Node' && view.hasOperator === 'no';
  if (!isGood(host) && !isExpectedOrphan) {
    const why = problem === undefined ? '' : `: ${problem.code}: ${problem.message}`;
    return unfit(`host ${name} is ${phase}${why}`, problem?.remedy || page);
  }
  if (node === undefined) return unfit(`host ${name} has no Node`, page);
  return nodeProblem(name, node);
}

/** The record may be older than the Node while no operator runs. */
function nodeProblem(host: string, { name, ready, readyMessage = '', annotations }: NodeView): AppError | undefined {
  if (!ready) {
    const why = readyMessage === '' ? '' : `: ${valueText(readyMessage)}`;
    return unfit(`Node ${name} of host ${host} is not Ready${why}`, `Run \`kubectl describe node ${name}\`.`);
  }
  if (!Object.hasOwn(annotations, nodeAnnotation.cordoned)) return undefined;
  return unfit(`Node ${name} of host ${host} was taken out of service by the operator`, 'Wait until it is back.');
}

function unfit(message: string, remedy: string): AppError {
  return new AppError('NODES_UNFIT', message, { remedy });
}

function unpause(name: string, namespace: string): string {
  const patch = `'{"spec":{"paused":false}}'`;
  return `Run \`kubectl patch windowsinstance ${name} -n ${namespace} --type merge -p ${patch}\`.`;
}

export interface HostVersion {
  host: string;
  /** Empty when it is not known. */
  version: string;
  /** Only the Node says so: there is no record. */
  isClaimed: boolean;
  problem: AppError | undefined;
}

/** The record counts; what the Node says is used without one, and compared with it. */
export function hostVersion({ name, instance, node }: HostView): HostVersion {
  const recorded = instance?.status?.version ?? '';
  const text = node?.annotations[nodeAnnotation.version];
  const claimed = isVersionText(text) ? text : '';
  if (recorded === '') return { host: name, version: claimed, isClaimed: claimed !== '', problem: undefined };
  const isOther = claimed !== '' && claimed !== recorded;
  const problem = isOther
    ? new AppError('NODES_DIFFER', `host ${name} has ${recorded} by the record, and its Node claims ${claimed}`, {
        remedy: `Run \`wmco status ${name}\`: it is being upgraded, or the Node lies.`,
      })
    : undefined;
  return { host: name, version: recorded, isClaimed: false, problem };
}
