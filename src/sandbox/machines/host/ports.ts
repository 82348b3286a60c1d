import type { CertStore, Environment, HostPorts, Route, Routes, ScriptRunner } from '#agent/ports.ts';
import type { Clock } from '#base/clock.ts';
import { sha256 } from '#base/sha256.ts';
import type { SimulatedFiles } from './files.ts';
import { SimulatedLocks } from './locks.ts';
import { SimulatedNetwork } from './network.ts';
import type { SimulatedProcesses } from './processes.ts';
import type { SimulatedServices } from './services.ts';
import type { HostState } from './state.ts';
import { SimulatedSystem } from './system.ts';

export interface HostParts {
  state: HostState;
  files: SimulatedFiles;
  services: SimulatedServices;
  processes: SimulatedProcesses;
  /** Clock of simulated delays. */
  delays: Clock;
  times: { featureMs: number; scriptMs: number };
  busyPorts: () => readonly number[];
  reboot(delaySeconds: number): void;
}

/** The host ports before they are bound to a process, which owns its locks. */
export interface SimulatedPorts extends HostPorts {
  locks: SimulatedLocks;
}

/** The agent's host ports for a simulated host. */
export function hostPorts(parts: HostParts): SimulatedPorts {
  const { state, files, services, processes, delays: clock, times } = parts;
  return {
    services,
    processes,
    files,
    environment: environmentOf(state),
    certificates: certificatesOf(state),
    scripts: scriptsOf(clock, times.scriptMs),
    system: new SimulatedSystem({ ...parts, clock }),
    network: new SimulatedNetwork(state),
    locks: new SimulatedLocks(),
    routes: routesOf(state),
  };
}

function environmentOf(state: HostState): Environment {
  return {
    machine: async () => ({ ...state.variables }),
    setMachine: async (name, value) => {
      state.variables = { ...without(state.variables, name), [name]: value };
    },
    removeMachine: async name => {
      state.variables = without(state.variables, name);
    },
    process: () => state.variablesAtBoot,
  };
}

/** Variable names are case-insensitive. */
function without(variables: Record<string, string>, name: string): Record<string, string> {
  return Object.fromEntries(Object.entries(variables).filter(([key]) => key.toLowerCase() !== name.toLowerCase()));
}

function certificatesOf({ certificates }: HostState): CertStore {
  return {
    list: async () => [...certificates.keys()],
    add: async der => void certificates.set(sha256(der), der),
    remove: async hash => void certificates.delete(hash),
  };
}

function routesOf(state: HostState): Routes {
  const without = (gone: Route) => state.routes.filter(route => !isSameRoute(route, gone));
  return {
    list: async () => structuredClone(state.routes),
    add: async route => void (state.routes = [...without(route), { ...route }]),
    remove: async route => void (state.routes = without(route)),
  };
}

/** As Windows compares them. */
function isSameRoute(one: Route, other: Route): boolean {
  return (['destination', 'gateway', 'interfaceIndex'] as const).every(name => one[name] === other[name]);
}

/** PowerShell scripts take time and have no effect. */
function scriptsOf(clock: Clock, scriptMs: number): ScriptRunner {
  return {
    run: async (_text, signal) => {
      await clock.sleep(scriptMs, signal);
      return '';
    },
  };
}
