import type { SimulatedHost } from './host/host.ts';
import { foreignFolder } from './host/state.ts';
import { defaultTraits, type Traits } from './traits.ts';

/** Undoes what traits of an ended fault have changed on the disk, in the registry or in the power state of the host. */
export function endEffects(host: SimulatedHost, traits: Partial<Traits>): void {
  for (const name of Object.keys(traits) as (keyof Traits)[]) effects[name]?.(host, traits);
}

type EndEffect = (host: SimulatedHost, traits: Partial<Traits>) => void;

/** All other traits take effect whenever the host uses them. */
const effects: Readonly<Partial<Record<keyof Traits, EndEffect>>> = {
  os: ({ state }) => {
    state.os = defaultTraits.os;
  },
  containersFeature: ({ state }) => {
    if (state.containersFeature === 'disabled') state.containersFeature = 'enabled';
  },
  pendingReboot: ({ state }, { pendingReboot = [] }) => {
    state.pendingReboot = state.pendingReboot.filter(reason => !pendingReboot.includes(reason));
  },
  returnsFromReboot: host => host.switchOn(),
  hostName: ({ state, spec }, { hostName }) => {
    if (state.hostName === hostName) state.hostName = spec.name;
  },
  machineVariables: ({ state }, { machineVariables = {} }) => {
    for (const name of Object.keys(machineVariables)) {
      delete state.variables[name];
      delete state.variablesAtBoot[name];
    }
  },
  foreignServices: (host, { foreignServices = [] }) => {
    for (const name of foreignServices) removeForeign(host, name);
  },
};

/** A service of the operator under this name stays. */
function removeForeign(host: SimulatedHost, name: string): void {
  const record = host.state.services.get(name.toLowerCase());
  if (record?.config.command.startsWith(foreignFolder) === true) host.removeService(name);
}
