import type { HostPorts } from '#agent/ports.ts';
import { win32, windowsError } from '#agent/win32/win32-errors.ts';
import { withCalls } from './process.ts';

type Denial = () => Promise<unknown>;

/** Ports of a user who is not an administrator: mostly read-only. */
export function restrictedPorts<T extends HostPorts>(ports: T): T {
  const services = denied('OpenSCManagerW', 'the service manager');
  const registry = denied('RegSetValueExW', 'the machine variables');
  const store = denied('CertOpenStore', 'LocalMachine\\ROOT');
  const hns = denied('HNSCall', 'the Host Networking Service');
  const route = denied('CreateIpForwardEntry2', 'the routes');
  const dism = denied('dism.exe', 'the Windows features');
  return {
    ...ports,
    services: denyCalls(ports.services, {
      list: services,
      query: services,
      create: services,
      configure: services,
      start: services,
      stop: services,
      remove: services,
    }),
    environment: denyCalls(ports.environment, { setMachine: registry, removeMachine: registry }),
    certificates: denyCalls(ports.certificates, { add: store, remove: store }),
    network: denyCalls(ports.network, {
      networks: hns,
      endpoints: hns,
      createEndpoint: hns,
      attachToHost: hns,
      removeEndpoint: hns,
      removeNetwork: hns,
    }),
    routes: denyCalls(ports.routes, { add: route, remove: route }),
    system: denyCalls(ports.system, {
      containersFeature: dism,
      enableContainers: dism,
      rename: denied('SetComputerNameExW', 'the host name'),
      reboot: denied('InitiateShutdownW', 'the host'),
      isAdministrator: async () => false,
    }),
  };
}

function denied(call: string, object: string): Denial {
  return async () => {
    throw windowsError(call, object, win32.accessDenied);
  };
}

function denyCalls<T extends object>(port: T, denials: Partial<Record<keyof T, Denial>>): T {
  return withCalls(port, (name, call) => (denials as Record<string | symbol, Denial | undefined>)[name] ?? call);
}
