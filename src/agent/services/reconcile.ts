import type { Waiting } from '#base/waiting/poll.ts';
import type { Service } from '#contract/services/manifest.ts';
import { sameData } from '#base/compare.ts';
import type { InstalledService, NodeSource } from '../ports.ts';
import { applyPlan, type ServiceWork } from './apply-plan.ts';
import type { ServicePorts } from './ensure.ts';
import { type EnvironmentsPlan, planEnvironments, type ServiceVariables, type WantedVariables } from './environment.ts';
import { Failures } from './failures.ts';
import { type LogFiles, withLastLines } from './service-log.ts';
import { type DesiredService, desiredService, planServices } from './plan.ts';
import { expandService, prepareService, type VariablePorts } from './variables.ts';

export interface ServicesWork extends ServicePorts, VariablePorts {
  /** Services not installed by WMCO that an earlier pass stopped and did not start again. */
  remembered(): Promise<string[]>;
  remember(outside: readonly string[]): Promise<void>;
  /** Changed files: a running service whose command contains one of them is restarted. */
  changedFiles(): Promise<string[]>;
  /** Keeps only these: services that read the others have been restarted. */
  keepChangedFiles(paths: readonly string[]): Promise<void>;
  /** Where services write their logs. */
  files: LogFiles;
  /** Variables of the services; undefined when they are not known, so that those that are set stay. */
  environment: ServiceEnvironment | undefined;
}

export interface ServiceEnvironment extends WantedVariables {
  recorded(): Promise<ServiceVariables[]>;
  record(variables: readonly ServiceVariables[]): Promise<void>;
  /** Writes the registry to disk: a power cut must not bring back variables that are no longer on record. */
  flush(): Promise<void>;
}

/** Brings the services into the desired state. Throws one error with every service that failed. */
export async function reconcileServices(
  services: readonly Service[],
  node: NodeSource | undefined,
  work: ServicesWork,
  waiting: Waiting,
): Promise<void> {
  const failures = new Failures();
  const byName = new Map(services.map(service => [service.name, service]));
  const tools: ServiceWork = {
    services: work.services,
    processes: work.processes,
    ...(work.notices && { notices: work.notices }),
    remember: names => work.remember(names),
    explain: (name, error) => withLastLines(error, byName.get(name)?.command ?? '', work.files),
    prepare: async name => {
      const service = byName.get(name);
      return service !== undefined && prepareService(service, node, work, waiting.signal);
    },
  };
  const changed = await work.changedFiles();
  let wanted = await desiredServices(services, node, work, { waiting, failures, changed });
  // The second round is for services that were running when a preparation changed a file they read.
  for (const round of [1, 2]) {
    const actual = await work.services.list();
    const environments = await recordEnvironments(wanted, actual, work.environment);
    const plan = planServices(environments?.wanted ?? wanted, actual, await work.remembered());
    const outdated = await applyPlan(plan, tools, waiting, failures);
    if (environments !== undefined && failures.isEmpty) await forgetVariables(environments, work.environment);
    if (outdated.length === 0 || round === 2) break;
    wanted = wanted.map(service => ({ ...service, prepares: false, filesChanged: outdated.includes(service.name) }));
  }
  await forgetReadFiles(services, work, failures);
  failures.throwIfAny();
}

/** Recorded before the change, so that an interrupted one is known. */
async function recordEnvironments(
  wanted: readonly DesiredService[],
  actual: readonly InstalledService[],
  environment: ServiceEnvironment | undefined,
): Promise<EnvironmentsPlan | undefined> {
  if (environment === undefined) return undefined;
  const recorded = await environment.recorded();
  const plan = planEnvironments(wanted, actual, recorded, environment);
  if (!sameData(plan.before, recorded)) await environment.record(plan.before);
  return plan;
}

async function forgetVariables({ before, after }: EnvironmentsPlan, environment?: ServiceEnvironment): Promise<void> {
  if (sameData(before, after)) return;
  await environment?.flush();
  await environment?.record(after);
}

/** Keeps the changed files of failed services, so that these are restarted later. */
async function forgetReadFiles(services: readonly Service[], work: ServicesWork, failures: Failures): Promise<void> {
  const changed = await work.changedFiles();
  const failed = services.filter(service => failures.has(service.name));
  const unread = changed.filter(path => failed.some(({ command }) => containsPath(command, path)));
  if (unread.length < changed.length) await work.keepChangedFiles(unread);
}

/** A service whose command cannot be expanded is not changed, but reported. */
async function desiredServices(
  services: readonly Service[],
  node: NodeSource | undefined,
  ports: VariablePorts,
  { waiting, failures, changed }: { waiting: Waiting; failures: Failures; changed: readonly string[] },
): Promise<DesiredService[]> {
  const wanted: DesiredService[] = [];
  for (const service of services) {
    try {
      const command = await expandService(service, node, ports, waiting.signal);
      const filesChanged = changed.some(path => containsPath(command, path));
      wanted.push({ ...desiredService(service, command), filesChanged });
    } catch (error) {
      waiting.signal.throwIfAborted();
      failures.add(service.name, error);
    }
  }
  return wanted;
}

/** True if the command contains the path as a whole. */
function containsPath(command: string, path: string): boolean {
  return new RegExp(`${RegExp.escape(path)}(?![\\w.\\\\-])`, 'i').test(command);
}
