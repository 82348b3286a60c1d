import type { Bound } from '../native.ts';
import { win32 } from '../win32-errors.ts';
import type { serviceCalls } from './calls.ts';

export type Handle = bigint;

/** The calls of the service manager. Handles are always closed: a deleted service is gone only after the last one. */
export type ServiceHandles = Bound<keyof typeof serviceCalls>;

/** Each handle is opened with only the rights it needs. */
export const managerRights = { connect: 0x1, create: 0x2, enumerate: 0x4 } as const;
export const serviceRights = {
  queryConfig: 0x1,
  changeConfig: 0x2,
  queryStatus: 0x4,
  start: 0x10,
  stop: 0x20,
  delete: 0x1_0000,
} as const;

export async function withManager<T>(
  handles: ServiceHandles,
  rights: number,
  use: (manager: Handle) => T | Promise<T>,
): Promise<T> {
  const manager = handles.check('OpenSCManagerW', 'the service manager', null, null, managerRights.connect | rights);
  return closing(handles, manager as Handle, use);
}

/** Undefined when the service does not exist. */
export async function withService<T>(
  handles: ServiceHandles,
  name: string,
  rights: number,
  use: (service: Handle) => T | Promise<T>,
): Promise<T | undefined> {
  return withManager(handles, 0, async manager => {
    const service = handles.call.OpenServiceW(manager, name, rights) as Handle | null;
    if (service !== null) return closing(handles, service, use);
    if (handles.lastError() === win32.serviceMissing) return undefined;
    throw handles.failure('OpenServiceW', `service ${name}`);
  });
}

export async function closing<T>(
  handles: ServiceHandles,
  handle: Handle,
  use: (handle: Handle) => T | Promise<T>,
): Promise<T> {
  try {
    return await use(handle);
  } finally {
    handles.call.CloseServiceHandle(handle);
  }
}
