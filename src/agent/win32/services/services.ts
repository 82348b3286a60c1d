import { setImmediate } from 'node:timers/promises';
import { type Clock, systemClock } from '#base/clock.ts';
import { attempt } from '#base/errors.ts';
import type { InstalledService, ServiceConfig, ServiceManager, ServiceStatus } from '../../ports.ts';
import { bindChecked, callOnThread, type Koffi, type NativeFunction } from '../native.ts';
import { win32, windowsError } from '../win32-errors.ts';
import type { Registry } from '../files/registry.ts';
import { serviceCalls } from './calls.ts';
import { readConfig, writeExtras } from './service-config.ts';
import { readVariables, writeVariables } from './service-variables.ts';
import {
  closing,
  type Handle,
  managerRights,
  type ServiceHandles,
  serviceRights,
  withManager,
  withService,
} from './service-handles.ts';
import {
  decodeEntries,
  decodeStatus,
  encodeList,
  type ServiceEntry,
  startTypeNumber,
  statusBytes,
} from './service-records.ts';

/** The service control manager of this host. Handles are opened for each call. */
export function openServiceManager(koffi: Koffi, registry: Registry, clock: Stopwatch = systemClock): ServiceManager {
  const handles = bindChecked(koffi, serviceCalls);
  return {
    list: () => list(handles, registry),
    query: name => withService(handles, name, serviceRights.queryStatus, service => readStatus(handles, service, name)),
    create: (name, config) => create(handles, name, config, registry),
    configure: async (name, config) => {
      await configure(handles, name, config);
      if (config.environment !== undefined) writeVariables(registry, name, config.environment);
    },
    start: name => start(handles, name, clock),
    stop: name => stop(handles, name, clock),
    remove: name => remove(handles, name),
  };
}

type Stopwatch = Pick<Clock, 'monotonicMs'>;

const [ownProcess, anyWin32] = [0x10, 0x30];
const anyState = 3;
const noChange = 0xffff_ffff;
const stopControl = 1;
/** The agent sees failures to start itself; Windows need not log them at boot. */
const ignoreErrors = 0;
/** Largest response of the service manager. */
const maxListBytes = 256 * 1024;
const servicesInTurn = 16;
/** A call that failed sooner did not wait for the program of the service. */
const refusedAfterMs = 2000;
/** Recovery by restart requires the right to start. */
const configureRights = serviceRights.changeConfig | serviceRights.start;

async function list(handles: ServiceHandles, registry: Registry): Promise<InstalledService[]> {
  return withManager(handles, managerRights.enumerate, async manager => {
    const services: InstalledService[] = [];
    for (const [index, entry] of enumerate(handles, manager).entries()) {
      // There are hundreds, with several calls each: let other work run in between.
      if (index % servicesInTurn === 0) await setImmediate();
      const handle = handles.call.OpenServiceW(manager, entry.name, serviceRights.queryConfig) as Handle | null;
      // It was deleted meanwhile, or Windows denies access to everyone.
      if (handle === null) continue;
      const read = await closing(handles, handle, service => attempt(() => readConfig(handles, service, entry.name)));
      if (!read.ok || read.value === undefined) continue;
      services.push({ ...entry, config: { ...read.value, environment: readVariables(registry, entry.name) } });
    }
    return services;
  });
}

function enumerate(handles: ServiceHandles, manager: Handle): ServiceEntry[] {
  const bytes = Buffer.alloc(maxListBytes);
  const found: ServiceEntry[] = [];
  const resume = [0];
  for (;;) {
    const returned = [0];
    const more = !handles.call.EnumServicesStatusExW(
      manager,
      0,
      anyWin32,
      anyState,
      bytes,
      bytes.length,
      [0],
      returned,
      resume,
      null,
    );
    if (more && handles.lastError() !== win32.moreData) throw handles.failure('EnumServicesStatusExW', 'all services');
    found.push(...decodeEntries(bytes, handles.koffi.address(bytes), returned[0] ?? 0));
    // Without progress the loop would not end.
    if (!more || returned[0] === 0) return found;
  }
}

function readStatus(handles: ServiceHandles, service: Handle, name: string): ServiceStatus {
  const bytes = Buffer.alloc(statusBytes);
  handles.check('QueryServiceStatusEx', `service ${name}`, service, 0, bytes, bytes.length, [0]);
  return decodeStatus(bytes);
}

async function create(handles: ServiceHandles, name: string, config: ServiceConfig, registry: Registry): Promise<void> {
  const { command, dependencies, startType } = config;
  const list = dependencies.length === 0 ? null : encodeList(dependencies);
  await withManager(handles, managerRights.create, async manager => {
    const handle = handles.check(
      'CreateServiceW',
      `service ${name}`,
      manager,
      name,
      null,
      configureRights | serviceRights.delete,
      ownProcess,
      startTypeNumber(startType),
      ignoreErrors,
      command,
      null,
      null,
      list,
      null,
      null,
    ) as Handle;
    await closing(handles, handle, service => {
      try {
        writeExtras(handles, service, name, config);
        if (config.environment !== undefined) writeVariables(registry, name, config.environment);
      } catch (error) {
        // Without its description the service would not be recognized as managed by WMCO.
        handles.call.DeleteService(service);
        throw error;
      }
    });
  });
}

async function configure(handles: ServiceHandles, name: string, config: ServiceConfig): Promise<void> {
  const { command, dependencies, startType } = config;
  await existing(handles, name, configureRights, service => {
    handles.check(
      'ChangeServiceConfigW',
      `service ${name}`,
      service,
      noChange,
      startTypeNumber(startType),
      noChange,
      command,
      null,
      null,
      encodeList(dependencies),
      null,
      null,
      null,
    );
    writeExtras(handles, service, name, config);
  });
}

async function start(handles: ServiceHandles, name: string, clock: Stopwatch): Promise<void> {
  await existing(handles, name, serviceRights.start, async service => {
    const number = await withoutBlocking(handles, handles.call.StartServiceW, [service, 0, null], clock);
    if (number !== 0 && number !== win32.serviceAlreadyRunning) {
      throw windowsError('StartServiceW', `service ${name}`, number);
    }
  });
}

async function stop(handles: ServiceHandles, name: string, clock: Stopwatch): Promise<void> {
  await existing(handles, name, serviceRights.stop, async service => {
    const status = Buffer.alloc(statusBytes);
    const number = await withoutBlocking(handles, handles.call.ControlService, [service, stopControl, status], clock);
    const fine: number[] = [0, win32.serviceNotActive, win32.serviceTakesNoControl];
    if (!fine.includes(number)) throw windowsError('ControlService', `service ${name}`, number);
  });
}

async function remove(handles: ServiceHandles, name: string): Promise<void> {
  await withService(handles, name, serviceRights.delete, service => {
    if (handles.call.DeleteService(service)) return;
    if (handles.lastError() !== win32.serviceMarkedForDeletion)
      throw handles.failure('DeleteService', `service ${name}`);
  });
}

async function existing(
  handles: ServiceHandles,
  name: string,
  rights: number,
  use: (service: Handle) => void | Promise<void>,
): Promise<void> {
  const found = await withService(handles, name, rights, async service => {
    await use(service);
    return true;
  });
  if (found === undefined) throw windowsError('OpenServiceW', `service ${name}`, win32.serviceMissing);
}

/**
 * Gives 0 or the error number. These calls return only when the program of the service has answered, for which Windows
 * waits 30 s; the agent must not block that long. The error number stays on the thread of the call, so a call that failed
 * at once is repeated here; any other has timed out.
 */
async function withoutBlocking(
  handles: ServiceHandles,
  call: NativeFunction,
  args: unknown[],
  clock: Stopwatch,
): Promise<number> {
  const began = clock.monotonicMs();
  if (await callOnThread(call, ...args)) return 0;
  if (clock.monotonicMs() - began > refusedAfterMs) return win32.serviceDidNotAnswer;
  return call(...args) ? 0 : handles.lastError();
}
