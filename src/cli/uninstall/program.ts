import { commandHelp } from '#base/command-line.ts';
import { AppError, shown } from '#base/errors.ts';
import { windowsInstances } from '#cluster/windows-instance-resource.ts';
import type { Client } from '#kube/client.ts';
import type { KubeResource, Resource } from '#kube/resource.ts';
import { customResourceDefinitions, namespaces } from '#kube/resources.ts';
import { apiRefused } from '../api-refused.ts';
import { type ClusterFacts, namespaceOf, readFacts } from '../install/cluster-facts.ts';
import { findGoOperator, findOlmInstallation } from '../install/refusals.ts';
import { createdBy } from '../install/wanted.ts';
import type { Target } from '../remove/target.ts';
import { oneLine, printable, safe } from '../safe-text.ts';
import { shellWord } from '../shell-quote.ts';
import { readCluster } from '../status/cluster-reader.ts';
import { openClient } from '../status/connection.ts';
import { countText } from '../status/view/amounts.ts';
import type { ClusterView } from '../status/view/host-view.ts';
import type { AskingTerminal, ExitCode } from '../terminal.ts';
import { deleteAndWait, type DeleteDeps, deleteObjects } from './delete-objects.ts';
import { foreignObjects } from './foreign-objects.ts';
import { readUninstallOptions, uninstallLine, type UninstallOptions } from './options.ts';
import { nodeObjects, operatorObjects, type OwnObject } from './own-objects.ts';
import { deletionLines, keptLines, removalLines } from './plan-lines.ts';
import { checkNoNodes, refused, removalTargets, removeHosts } from './remove-hosts.ts';

/** Runs `wmco uninstall`. */
export async function uninstallProgram(words: readonly string[], terminal: AskingTerminal): Promise<ExitCode> {
  const options = readUninstallOptions(words, terminal.environment);
  if (options === undefined) {
    terminal.out(printable(commandHelp(uninstallLine)));
    return 0;
  }
  const client = await openClient(options, terminal);
  try {
    return await new UninstallSession(options, client, terminal).run();
  } catch (error) {
    if (!terminal.signal.aborted) throw apiRefused(error, { permission: 'of a cluster administrator (cluster-admin)' });
    terminal.err(safe`Stopped. What was requested goes on; run the command again to continue.\n`);
    return 1;
  } finally {
    await client.close();
  }
}

interface Plan {
  targets: Target[];
  objects: OwnObject[];
  /** Deleted last, if nothing else uses them. */
  last: OwnObject[];
  /** Whether the namespace existed before the installation. */
  keepsNamespace: boolean;
}

class UninstallSession {
  readonly #options: UninstallOptions;
  readonly #terminal: AskingTerminal;
  readonly #deps: DeleteDeps;

  constructor(options: UninstallOptions, client: Client, terminal: AskingTerminal) {
    const { namespace, timeoutMs } = options;
    const { clock, signal } = terminal;
    this.#options = options;
    this.#terminal = terminal;
    this.#deps = { client, namespace, clock, signal, timeoutMs, print: text => this.#print(text) };
  }

  async run(): Promise<ExitCode> {
    const facts = await readFacts(this.#deps);
    await this.#check(facts);
    const hasDefinition = facts.definition !== undefined;
    const view = await readCluster({ ...this.#deps, isDefinitionOptional: !hasDefinition }, this.#deps.signal);
    const plan = await this.#plan(facts, view);
    if (plan.objects.length === 0 && plan.last.length === 0 && plan.targets.length === 0) {
      this.#print(`Nothing to uninstall in namespace ${this.#options.namespace}.`);
      return 0;
    }
    this.#printPlan(plan, view);
    if (this.#options.dryRun) return 0;
    if (!(await this.#isConfirmed())) {
      this.#print('Nothing is deleted.');
      return 1;
    }
    await this.#act(plan, facts);
    return 0;
  }

  async #check(facts: ClusterFacts): Promise<void> {
    const { namespace } = this.#options;
    const olm = await findOlmInstallation(facts, this.#deps);
    if (olm !== undefined) {
      throw refused(`OLM manages the operator: ${olm.objects.join(', ')}`, `Run ${olm.remedy}; nodes stay.`);
    }
    const elsewhere = facts.binding && namespaceOf(facts.binding);
    if (elsewhere !== undefined && elsewhere !== namespace)
      throw refused(`the operator is installed in namespace ${shown(elsewhere)}`, `Use --namespace ${elsewhere}.`);
    const go = await findGoOperator(facts, this.#deps);
    if (go !== undefined)
      throw refused(go.message, `${go.remedy}; this command uninstalls only what \`wmco install\` installs.`);
  }

  async #plan(facts: ClusterFacts, view: ClusterView): Promise<Plan> {
    const objects = await operatorObjects(this.#deps);
    if (!this.#options.removesNodes) return { targets: [], objects, last: [], keepsNamespace: true };
    const { definition, namespace } = facts;
    if (definition === undefined) checkNoNodes(view);
    const targets = removalTargets(view);
    const isOurs = namespace?.metadata.annotations?.[createdBy.key] === createdBy.value;
    return {
      targets,
      objects: [...objects, ...(await nodeObjects(this.#deps))],
      last: [
        ...lastObject(customResourceDefinitions, definition),
        ...(isOurs ? lastObject(namespaces, namespace) : []),
      ],
      keepsNamespace: namespace !== undefined && !isOurs,
    };
  }

  #printPlan({ targets, objects, last }: Plan, view: ClusterView): void {
    const { namespace, removesNodes } = this.#options;
    const lines = removesNodes
      ? removalLines(
          view,
          targets.map(({ host }) => host.name),
        )
      : keptLines(view, namespace);
    for (const line of lines) this.#print(line);
    this.#print('To be deleted:');
    for (const line of deletionLines([...objects, ...last])) this.#print(line);
    for (const note of view.notes) this.#print(`Note: ${note}`);
  }

  async #isConfirmed(): Promise<boolean> {
    const { ask, signal } = this.#terminal;
    if (this.#options.yes) return true;
    if (ask === undefined) {
      throw new AppError('USAGE', 'there is no terminal to confirm the deletion', {
        remedy: 'Pass --yes to uninstall without a question.',
      });
    }
    const answer = await ask(safe`Type yes to uninstall: `).catch((error: unknown) => {
      if (!signal.aborted) throw error;
      return '';
    });
    return answer.trim() === 'yes';
  }

  async #act({ targets, last, keepsNamespace }: Plan, { deployment }: ClusterFacts): Promise<void> {
    const { removesNodes, namespace } = this.#options;
    const print = (line: ReturnType<typeof safe>) => this.#terminal.out(safe`${line}\n`);
    if (targets.length > 0) await removeHosts(targets, { ...this.#deps, print });
    // Read again: the removals have deleted some, and the operator may have written others until it ended.
    await deleteObjects(await operatorObjects(this.#deps), this.#deps);
    if (removesNodes) {
      await deleteObjects(await nodeObjects(this.#deps), this.#deps);
      for (const each of last) await this.#deleteLast(each);
      if (keepsNamespace) this.#print(`Namespace ${namespace} stays, because \`wmco install\` has not made it.`);
    }
    this.#print(
      removesNodes
        ? 'The operator is uninstalled.'
        : `The operator is uninstalled. To continue, run \`${this.#terminal.command()} install --apply -n ${namespace}${imageFlag(deployment)}\`.`,
    );
  }

  async #deleteLast(each: OwnObject): Promise<void> {
    const { client, namespace, signal } = this.#deps;
    if (each.resource === customResourceDefinitions) {
      const { items } = await client.listAll(windowsInstances, { signal });
      if (items.length === 0) return deleteAndWait(each, this.#deps);
      return this.#print(
        `CustomResourceDefinition ${each.object.metadata.name} stays: there ${items.length === 1 ? 'is' : 'are'} ${countText(items.length, 'WindowsInstance')}.`,
      );
    }
    const foreign = await foreignObjects(client, namespace, signal);
    if (foreign.length === 0) return deleteAndWait(each, this.#deps);
    const more = foreign.length > 5 ? ` and ${foreign.length - 5} more` : '';
    this.#print(`Namespace ${namespace} stays, because others use it: ${foreign.slice(0, 5).join(', ')}${more}.`);
  }

  #print(text: string): void {
    const indent = text.startsWith('  ') ? safe`  ` : safe``;
    this.#terminal.out(safe`${indent}${oneLine(text.trim())}\n`);
  }
}

/** Without it, a new installation would look for the image of a release. */
function imageFlag(deployment: ClusterFacts['deployment']): string {
  const image = deployment?.spec?.template?.spec?.containers?.[0]?.image;
  return image === undefined ? '' : ` --image ${shellWord(image)}`;
}

function lastObject(resource: Resource, object: KubeResource | undefined): OwnObject[] {
  return object === undefined ? [] : [{ resource, object: { ...object, kind: resource.kind } }];
}
