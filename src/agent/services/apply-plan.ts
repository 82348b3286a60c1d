import type { Waiting } from '#base/waiting/poll.ts';
import { ensureRunning, ensureStopped, type ServicePorts } from './ensure.ts';
import { BlockedError, type Failures } from './failures.ts';
import type { ServiceAction, ServicesPlan } from './plan.ts';

export interface ServiceWork extends ServicePorts {
  /** Runs the preparations of a service; true when a file that it reads has changed. */
  prepare(name: string): Promise<boolean>;
  /** Records stopped services that WMCO did not install, so that they are started again after a crash of the agent. */
  remember(outside: readonly string[]): Promise<void>;
  /** Adds to the error of a service that does not run what its log says. */
  explain(name: string, error: unknown): Promise<unknown>;
}

/**
 * Runs the actions in order. After a failure, the remaining actions of that service and of those that need it are skipped.
 * Returns the services that still run with an old version of a file.
 */
export async function applyPlan(
  plan: ServicesPlan,
  work: ServiceWork,
  waiting: Waiting,
  failures: Failures,
): Promise<string[]> {
  if (plan.outside.length > 0) await work.remember(plan.outside);
  const [changed, started] = [new Set<string>(), new Set<string>()];
  const unexpected: string[] = [];
  for (const action of plan.actions) {
    waiting.signal.throwIfAborted();
    if (failures.has(action.name)) continue;
    try {
      const blocker = await findBlocker(action, work, failures);
      if (blocker !== undefined) throw new BlockedError(`waits for ${blocker}`);
      if (action.do === 'start') {
        const isStarted = await start(action.name, work, waiting);
        started.add(action.name);
        if (isStarted && wasToRun(action.name, plan)) unexpected.push(action.name);
      } else if (await applyAction(action, work, waiting)) changed.add(action.name);
    } catch (error) {
      waiting.signal.throwIfAborted();
      failures.add(action.name, error);
    }
  }
  if (unexpected.length > 0) work.notices?.onStarted(unexpected);
  if (plan.outside.length > 0) await work.remember(plan.outside.filter(name => !started.has(name)));
  return [...changed].filter(name => !started.has(name) && !failures.has(name));
}

/** Whether a service that is started should have been running: it is neither new nor stopped by the agent. */
function wasToRun(name: string, { actions, outside }: ServicesPlan): boolean {
  const isExpected = actions.some(each => each.name === name && (each.do === 'create' || each.do === 'stop'));
  return !isExpected && !outside.includes(name);
}

async function start(name: string, work: ServiceWork, waiting: Waiting): Promise<boolean> {
  try {
    return await ensureRunning(name, work, waiting);
  } catch (error) {
    throw await work.explain(name, error);
  }
}

type OtherAction = Exclude<ServiceAction, { do: 'start' }>;

async function applyAction(action: OtherAction, work: ServiceWork, waiting: Waiting): Promise<boolean> {
  switch (action.do) {
    case 'stop':
      await ensureStopped(action.name, work, waiting);
      return false;
    case 'create':
      await work.services.create(action.name, action.config);
      return false;
    case 'configure':
      await work.services.configure(action.name, action.config);
      return false;
    case 'prepare':
      return work.prepare(action.name);
    default:
      return action satisfies never;
  }
}

/** A failed dependency that still runs does not block a start. */
async function findBlocker(action: ServiceAction, work: ServiceWork, failures: Failures): Promise<string | undefined> {
  for (const name of action.needs.filter(need => failures.has(need))) {
    const runs = (await work.services.query(name))?.state === 'running';
    if (action.do === 'stop' || !runs) return name;
  }
  return undefined;
}
