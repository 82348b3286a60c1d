import type { ServiceConfig } from '../../src/agent/ports.ts';
import type { Program } from '../../src/sandbox/machines/host/process.ts';
import { SimulatedProcesses } from '../../src/sandbox/machines/host/processes.ts';
import { type ServiceRecord, SimulatedServices } from '../../src/sandbox/machines/host/services.ts';
import { whenAborted } from '../../src/base/waiting/deadline.ts';
import { idleProgram } from '../../src/sandbox/machines/programs/idle.ts';
import { type ManualClock, manualClock } from './manual-clock.ts';

const times = { serviceStartMs: 400, serviceStopMs: 200 };
export const serviceConfig = (over: Partial<ServiceConfig> = {}): ServiceConfig => ({
  command: 'idle.exe',
  description: '',
  dependencies: [],
  startType: 'automatic',
  recovery: undefined,
  ...over,
});

/** Programs by the word that stands for their command. */
const programs: Record<string, Program> = {
  'idle.exe': idleProgram,
  'failing.exe': async () => 1,
  'unready.exe': async life => {
    await whenAborted(life.signal);
    return 0;
  },
  'slow-end.exe': async life => {
    life.ready();
    await whenAborted(life.signal);
    await new Promise(resolve => setImmediate(resolve));
    return 0;
  },
  'stubborn.exe': async life => {
    life.ready();
    return new Promise(() => undefined);
  },
};

export interface ServiceScene {
  services: SimulatedServices;
  processes: SimulatedProcesses;
  clock: ManualClock;
  launched: string[];
  install: (name: string, over?: Partial<ServiceConfig>) => Promise<void>;
  /** `running kubelet, stopped containerd` and so on. */
  states: () => Promise<string>;
}

/** The service manager of a simulated host, with a clock that a test moves. */
export function serviceScene(): ServiceScene {
  const clock = manualClock();
  const processes = new SimulatedProcesses();
  const launched: string[] = [];
  const services = new SimulatedServices({
    records: new Map<string, ServiceRecord>(),
    clock,
    times,
    launch: (command, name) => {
      const program = programs[command];
      if (program === undefined) return undefined;
      launched.push(name);
      return processes.start([command], life => program(life));
    },
    end: pid => processes.find(pid)?.stop(),
  });
  return {
    services,
    processes,
    clock,
    launched,
    install: (name, over) => services.create(name, serviceConfig(over)),
    states: async () => (await services.list()).map(({ name, state }) => `${state} ${name}`).join(', '),
  };
}

/** A service that runs. */
export async function runningService(command = 'idle.exe', over: Partial<ServiceConfig> = {}): Promise<ServiceScene> {
  const made = serviceScene();
  await made.install('kubelet', { command, ...over });
  await made.services.start('kubelet');
  await made.clock.advance(400);
  return made;
}
