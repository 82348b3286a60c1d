import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { expect } from 'vitest';
import type { InstalledService, ServiceConfig } from '../../../src/agent/ports.ts';
import { agentRecovery } from '../../../src/contract/agent-command.ts';
import { managedDescription } from '../../../src/contract/names.ts';
import { buildAgent } from '../../../tools/build-agent/build-agent.ts';
import type { Outcome } from '../../kit/winhost/command.ts';
import type { WindowsHost } from '../../kit/winhost/host.ts';
import type { Behavior, Call, CallResult, Cycles, CycleOptions } from './service-lab-input.ts';

export const program = 'C:\\lab\\service-lab.exe';

/** Controls the program service-lab.ts on a host. */
export class ServiceLab {
  readonly host: WindowsHost;

  constructor(host: WindowsHost) {
    this.host = host;
  }

  async install(): Promise<void> {
    const { path } = await buildAgent({ entry: join(import.meta.dirname, 'service-lab.ts') });
    await this.host.drive.copyIn(path, program);
  }

  /** Runs calls one after the other in a new process and returns their results. */
  async outcomes(...calls: Call[]): Promise<CallResult[]> {
    return JSON.parse(await this.host.run(await this.#line('call', calls), { timeoutMs: 120_000 })) as CallResult[];
  }

  /** For calls that must succeed. */
  async values(...calls: Call[]): Promise<unknown[]> {
    const results = await this.outcomes(...calls);
    expect(results.filter(result => 'code' in result)).toEqual([]);
    return results.map(result => ('value' in result ? result.value : undefined));
  }

  async value(...call: Call): Promise<unknown> {
    return (await this.values(call))[0];
  }

  /** The service from the adapter. */
  async listed(name: string): Promise<InstalledService | undefined> {
    return ((await this.value('list')) as InstalledService[]).find(service => service.name === name);
  }

  async cycle(name: string, times: number, runMs: readonly number[] = [0]): Promise<Cycles> {
    const line = await this.#line('cycle', { name, times, runMs } satisfies CycleOptions);
    return JSON.parse(await this.host.run(line, { timeoutMs: times * 5000 })) as Cycles;
  }

  /** Runs the program as that service by hand. */
  async runByHand(behavior: Behavior): Promise<Outcome> {
    return this.host.exec(await this.#line('service', behavior));
  }

  /** Creates a service with the program. */
  async create(behavior: Behavior, over: Partial<ServiceConfig> = {}): Promise<void> {
    const { name } = behavior;
    await this.values(['create', name, { ...configOf(name, serviceCommand(behavior)), ...over }]);
  }

  /** Notes of a service of the program, without process ids. */
  notes(log: string): string[] {
    const lines = this.host.drive.read(log)?.trim().split('\n') ?? [];
    return lines.map(line => line.replace(/^\d+ /, ''));
  }

  /** Process ids of the program. */
  async processes(name = 'service-lab.exe'): Promise<number[]> {
    const lines = (await this.host.run('tasklist')).split('\n').filter(line => line.startsWith(name));
    return lines.map(line => Number(/\s(\d+)\s/.exec(line)?.[1]));
  }

  async #line(verb: string, input: unknown): Promise<string> {
    const file = `C:\\lab\\input-${randomUUID()}.json`;
    await this.host.drive.write(file, JSON.stringify(input));
    return `${program} ${verb} @${file}`;
  }
}

export function serviceCommand(behavior: Behavior): string {
  return `${program} service ${encoded(behavior)}`;
}

/** Input that fits into a command line. */
export function encoded(input: unknown): string {
  return Buffer.from(JSON.stringify(input)).toString('base64');
}

export function configOf(name: string, command: string): ServiceConfig {
  return {
    command,
    description: managedDescription(name),
    dependencies: [],
    startType: 'manual',
    recovery: agentRecovery,
  };
}
