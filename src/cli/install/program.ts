import { commandHelp } from '#base/command-line.ts';
import { AppError } from '#base/errors.ts';
import { checkServerVersion } from '#cluster/server-version.ts';
import { operatorName } from '#contract/names.ts';
import { payloadKubeletVersion } from '#contract/version.ts';
import { repositoryOf } from '#install/image-reference.ts';
import type { Client } from '#kube/client.ts';
import type { KubeResource } from '#kube/resource.ts';
import { apiRefused } from '../api-refused.ts';
import { manifestText } from '../manifests/manifest-text.ts';
import { oneLine, printable, safe } from '../safe-text.ts';
import { shellWord } from '../shell-quote.ts';
import { openClient } from '../status/connection.ts';
import { countText } from '../status/view/amounts.ts';
import type { ExitCode, LiveTerminal } from '../terminal.ts';
import { type ClusterFacts, readFacts } from './cluster-facts.ts';
import { nameOf, resourceOf } from './kinds.ts';
import { nextSteps } from './next-steps.ts';
import { installLine, type InstallOptions, readInstallOptions } from './options.ts';
import { type InstallPlan, planInstall, type PlannedObject } from './plan-install.ts';
import { checkInstallable } from './refusals.ts';
import { applyOnServer, type FieldConflict } from './server-apply.ts';
import { waitForOperator } from './wait-for-operator.ts';
import { type Wanted, wantedObjects } from './wanted.ts';

/** Runs `wmco install`. */
export async function installProgram(words: readonly string[], terminal: LiveTerminal): Promise<ExitCode> {
  const options = readInstallOptions(words, terminal.environment);
  if (options === undefined) {
    terminal.out(printable(commandHelp(installLine)));
    return 0;
  }
  if (options.act === 'print' && options.platform !== undefined) {
    const { objects } = await wantedObjects(options, terminal.version(), undefined);
    terminal.out(manifestText(objects, 'yaml'), 'data');
    return 0;
  }
  const client = await openClient(options, terminal);
  try {
    return await new InstallSession(options, client, terminal, words).run();
  } catch (error) {
    if (!terminal.signal.aborted) throw apiRefused(error, { permission: 'of a cluster administrator (cluster-admin)' });
    terminal.err(safe`Stopped. What is applied stays; run the command again to continue.\n`);
    return 1;
  } finally {
    await client.close();
  }
}

const maxFields = 4;

class InstallSession {
  readonly #options: InstallOptions;
  readonly #client: Client;
  readonly #terminal: LiveTerminal;
  readonly #words: readonly string[];

  constructor(options: InstallOptions, client: Client, terminal: LiveTerminal, words: readonly string[]) {
    this.#options = options;
    this.#client = client;
    this.#terminal = terminal;
    this.#words = words;
  }

  async run(): Promise<ExitCode> {
    const { namespace, act } = this.#options;
    const deps = { client: this.#client, namespace, signal: this.#terminal.signal };
    const facts = await readFacts(deps);
    await checkInstallable(facts, deps);
    const wanted = await wantedObjects(this.#options, this.#terminal.version(), facts);
    for (const object of wanted.left)
      this.#note(`${nameOf(object)} is left out, because its namespace does not exist.`);
    this.#noteOtherImage(wanted, facts);
    if (act === 'print') return this.#printObjects(wanted, facts);
    this.#print(`Operator ${wanted.image} for ${this.#options.platform ?? facts.platform}, namespace ${namespace}`);
    this.#warnOfVersion(facts);
    const plan = await this.#plan(wanted, facts);
    return act === 'apply' ? this.#apply(plan) : this.#printPlan(plan);
  }

  /** An upgrade that forgets --image would look for the image in another registry. */
  #noteOtherImage({ image }: Wanted, { deployment }: ClusterFacts): void {
    const used = deployment?.spec?.template?.spec?.containers?.[0]?.image;
    if (used === undefined || this.#options.image !== undefined || repositoryOf(used) === repositoryOf(image)) return;
    this.#note(`The operator runs from ${used}; without --image it is replaced by ${image}.`);
  }

  /** The operator does not start there; the objects may be wanted nevertheless, before the cluster is upgraded. */
  #warnOfVersion({ serverVersion }: ClusterFacts): void {
    try {
      checkServerVersion(serverVersion, payloadKubeletVersion);
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      this.#print(`Warning: the operator will not start: ${error.message}. ${error.remedy}`);
    }
  }

  #printObjects({ objects }: Wanted, facts: ClusterFacts): ExitCode {
    const { namespace } = this.#options;
    if (facts.namespace === undefined) {
      this.#note(
        `Namespace ${namespace} does not exist, so the API server refuses what is in it, also in a dry run of kubectl. ` +
          `Run \`kubectl create namespace ${namespace} --save-config\` first, or \`${this.#terminal.command()} install\`, which checks it elsewhere.`,
      );
    }
    this.#terminal.out(manifestText(objects, 'yaml'), 'data');
    return 0;
  }

  async #plan({ objects }: Wanted, facts: ClusterFacts): Promise<InstallPlan> {
    const { namespace } = this.#options;
    const plan = await planInstall(objects, {
      ...this.#applyDeps(),
      client: this.#client,
      namespace,
      hasNamespace: facts.namespace !== undefined,
    });
    if (plan.conflicts.length > 0) throw conflictError(plan.conflicts);
    return plan;
  }

  #printPlan({ planned, obsolete }: InstallPlan): ExitCode {
    for (const each of planned) this.#print(`  ${planText(each)}`);
    this.#printObsolete(obsolete);
    const changes = planned.filter(({ is }) => is !== 'unchanged');
    if (changes.length === 0) {
      this.#print('Everything is installed as it should be.');
      return 0;
    }
    this.#print(
      `The API server accepts ${planned.length === 1 ? 'it' : `all ${planned.length} objects`}; nothing is written yet.`,
    );
    this.#print(`To apply it, run \`${this.#commandLine('--apply')}\`.`);
    return 0;
  }

  async #apply({ planned, obsolete }: InstallPlan): Promise<ExitCode> {
    const { namespace, wait, timeoutMs } = this.#options;
    const { signal, clock } = this.#terminal;
    for (const each of planned) {
      const result = await applyOnServer(each.object, this.#applyDeps(), false);
      if ('conflicts' in result) throw conflictError(result.conflicts);
      this.#print(`  ${doneText(each)}`);
    }
    this.#printObsolete(obsolete);
    const deps = { client: this.#client, namespace, signal, clock, command: this.#terminal.command() };
    if (wait) {
      this.#print(`Waiting for Deployment ${namespace}/${operatorName}`);
      await waitForOperator(timeoutMs, { ...deps, again: this.#commandLine(), print: line => this.#print(line) });
    }
    for (const line of await nextSteps(deps)) this.#print(line);
    return 0;
  }

  /** With the flags that were given: without --image, the one of this version would be applied. */
  #commandLine(...more: readonly string[]): string {
    return [this.#terminal.command(), ...['install', ...this.#words, ...more].map(shellWord)].join(' ');
  }

  #printObsolete(obsolete: readonly KubeResource[]): void {
    if (obsolete.length === 0) return;
    this.#print(
      `${countText(obsolete.length, 'object')} of a former version ${obsolete.length === 1 ? 'is' : 'are'} not needed any more. To delete:`,
    );
    for (const object of obsolete) {
      const { plural, group } = resourceOf(object);
      const { name = '', namespace } = object.metadata;
      const kind = group === '' ? plural : `${plural}.${group}`;
      // Names of roles may contain anything, and a shell reads this.
      this.#print(`  kubectl delete ${kind} ${shellWord(name)}${namespace === undefined ? '' : ` -n ${namespace}`}`);
    }
  }

  #applyDeps() {
    return { client: this.#client, signal: this.#terminal.signal, isForced: this.#options.forceConflicts };
  }

  #print(text: string): void {
    const indent = text.startsWith('  ') ? safe`  ` : safe``;
    this.#terminal.out(safe`${indent}${oneLine(text.trim())}\n`);
  }

  /** Standard output is for the objects. */
  #note(text: string): void {
    this.#terminal.err(safe`note: ${oneLine(text)}\n`);
  }
}

function planText({ object, is, fields }: PlannedObject): string {
  const more = fields.length > maxFields ? ` and ${fields.length - maxFields} more` : '';
  const what = is === 'changed' ? `: ${fields.slice(0, maxFields).join(', ')}${more}` : '';
  return `${is} ${nameOf(object)}${what}`;
}

function doneText({ object, is }: PlannedObject): string {
  return `${is === 'new' ? 'created' : is} ${nameOf(object)}`;
}

function conflictError(conflicts: readonly FieldConflict[]): AppError {
  const list = conflicts.map(({ object, field, manager }) => `${object}: ${field} is set by ${manager}`);
  const message = `${list.slice(0, 5).join('; ')}${list.length > 5 ? `; and ${list.length - 5} more` : ''}`;
  const isReplicas = conflicts.every(({ field }) => field === '.spec.replicas');
  const remedy = isReplicas
    ? 'Pass --replicas with the number that is set, or --force-conflicts to overwrite it.'
    : 'Pass --force-conflicts to overwrite these fields; nothing is written yet.';
  return new AppError('INSTALL_CONFLICT', message, { remedy });
}
