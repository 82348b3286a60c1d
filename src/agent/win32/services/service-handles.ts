import type { AppError } from '#base/errors.ts';
import { serviceCalls } from './services-calls.ts';
import { bind, type Koffi, type NativeFunction, openLastError } from '../native.ts';
import { win32, windowsError } from '../win32-errors.ts';

export type Handle = bigint;

/** The calls of the service manager, and handles that are always closed: a service is deleted only after the last one. */
export interface ServiceHandles {
  koffi: Koffi;
  call: Readonly<Record<keyof typeof serviceCalls, NativeFunction>>;
  lastError(): number;
  /** The error of the call that has just failed. */
  failure(call: keyof typeof serviceCalls, service: string): AppError;
}

/** Rights, so that every handle gets only those it needs. */
export const managerRights = { connect: 0x1, create: 0x2, enumerate: 0x4 } as const;
export const serviceRights = {
  queryConfig: 0x1,
  changeConfig: 0x2,
  queryStatus: 0x4,
  start: 0x10,
  stop: 0x20,
  delete: 0x1_0000,
} as const;

export function openServiceHandles(koffi: Koffi): ServiceHandles {
  const lastError = openLastError(koffi);
  return {
    koffi,
    call: bind(koffi, serviceCalls),
    lastError,
    failure: (call, service) => windowsError(call, service, lastError()),
  };
}

export async function withManager<T>(
  handles: ServiceHandles,
  rights: number,
  use: (manager: Handle) => T | Promise<T>,
): Promise<T> {
  const manager = handles.call.OpenSCManagerW(null, null, managerRights.connect | rights) as Handle | null;
  if (manager === null) throw handles.failure('OpenSCManagerW', 'the service manager');
  return closing(handles, manager, use);
}

/** Undefined when there is no such service. */
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

/** Runs something with a handle and closes it, whatever happens. */
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
