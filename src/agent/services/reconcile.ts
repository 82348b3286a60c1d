import type { Service } from '#contract/services/manifest.ts';
import type { Waiting } from '../ports.ts';
import { carryOutPlan, type ServiceWork } from './carry-out.ts';
import type { ServicePorts } from './ensure.ts';
import { Failures } from './failures.ts';
import { type DesiredService, desiredService, planServices } from './plan.ts';
import { expandService, type NodeSource, prepareService, type VariablePorts } from './variables.ts';

export interface ServicesWork extends ServicePorts, VariablePorts {
  /** Services of others that an earlier pass stopped and did not start again. */
  remembered(): Promise<string[]>;
  remember(outside: readonly string[]): Promise<void>;
}

/** Makes the host run the services wanted, as wanted. Throws one error that tells of every service that failed. */
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
    remember: names => work.remember(names),
    prepare: async name => {
      const service = byName.get(name);
      return service !== undefined && prepareService(service, node, work, waiting.signal);
    },
  };
  let wanted = await desire(services, node, work, { waiting, failures });
  // The second round is for services that ran already when a file they read was changed.
  for (const round of [1, 2]) {
    const plan = planServices(wanted, await work.services.list(), await work.remembered());
    const outdated = await carryOutPlan(plan, tools, waiting, failures);
    if (outdated.length === 0 || round === 2) break;
    wanted = wanted.map(service => ({ ...service, prepares: false, filesChanged: outdated.includes(service.name) }));
  }
  failures.throwIfAny();
}

/** A service whose command cannot be expanded is left as it is and reported. */
async function desire(
  services: readonly Service[],
  node: NodeSource | undefined,
  ports: VariablePorts,
  { waiting, failures }: { waiting: Waiting; failures: Failures },
): Promise<DesiredService[]> {
  const wanted: DesiredService[] = [];
  for (const service of services) {
    try {
      wanted.push(desiredService(service, await expandService(service, node, ports, waiting.signal)));
    } catch (error) {
      waiting.signal.throwIfAborted();
      failures.add(service.name, error);
    }
  }
  return wanted;
}
