import { AppError, shown } from '#base/errors.ts';
import { ownMember } from '#base/fields.ts';
import { configMapName, operatorName, prefix } from '#contract/names.ts';
import { isNotFound, unless } from '#kube/api-error.ts';
import type { Client } from '#kube/client.ts';
import type { KubeResource } from '#kube/resource.ts';
import * as kinds from '#kube/resources.ts';
import { type ClusterFacts, namespaceOf } from './cluster-facts.ts';

export interface RefusalDeps {
  client: Client;
  namespace: string;
  signal: AbortSignal;
}

interface Subscription extends KubeResource {
  spec?: { name?: string; package?: string };
}

const operators = 'operators.coreos.com/v1alpha1';
const subscriptions = kinds.ofNamespace<Subscription>(operators, 'Subscription', 'subscriptions');
const versions = kinds.ofNamespace<KubeResource>(operators, 'ClusterServiceVersion', 'clusterserviceversions');

/** How OLM has installed the operator; undefined when it has not. */
export async function findOlmInstallation(
  { hasOlm }: Pick<ClusterFacts, 'hasOlm'>,
  { client, signal }: RefusalDeps,
): Promise<{ objects: string[]; remedy: string } | undefined> {
  if (!hasOlm) return undefined;
  const missing = unless(isNotFound);
  const subscribed = await client.listAll(subscriptions, { signal }).catch(missing);
  // OLM copies the versions of operators for all namespaces into each of them.
  const installed = await client.listAll(versions, { signal, labelSelector: '!olm.copiedFrom' }).catch(missing);
  const objects = [
    ...(subscribed?.items ?? []).filter(({ spec }) => spec?.name === operatorName).map(each => ['subscription', each]),
    ...(installed?.items ?? [])
      .filter(({ metadata: { name = '' } }) => name.startsWith(`${operatorName}.`))
      .map(each => ['clusterserviceversion', each]),
  ] as [string, KubeResource][];
  if (objects.length === 0) return undefined;
  const commands = objects.map(
    ([kind, { metadata }]) =>
      `\`kubectl delete ${kind}.operators.coreos.com ${metadata.name} -n ${metadata.namespace}\``,
  );
  return {
    objects: objects.map(([kind, { metadata }]) => `${kind} ${metadata.namespace}/${metadata.name}`),
    remedy: commands.join(' and '),
  };
}

/** Fails where the operator must not be installed. */
export async function checkInstallable(facts: ClusterFacts, deps: RefusalDeps): Promise<void> {
  const { namespace } = deps;
  const olm = await findOlmInstallation(facts, deps);
  if (olm !== undefined) {
    throw refused(
      `OLM manages the operator: ${olm.objects.join(', ')}`,
      `Upgrade it with OLM, or remove it from OLM with ${olm.remedy}; nodes stay, and this command adopts them.`,
    );
  }
  const elsewhere = facts.binding && namespaceOf(facts.binding);
  if (elsewhere !== undefined && elsewhere !== namespace) {
    throw refused(
      `the operator is installed in namespace ${shown(elsewhere)}`,
      `Use --namespace ${elsewhere}, or uninstall it there first with \`wmco uninstall -n ${elsewhere}\`.`,
    );
  }
  const [ending] = [facts.namespace, facts.definition].filter(
    object => object?.metadata.deletionTimestamp !== undefined,
  );
  if (ending !== undefined) {
    const what = ending === facts.namespace ? 'namespace' : 'CustomResourceDefinition';
    throw refused(
      `${what} ${shown(ending.metadata.name)} is being deleted`,
      `Run the command again when \`kubectl get ${what.toLowerCase()} ${ending.metadata.name}\` does not find it.`,
    );
  }
  const go = await findGoOperator(facts, deps);
  if (go !== undefined) throw refused(go.message, `${go.remedy}; nodes stay, and this command adopts them.`);
}

/** The operator that this one replaces has the same names, and two must not work on the same hosts. */
export async function findGoOperator(
  { deployment }: Pick<ClusterFacts, 'deployment'>,
  { client, namespace, signal }: RefusalDeps,
): Promise<{ message: string; remedy: string } | undefined> {
  if (deployment !== undefined && deployment.metadata.labels?.['app.kubernetes.io/name'] !== operatorName) {
    return {
      message: `Deployment ${namespace}/${operatorName} is that of the Go operator`,
      remedy: `Run \`kubectl delete deployment ${operatorName} -n ${namespace}\``,
    };
  }
  const lock = await client.find(kinds.configMaps, configMapName.leaderLock, { namespace, signal });
  const isOurs = ownMember(lock?.metadata.annotations ?? {}, `${prefix}/lease`) !== undefined;
  const [owner] = lock?.metadata.ownerReferences ?? [];
  if (lock === undefined || isOurs || owner === undefined) return undefined;
  const pod = await client.find(kinds.pods, owner.name, { namespace, signal });
  if (pod === undefined || pod.metadata.uid !== owner.uid) return undefined;
  return {
    message: `the Go operator runs in namespace ${shown(namespace)}: pod ${shown(owner.name)} has the lock ${configMapName.leaderLock}`,
    remedy: `Delete what runs it, such as its Deployment, and pod ${owner.name}`,
  };
}

function refused(message: string, remedy: string): AppError {
  return new AppError('INSTALL_REFUSED', message, { remedy });
}
